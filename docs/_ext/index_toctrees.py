"""The navigation of the site is the list of pages on its front page.

Each section of index.md lists links. A hidden toctree with the section's heading follows each list,
so that GitHub shows a plain page and there is one table of contents.
"""

import re

SECTION = re.compile(r"^## (?P<heading>[^\n]+)$(?P<body>.*?)(?=^## |\Z)", re.M | re.S)
ENTRY = re.compile(r"^- \[[^\]]*\]\(([^)#\s]+)\.(?:md|rst)\)", re.M)


def add_toctrees(app, docname, content):
    """Append a hidden toctree to each section of the front page that lists pages."""
    if docname == app.config.root_doc:
        content[0] = SECTION.sub(with_toctree, content[0])


def with_toctree(section):
    """A section, followed by the toctree of what it lists."""
    entries = ENTRY.findall(section["body"])
    if not entries:
        return section[0]
    lines = [":hidden:", f":caption: {section['heading']}", "", *entries]
    return section[0].rstrip() + "\n\n```{toctree}\n" + "\n".join(lines) + "\n```\n\n"


def setup(app):
    """Run once links are those of the site."""
    app.connect("source-read", add_toctrees, priority=500)
    return {"parallel_read_safe": True}
