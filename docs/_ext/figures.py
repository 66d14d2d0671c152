"""The pictures of the gallery: every figure that an example makes, by pyplot or without it."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

DPI = 120


def new_figures(block, block_vars, gallery_conf):
    """Save the figures that a block has made; return the text that shows them."""
    names = block_vars["example_globals"]
    drawn = names.setdefault("_drawn", [])
    opened = [plt.figure(number) for number in plt.get_fignums()]
    named = [value for value in names.values() if isinstance(value, Figure)]
    text = ""
    for figure in dict.fromkeys(opened + named):
        if figure not in drawn:
            path = next(block_vars["image_path_iterator"])
            figure.savefig(path, dpi=DPI)
            text += figure_rst([path], gallery_conf["src_dir"], described(figure))
    drawn += opened + named
    plt.close("all")
    return text


def described(figure):
    """The titles of a figure, or what its axes are called, for those who cannot see it."""
    titles = [axes.get_title(loc) for axes in figure.axes for loc in ("left", "center", "right")]
    labels = [text for axes in figure.axes for text in (axes.get_ylabel(), axes.get_xlabel())]
    return "; ".join(filter(None, titles)) or " over ".join(filter(None, labels))
