"""Pages of the repository that are outside docs/, and links that work on GitHub and on the site.

Links in Markdown name files of the repository, as GitHub follows them. Files that the site has in
another place, or has made, are named there instead; of links to sources only the text remains.
"""

import os
import re
from pathlib import Path

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
GENERATED = DOCS / "generated"

OUTSIDE = ("CONTRIBUTING.md", "CHANGELOG.md", "micropython/README.md", "tests/vectors/README.md")
PLACES = {ROOT / name: GENERATED / "project" / name for name in OUTSIDE} | {
    ROOT / "README.md": DOCS / "index.md",
    DOCS / "gallery" / "README.rst": GENERATED / "gallery" / "index.rst",
}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")


def shown_as(path):
    """Where the site has a file of the repository."""
    if path.parent == DOCS / "gallery" and path.suffix == ".py":
        return GENERATED / "gallery" / f"{path.stem}.rst"
    return PLACES.get(path, path)


def for_site(text, source, place):
    """The text of the page `source`, with links as they must be where it is shown, `place`."""

    def rewritten(link):
        words, target = link.groups()
        if "://" in target or target.startswith("#"):
            return link[0]
        file, hash_, anchor = target.partition("#")
        shown = shown_as((source.parent / file).resolve())
        if not (shown.is_relative_to(DOCS) and shown.suffix in {".md", ".rst"}):
            return words
        if shown == DOCS / "index.md":
            hash_ = anchor = ""  # the front page stands for the README, and has other headings
        relative = Path(os.path.relpath(shown, place.parent)).as_posix()
        return f"[{words}]({relative}{hash_}{anchor})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(rewritten, part) for part in parts)


def copy_pages(app, config):
    """Write the pages that are outside docs/ to where Sphinx reads."""
    for name in OUTSIDE:
        source, place = ROOT / name, PLACES[ROOT / name]
        place.parent.mkdir(parents=True, exist_ok=True)
        text = for_site(source.read_text(encoding="utf-8"), source, place)
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")


def rewrite_links(app, docname, content):
    """Links of a Markdown page of docs/ itself."""
    path = Path(app.env.doc2path(docname)).resolve()
    if path.suffix == ".md" and not path.is_relative_to(GENERATED):
        content[0] = for_site(content[0], path, path)


def setup(app):
    """Copy before Sphinx looks for pages, rewrite when it reads one."""
    app.connect("config-inited", copy_pages)
    app.connect("source-read", rewrite_links, priority=400)
    return {"parallel_read_safe": True}
