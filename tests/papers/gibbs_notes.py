"""The figures of "Notes on Gibbs sampling for Dirichlet process mixtures", and the galaxies.

    DPMLITE_DATA=FOLDER python3 tests/papers/gibbs_notes.py PICTURES

prints what they show and draws them into a folder. Figure 2 and the galaxies need quakes.csv and
galaxies.csv, see real_tables.py.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from real_tables import table_path

from dpmlite import CollapsedGibbs
from dpmlite.datasets import dpm_mixture
from dpmlite.plotting import plot_density

# Figure 2: f(x | theta) = N(theta, 30^2), theta ~ DP(5, N(300, 70^2)), 70 steps.
QUAKES = {"m0": 300.0, "sigma2": 30.0**2, "tau2": 70.0**2}
QUAKES_ALPHA = 5.0
STEPS = 70


@dataclass(frozen=True)
class Estimate:
    """A density estimate on a grid, and the sampler behind it."""

    values: np.ndarray
    grid: np.ndarray
    density: np.ndarray
    model: CollapsedGibbs

    def modes(self):
        """Where the density has its maxima."""
        inner = self.density[1:-1]
        up, down = inner > self.density[:-2], inner > self.density[2:]
        return self.grid[1:-1][up & down]


def column(name, j):
    """One column of a table of DPMLITE_DATA."""
    return np.loadtxt(table_path(name), delimiter=",", skiprows=1, ndmin=2)[:, j]


def estimate(values, low, high, **parameters):
    """Fit the sampler to a column, and evaluate its density on a grid."""
    model = CollapsedGibbs(random_state=0, **parameters).fit(values[:, None])
    grid = np.linspace(low, high, 801)
    return Estimate(values, grid, np.exp(model.score_samples(grid[:, None])), model)


def quakes(n_samples, burn_in):
    """Depths of the Fiji earthquakes under the model of Figure 2, from a random start."""
    return estimate(
        column("quakes.csv", 2),
        0.0,
        750.0,
        component="normal-known-variance",
        alpha=QUAKES_ALPHA,
        prior=QUAKES,
        init="random",
        split_merge=None,
        n_samples=n_samples,
        burn_in=burn_in,
    )


def galaxies():
    """Velocities of 82 galaxies in 1000 km/s, both means and precisions of clusters unknown."""
    return estimate(
        column("galaxies.csv", 0) / 1000.0,
        5.0,
        40.0,
        alpha=1.0,
        prior={"m0": 21.0, "c0": 0.02, "a0": 2.0, "b0": 1.0},
        n_samples=2000,
    )


def cluster_curves(found):
    """n_k / (n + alpha) N(x; mean_k, tau_k^2 + sigma^2): section 2 of the notes, by hand."""
    labels = found.model.labels_samples_[-1]
    curves = []
    for k in np.unique(labels):
        x = found.values[labels == k]
        share = 1.0 / (1.0 + QUAKES["sigma2"] / len(x) / QUAKES["tau2"])
        mean = share * x.mean() + (1.0 - share) * QUAKES["m0"]
        variance = share * QUAKES["sigma2"] / len(x) + QUAKES["sigma2"]
        weight = len(x) / (len(labels) + QUAKES_ALPHA)
        curves.append(weight * normal(found.grid, mean, variance))
    return curves


def new_cluster_curve(found):
    """The new cluster: alpha / (n + alpha) N(x; mu_0, tau_0^2 + sigma^2)."""
    weight = QUAKES_ALPHA / (len(found.values) + QUAKES_ALPHA)
    return weight * normal(found.grid, QUAKES["m0"], QUAKES["tau2"] + QUAKES["sigma2"])


def normal(x, mean, variance):
    return np.exp(-0.5 * (x - mean) ** 2 / variance) / np.sqrt(2.0 * np.pi * variance)


def draw_figure_1(figure):
    """Random densities, and 500 rows from each."""
    for i, axes in enumerate(figure.subplots(2, 2).flat):
        alpha = (0.5, 2.0, 10.0, 50.0)[i]
        prior = {"m0": 0.0, "sigma2": 0.25, "tau2": 4.0}
        mixture = dpm_mixture(
            1, component="normal-known-variance", alpha=alpha, prior=prior, random_state=i
        )
        X, labels = mixture.sample(500, random_state=i)
        grid = np.linspace(-8.0, 8.0, 400)
        axes.hist(X[:, 0], bins=60, density=True, color="0.85")
        axes.plot(grid, np.exp(mixture.score_samples(grid[:, None])), color="#0072B2")
        axes.plot(X[:, 0], np.zeros(500), "|", color="0.4", markersize=4)
        axes.set_title(f"alpha = {alpha:g}: {len(np.unique(labels))} clusters in 500", loc="left")


def draw_figure_2(figure):
    """One density sampled from the posterior, its clusters, and the mean of many."""
    one, many = quakes(1, STEPS - 1), quakes(500, 500)
    left, right = figure.subplots(1, 2, sharey=True)
    plot_density(one.model, one.values[:, None], name="depth in km", ax=left)
    for curve in cluster_curves(one):
        left.plot(one.grid, curve, linewidth=0.8)
    n_clusters = one.model.n_clusters_samples_[0]
    left.set_title(f"one sample after {STEPS} steps: {n_clusters} clusters", loc="left")
    plot_density(many.model, many.values[:, None], name="depth in km", ax=right)
    mean = many.model.n_clusters_samples_.mean()
    right.set_title(f"mean of 500 samples: {mean:.1f} clusters on average", loc="left")


def draw_galaxies(figure):
    """The density of velocities, and the posterior of the number of clusters."""
    found = galaxies()
    left, right = figure.subplots(1, 2)
    plot_density(found.model, found.values[:, None], name="velocity in 1000 km/s", ax=left)
    left.set_title(f"{len(found.modes())} modes", loc="left")
    proba = found.model.n_clusters_proba_
    right.bar(range(len(proba)), proba, color="#0072B2")
    right.xaxis.get_major_locator().set_params(integer=True)
    right.set(xlabel="clusters", ylabel="posterior probability")


FIGURES = {
    "notes-figure-1": draw_figure_1,
    "notes-figure-2": draw_figure_2,
    "galaxies": draw_galaxies,
}


def main(folder):
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        figure = Figure(figsize=(9.0, 4.5), dpi=120, layout="constrained")
        draw(figure)
        figure.savefig(folder / f"{name}.png")
        print(f"drew {folder / name}.png")
        for axes in figure.axes:
            print("   ", axes.get_title(loc="left") or axes.get_xlabel())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
