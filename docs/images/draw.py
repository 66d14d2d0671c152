"""Draw the pictures of the pages "How many clusters?" and "Mixed tables".

    python3 docs/images/draw.py FOLDER

Each picture is a function that returns a figure; the file has its name. The page fits the same
tables, and a test compares the numbers of clusters that it names.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np

from dpmlite import MAPDPM, Table
from dpmlite.datasets import planted_gaussians
from dpmlite.estimators.empirical_bayes.spread_ties import spread_ties
from dpmlite.plotting import COLOURS, plot_cluster_tree, plot_profiles

WIDTH, HEIGHT = 7.2, 2.9  # inches
DPI = 80
GREY = "0.55"


def fit(X, **parameters):
    """The model, with the seed of all pictures."""
    return MAPDPM(random_state=0, **parameters).fit(X)


def fit_normals(X, **parameters):
    """Independent normal components, which are not joined."""
    return fit(X, component="normal-gamma", join=False, **parameters)


def panels(*titles):
    """A figure with a panel for each title."""
    figure, axes = plt.subplots(1, len(titles), figsize=(WIDTH, HEIGHT), layout="constrained")
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title, fontsize=10)
        axis.set(xticks=[], yticks=[])
    return figure, axes


def scatter(axis, X, labels, size=3.0):
    """Rows in the colours of their labels."""
    colours = np.array(COLOURS)[labels % len(COLOURS)]
    axis.scatter(X[:, 0], X[:, 1], s=size, c=colours, linewidths=0)


def narrow_clusters():
    """Twenty narrow clusters, some near to each other."""
    return planted_gaussians(3000, 2, 20, separation=30.0, random_state=5)[0]


def tilted_clusters():
    """Two clusters whose columns are correlated."""
    rng = np.random.default_rng(0)
    covariance = [[2.0, 1.9], [1.9, 2.0]]
    means = ([0.0, 0.0], [2.0, -2.0])
    return np.concatenate([rng.multivariate_normal(mean, covariance, 300) for mean in means])


def skewed_rows(n_rows):
    """One lognormal cluster."""
    return np.random.default_rng(1).lognormal(size=(n_rows, 2))


def moons():
    """Two half circles that reach into each other."""
    rng = np.random.default_rng(4)
    angle, upper = rng.uniform(0.0, np.pi, 1500), np.arange(1500) < 750
    x = np.where(upper, np.cos(angle), 1.0 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return np.column_stack([x, y]) + rng.normal(scale=0.08, size=(1500, 2))


def two_normals(distance):
    """A column of two equal normals, `distance` standard deviations apart."""
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(0.0, 1.0, (1000, 1)), rng.normal(distance, 1.0, (1000, 1))])


def prior():
    """Narrow clusters under the paper's prior and under the default."""
    X = narrow_clusters()
    paper, model = fit(X, prior="paper"), fit(X)
    figure, axes = panels(
        f'prior="paper": {paper.n_clusters_} clusters', f"default: {model.n_clusters_} clusters"
    )
    scatter(axes[0], X, paper.labels_)
    scatter(axes[1], X, model.labels_)
    return figure


def family():
    """Tilted clusters of independent columns, and with full covariance."""
    X = tilted_clusters()
    apart = fit(X, component="normal-gamma", join=False)
    model = fit(X)
    figure, axes = panels(
        f"columns apart: {apart.n_clusters_} components", f"default: {model.n_clusters_} clusters"
    )
    scatter(axes[0], X, apart.labels_)
    scatter(axes[1], X, model.labels_)
    return figure


def robustness():
    """Components of one skewed cluster, by the number of rows."""
    sizes = (300, 1000, 3000, 10_000, 30_000)
    figure, axes = panels("components of skewed rows, without joining", "3,000 of these rows")
    for name, value, colour in (
        ("robustness=None", None, COLOURS[0]),
        ("default", "auto", COLOURS[1]),
    ):
        counts = [fit_normals(skewed_rows(n), robustness=value).n_clusters_ for n in sizes]
        axes[0].plot(sizes, counts, "o-", color=colour, label=name)
    axes[0].set(xscale="log", xlabel="rows", ylim=(0, None))
    axes[0].set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize=8)
    axes[0].minorticks_off()
    axes[0].yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
    axes[0].legend(frameon=False, fontsize=9)
    X = skewed_rows(3000)
    scatter(axes[1], X, fit_normals(X).labels_, size=2.0)
    axes[1].set(xlim=(0, 8), ylim=(0, 8))
    return figure


