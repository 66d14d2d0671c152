"""The page that shows what the experiments printed and drew, each under its paper."""

from dataclasses import dataclass, field
from html import escape

STYLE = """\
body { font: 16px/1.5 sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; background: #f5f5f5; padding: 0.8rem; font-size: 13px; line-height: 1.35; }
img { max-width: 100%; }
figure { margin: 1.5rem 0; }
.failed { color: #a00; }
"""


@dataclass(frozen=True)
class Experiment:
    """A script, what it repeats of its paper, and its pictures.

    Attributes
    ----------
    script : str
        Name of the script without .py. It takes the folder as argument, if `takes_folder`.
    title : str
    pictures : dict of str to str
        Of each picture, by its name without .png, what it shows and what the paper says of it.
    """

    script: str
    title: str
    pictures: dict = field(default_factory=dict)
    takes_folder: bool = True


@dataclass(frozen=True)
class Paper:
    """Authors, title and experiments."""

    authors: str
    title: str
    experiments: list


def page(papers, folder):
    """HTML of all experiments whose output is in a folder: NAME.txt, NAME.error and pictures."""
    parts = [section(paper, folder) for paper in papers]
    head = f"<meta charset='utf-8'><title>Papers, repeated</title><style>{STYLE}</style>"
    body = "<h1>Papers, repeated</h1>\n" + "\n".join(part for part in parts if part)
    return f"<!doctype html>\n<html lang='en'><head>{head}</head>\n<body>\n{body}\n</body></html>\n"


def section(paper, folder):
    """HTML of a paper; empty if none of its experiments was run."""
    shown = [show(experiment, folder) for experiment in paper.experiments]
    if not any(shown):
        return ""
    title = f"<h2>{escape(paper.authors)}: <em>{escape(paper.title)}</em></h2>"
    return "\n".join([title, *(part for part in shown if part)])


def show(experiment, folder):
    """HTML of an experiment: what it printed, its pictures, and why it failed if it did."""
    text = folder / f"{experiment.script}.txt"
    if not text.exists():
        return ""
    parts = [f"<h3>{escape(experiment.title)}</h3>", f"<p><code>{experiment.script}.py</code></p>"]
    error = folder / f"{experiment.script}.error"
    if error.exists():
        parts.append(f"<p class='failed'>It ended early: {escape(error.read_text('utf-8'))}</p>")
    for name, caption in experiment.pictures.items():
        if (folder / f"{name}.png").exists():
            image = f"<img src='{name}.png' alt='{name}'>"
            parts.append(f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>")
    parts.append(f"<pre>{escape(text.read_text('utf-8'))}</pre>")
    return "\n".join(parts)
