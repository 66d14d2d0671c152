"""What tells clusters apart: the information of each column, and typical values in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Floats, Indices
    from dpmlite.estimators.priors.base import Family, Parameters, Totals

# Rows that are drawn from a cluster to measure how much a column tells of it.
N_DRAWN = 1000

# Columns that tell less, in nats a row, do not describe a cluster: twice that is common by chance.
MIN_NATS = 0.05

# Numbers from here on are written with an exponent.
MAX_PLAIN = 1e9


@dataclass(frozen=True)
class Report:
    """A small table for people: printed as text, and as HTML in notebooks.

    Attributes
    ----------
    title : str
    header : list of str
    rows : list of list of str
    """

    title: str
    header: list[str]
    rows: list[list[str]]

    def __str__(self) -> str:
        lines = [self.header, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = (
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        return "\n".join([self.title, "", *aligned])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape  # only notebooks need it

        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        caption = f"<caption>{escape(self.title)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def separations(
    family: Family,
    theta: Parameters,
    weights: Floats,
    clusters: Indices,
    k: int,
    totals: Totals = None,
) -> Floats:
    """Nats by which each coded column separates cluster `k` from the rest, shape (D,).

    It is the mean, over rows of the cluster, of log p(x_d | cluster) - log p(x_d | the others): the
    Kullback-Leibler divergence of a column's two densities.

    Parameters
    ----------
    family : Family
    theta : dict
        Expected parameters of C components.
    weights : ndarray, shape (C,)
        Weights of the components.
    clusters : ndarray of int, shape (C,)
        The cluster of each component.
    k : int
    totals : ndarray, shape (C,), optional
        Total or exposure of the rows of each component.
    """
    rng = np.random.default_rng(0)
    inside = clusters == k
    labels = rng.choice(
        len(weights), N_DRAWN, p=np.where(inside, weights, 0) / weights[inside].sum()
    )
    rows = family.draw_rows(theta, labels, None if totals is None else totals[labels], rng)
    here = mixture_log_density(family, rows, theta, np.where(inside, weights, 0.0))
    if inside.all():
        return np.zeros(here.shape[1])
    rest = mixture_log_density(family, rows, theta, np.where(inside, 0.0, weights))
    return np.asarray((here - rest).mean(axis=0))


def mixture_log_density(family: Family, rows: Floats, theta: Parameters, weights: Floats) -> Floats:
    """Log densities of each coded column under a mixture of components, shape (N, D)."""
    used = np.flatnonzero(weights)
    theta = {key: value[used] for key, value in theta.items()}
    logs = np.log(weights[used] / weights[used].sum())
    with np.errstate(divide="ignore"):
        terms = family.column_log_density(rows, theta) + logs[:, None]
        most = np.maximum(terms.max(axis=1, keepdims=True), np.finfo(float).min)
        return np.asarray(most[:, 0] + np.log(np.exp(terms - most).sum(axis=1)))


def number(value: float) -> str:
    """A number for people: four digits, and no exponent below a thousand millions."""
    if np.isnan(value):
        return "-"
    text = f"{value:.4g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < MAX_PLAIN else text


def with_spread(centre: float, sign: str, spread: float) -> str:
    """A centre and the spread about it, as "1.5 ± 0.2"; only "-" if there is no value."""
    return "-" if np.isnan(centre) else f"{number(centre)} {sign} {number(spread)}"


def counted(n: float, noun: str) -> str:
    """A number of things, such as "1 row" and "2 rows"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def levels_in_words(levels: Any, probabilities: Floats, most: int = 3) -> str:
    """The most probable levels with their probabilities."""
    order = np.argsort(-probabilities, kind="stable")[:most]
    likely = [i for i in order if probabilities[i] >= 0.1] or [int(order[0])]
    return ", ".join(f"{_level(levels[i])} {probabilities[i]:.0%}" for i in likely)


def zero_or_in_words(p_zero: float, otherwise: str) -> str:
    """The probability of 0, and what is typical of other cells."""
    return f"0 {p_zero:.0%}, else {otherwise}" if p_zero >= 0.005 else otherwise


def _level(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float | np.floating) else str(level)