def ties():
    """Equal values, and what they are spread to."""
    X = np.random.default_rng(2).integers(1, 13, (1000, 2)).astype(float)
    figure, axes = panels("1,000 pairs of marks from 1 to 12", "what the default fits")
    axes[0].scatter(*X.T, s=12, color=COLOURS[1], linewidths=0)
    axes[1].scatter(*spread_ties(X).T, s=3, color=COLOURS[1], linewidths=0)
    for axis in axes:
        axis.set(xticks=range(1, 13), yticks=range(1, 13), xlim=(0.3, 12.7), ylim=(0.3, 12.7))
    return figure


def tree():
    """Components, clusters, and the tree between them."""
    X = moons()
    model = fit(X)
    n_components = len(model.statistics_)
    figure, axes = panels(
        f"{n_components} components", f"{model.n_clusters_} clusters", "the tree: valleys in nats"
    )
    scatter(axes[0], X, model.component_labels_)
    scatter(axes[1], X, model.labels_)
    plot_cluster_tree(model, ax=axes[2])
    return figure


def outliers():
    """Scores of rows, and which are labelled -1."""
    rng = np.random.default_rng(7)
    X = np.concatenate([rng.normal(c, 1.0, (300, 2)) for c in (0.0, 8.0)])
    X = np.concatenate([X, [[8.0, -1.0], [-1.0, 9.0], [4.0, 12.0]]])
    model = fit(X, outlier_level=0.001)
    score = model.outlier_score(X)
    figure, axes = panels("outlier score", f"outlier_level=0.001: {sum(score < 0.001)} rows are -1")
    points = axes[0].scatter(
        *X.T, s=6, c=np.log10(np.maximum(score, 1e-4)), cmap="viridis_r", vmin=-4, vmax=0
    )
    bar = figure.colorbar(points, ax=axes[0], ticks=[-4, -3, -2, -1, 0])
    bar.ax.set_yticklabels(["0.0001", "0.001", "0.01", "0.1", "1"], fontsize=8)
    found = model.labels_ >= 0
    scatter(axes[1], X[found], model.labels_[found], size=6)
    axes[1].scatter(*X[~found].T, marker="x", s=30, color="black", linewidths=1.2)
    return figure


def overlap():
    """Two normals at three distances, and how many clusters are found."""
    distances = (2.0, 3.0, 4.0)
    rows = [two_normals(distance) for distance in distances]
    counts = [fit(X).n_clusters_ for X in rows]
    figure, axes = panels(
        *(
            f"{distance:g} deviations: {n} cluster{'s' if n > 1 else ''}"
            for distance, n in zip(distances, counts, strict=True)
        )
    )
    at = np.linspace(-4.0, 8.0, 300)
    for axis, distance, X in zip(axes, distances, rows, strict=True):
        axis.hist(X[:, 0], bins=40, density=True, color="0.85")
        both = np.exp(-0.5 * at**2), np.exp(-0.5 * (at - distance) ** 2)
        for part, colour in zip(both, COLOURS, strict=False):
            axis.plot(at, part / np.sqrt(8.0 * np.pi), color=colour)
    return figure


def profiles():
    """Columns and clusters of a mixed table."""
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=600)
    columns = {
        "age": rng.normal([30.0, 45.0, 60.0], 6.0, size=(600, 3))[range(600), kind],
        "income": np.exp(rng.normal(7.0 + kind, 0.4)),
        "city": rng.choice(["Oslo", "Paris", "Rome"], 600),
        "plan": np.array(["free", "team", "firm"])[np.where(rng.random(600) < 0.9, kind, 0)],
        "visits": rng.poisson(np.array([2, 20, 6])[kind]),
    }
    return plot_profiles(fit(Table(columns)))


PICTURES = (prior, family, robustness, ties, tree, outliers, overlap, profiles)


def main():
    """Write all pictures to the folder that is given."""
    folder = Path(sys.argv[1])
    for picture in PICTURES:
        picture().savefig(folder / f"clusters-{picture.__name__}.png", dpi=DPI)


if __name__ == "__main__":
    main()
