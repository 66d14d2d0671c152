"""Figures of several panels of curves, with one legend, in which a curve looks alike in all."""

from itertools import cycle

import numpy as np

from dpmlite.plotting import COLOURS

LINE_STYLES = ("-", "--", ":", "-.")
N_COLUMNS = 3


def styles_of(panels):
    """A colour and a line for each curve of any panel, in the order in which they appear."""
    names = dict.fromkeys(
        column for found in panels.values() for values in found.values() for column in values
    )
    looks = [{"color": c, "linestyle": line} for line in LINE_STYLES for c in COLOURS]
    return dict(zip(names, cycle(looks)))


def draw_panels(panels, path, styles=None, less=lambda _: None):
    """Draw {title: {x: {curve: y}}}, a panel for each title, to a file.

    `styles` has the look of each curve; those that it lacks are not drawn. `less` says, of the
    curves of a panel, which one is subtracted from all, if any.
    """
    from matplotlib.figure import Figure

    styles = styles_of(panels) if styles is None else styles
    n_rows = -(-len(panels) // N_COLUMNS)
    figure = Figure(figsize=(12.0, 3.2 * n_rows + 0.8), dpi=110, layout="constrained")
    flat = figure.subplots(n_rows, N_COLUMNS, squeeze=False).ravel()
    for axes in flat[len(panels) :]:
        axes.set_axis_off()
    lines = {}
    for axes, (title, found) in zip(flat[: len(panels)], panels.items(), strict=True):
        base = less(list(next(iter(found.values()))))
        lines |= draw_curves(axes, found, styles, base)
        axes.set_title(title if base is None else f"{title}, less {base}", loc="left")
        axes.set_xlabel("rows")
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=6, frameon=False)
    figure.savefig(path)


def draw_curves(axes, found, styles, less):
    """The curves of one panel; returns the line of each."""
    lines = {}
    for column, look in styles.items():
        if column in next(iter(found.values())):
            values = np.array([values[column] for values in found.values()])
            if less is not None:
                values = values - [values[less] for values in found.values()]
            (lines[column],) = axes.plot(list(found), values, marker=".", **look)
    return lines
