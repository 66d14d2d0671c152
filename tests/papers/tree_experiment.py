"""Figures 2 and 5 to 8 of Xu, Heller & Ghahramani (2009), section 6.

    DPMLITE_DATA=FOLDER python3 tests/papers/tree_experiment.py PICTURES

prints tables and draws the figures, and the dendrogram of iris, into a folder; tree_tables.py says
which tables it needs and what the paper leaves open. alpha is 1.

NOTE says which priors there are. A method is a row of METHODS: others are compared by adding
theirs.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from left_out import real_density, synthetic_density
from measures import markdown, table
from panels import draw_panels
from tree_tables import BINARY, REAL, SET_PRIOR, SETS, SIZES, draw_set, sample
from variational_experiment import VARIATIONAL

from dpmlite import MAPDPM, BayesianHierarchicalClustering, log_evidence_exact
from dpmlite.plotting import COLOURS, plot_dendrogram

NOTE = """\
The paper does not give its priors. The synthetic sets have that of tree_tables.py. Each real table
has two, which all methods share: the default of `MAPDPM` ("wide": a cluster is expected to be as
wide as the table), and the same with scales for which the lower bound of BHC is greatest on the
largest sample ("chosen"), as ``prior="nll"`` finds them. All figures are drawn with the latter."""

N_SYNTHETIC, N_REAL, N_STARTS, N_VARIATIONAL_STARTS = 20, 5, 10, 3
ALL_ROWS = 10**9


@dataclass(frozen=True)
class Method:
    """How to fit a model: `make(component, prior, random_state)`; which attribute is its bound."""

    make: Callable
    bound: str
    n_starts: int = 1

    def fit(self, X, component, prior):
        """A model for each start."""
        return [
            self.make(component=component, prior=prior, random_state=s).fit(X)
            for s in range(self.n_starts)
        ]

    def bounds(self, X, component, prior):
        return [getattr(model, self.bound) for model in self.fit(X, component, prior)]


METHODS = {
    "BHC": Method(partial(BayesianHierarchicalClustering, approximate=None), "log_evidence_bound_"),
    "alternative trees": Method(
        partial(BayesianHierarchicalClustering, approximate=None, alternative_trees=True),
        "log_evidence_bound_alternative_",
    ),
    "Bayes k-means BHC": Method(
        partial(BayesianHierarchicalClustering, approximate="bayes-kmeans"),
        "log_evidence_bound_",
        N_STARTS,
    ),
    "trees in MAP clusters": Method(
        partial(BayesianHierarchicalClustering, approximate="map-dpm"),
        "log_evidence_bound_",
    ),
    **{
        name: Method(make, bound, N_VARIATIONAL_STARTS)
        for name, (make, bound, _) in VARIATIONAL.items()
        if bound == "log_evidence_bound_"  # the other one is no bound for the process
    },
}


@cache
def priors(name):
    """The wide and the chosen prior of a real table, whatever its sample."""
    X = sample(name, max(REAL[name]), 0)
    wide, chosen = (
        BayesianHierarchicalClustering(approximate=None, prior=prior, random_state=0).fit(X).prior_
        for prior in (None, "nll")
    )
    return {"wide": wide, "chosen": chosen}


def synthetic_bounds(name, size):
    """{method: mean bound}, of one set of fixed rows as in Figure 5."""
    X = draw_set(name, 9, 0)[:size]
    found = {"exact": log_evidence_exact(X, alpha=1.0, prior=SET_PRIOR)}
    for method, how in METHODS.items():
        found[method] = np.mean(how.bounds(X, "normal-gamma", SET_PRIOR))
    model = BayesianHierarchicalClustering(approximate=None, prior=SET_PRIOR).fit(X)
    found["eq. (7), no bound"] = model.log_evidence_approximation_
    return found


def real_bounds(name, size, kind):
    """The same for rows of a real table; and the best single partition, which is a bound too."""
    X, prior = sample(name, size, 0), priors(name)[kind]
    found = {m: np.mean(how.bounds(X, "normal-gamma", prior)) for m, how in METHODS.items()}
    found["best partition alone"] = -MAPDPM(prior=prior, random_state=0).fit(X).neg_log_joint_
    return found


def densities(train, test, prior):
    """{method: mean log density of rows left out}."""
    found = {}
    for method, how in METHODS.items():
        if method != "alternative trees":  # the density of BHC
            models = how.fit(train, "normal-gamma", prior)
            found[method] = np.mean([model.score(test) for model in models])
    found["MAPDPM"] = MAPDPM(prior=prior, random_state=0).fit(train).score(test)
    return found


def synthetic_gap(name, size):
    """Mean of exact less bound over random samples, before and after alternative trees."""
    gaps = []
    for seed in range(N_SYNTHETIC):
        X = draw_set(name, size, seed)
        exact = log_evidence_exact(X, alpha=1.0, prior=SET_PRIOR)
        model = BayesianHierarchicalClustering(
            approximate=None, prior=SET_PRIOR, alternative_trees=True
        ).fit(X)
        gaps.append(
            [exact - model.log_evidence_bound_, exact - model.log_evidence_bound_alternative_]
        )
    return np.mean(gaps, axis=0)


def gain(name, size):
    """Mean of what alternative trees add to the bound: at all nodes, and at the last ten."""
    gains = []
    for seed in range(N_REAL):
        X = sample(name, size, seed)
        real = name in REAL
        model = BayesianHierarchicalClustering(
            component="normal-gamma" if real else "beta-bernoulli",
            prior=priors(name)["chosen"] if real else None,
            approximate=None,
            alternative_trees=True,
        ).fit(X)
        terms = model.log_increments_[-10:].ravel()
        last = np.logaddexp.reduce(np.append(terms, model.log_evidence_bound_))
        gains.append(
            np.array([model.log_evidence_bound_alternative_, last]) - model.log_evidence_bound_
        )
    return np.mean(gains, axis=0)


def seconds(make, X):
    """The least processor time of three fits; each runs on one thread."""
    times = []
    for _ in range(3):
        start = time.process_time()
        make().fit(X)
        times.append(time.process_time() - start)
    return min(times)


#: Figure 8: bounds and likelihoods, eq. (7), of both methods; leaves and speed of the fast one.
KMEANS_COLUMNS = (
    "BHC",
    "Bayes k-means BHC",
    "leaves",
    "times as fast",
    "BHC, eq. (7)",
    "Bayes k-means BHC, eq. (7)",
)


def kmeans_against_bhc(name, size, kind):
    """Of KMEANS_COLUMNS each, means of samples."""
    results, prior = [], priors(name)[kind]
    for seed in range(N_REAL):
        X = sample(name, size, seed)
        tree = BayesianHierarchicalClustering(approximate=None, prior=prior)
        fast = METHODS["Bayes k-means BHC"].fit(X, "normal-gamma", prior)
        made = partial(
            BayesianHierarchicalClustering,
            prior=prior,
            approximate="bayes-kmeans",
            random_state=seed,
        )
        results.append(
            [
                tree.fit(X).log_evidence_bound_,
                np.mean([model.log_evidence_bound_ for model in fast]),
                np.mean([model.n_leaves_ for model in fast]),
                seconds(lambda tree=tree: tree, X) / seconds(made, X),
                tree.log_evidence_approximation_,
                np.mean([model.log_evidence_approximation_ for model in fast]),
            ]
        )
    return np.mean(results, axis=0)


def joints(name, kind):
    """-joint of the cut partition; after sweeps; after all of MAPDPM's moves; MAPDPM's own."""
    X, prior = sample(name, ALL_ROWS, 0), priors(name)[kind]
    tree = BayesianHierarchicalClustering(approximate=None, prior=prior).fit(X)
    swept = MAPDPM(prior=prior, init=tree.labels_, split_merge=False).fit(X)
    moved = MAPDPM(prior=prior, init=tree.labels_, random_state=0).fit(X)
    alone = MAPDPM(prior=prior, random_state=0).fit(X)
    return [model.neg_log_joint_ for model in (tree, swept, moved, alone)]


def corners():
    """Nine points in three equidistant groups, as in Figure 2."""
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    return (3.0 * triangle[:, None] + 0.25 * triangle).reshape(9, 2)


def corner_model():
    """Figure 2's tree; the prior is ours."""
    prior = {"m0": corners().mean(axis=0), "c0": 0.1, "a0": 1.0, "b0": 1.0}
    return BayesianHierarchicalClustering(
        approximate=None, prior=prior, alternative_trees=True
    ).fit(corners())


def clusterings():
    """Figure 2a: the clusters of the tree over three equidistant groups, and of alternatives."""
    model = corner_model()
    found = [["the tree", f"{model.log_evidence_bound_:.3f}", *model.labels_]]
    for other in model.alternative_clusterings(3):
        name = f"relocation at node {other.node}"
        found.append([name, f"{other.log_increment:.3f}", *other.labels])
    header = ["Figure 2a", "bound, increment", *(f"row {i}" for i in range(9))]
    return f"{markdown(header, found)}\n"


def report():
    """Every table, one after the other; figures' data by the way."""
    figures = {"5": {}, "6": {}, "7": {}, "8": {}}
    print(clusterings())
    for name in SETS:
        found = {size: synthetic_bounds(name, size) for size in SIZES}
        figures["5"][name] = found
        print(table(f"Figure 5, {name}: log evidence and bounds, by rows.", found, 3))
    for name, sizes in REAL.items():
        for kind in ("wide", "chosen"):
            found = {size: real_bounds(name, size, kind) for size in sizes}
            print(table(f"Figure 5, {name}, {kind} prior: bounds, by rows.", found))
        figures["5"][name] = found
    for name in SETS:
        figures["6"][name] = {size: synthetic_density(densities, name, size) for size in SIZES}
    for name, sizes in REAL.items():
        prior = priors(name)["chosen"]
        figures["6"][name] = {n: real_density(densities, name, n, prior, N_REAL) for n in sizes}
    for name, found in figures["6"].items():
        print(table(f"Figure 6, {name}: mean log density of rows left out.", found, 3))
    for name in SETS:
        gaps = {size: synthetic_gap(name, size) for size in SIZES}
        figures["7"][name] = {
            size: {"exact - BHC": a, "exact - alternative trees": b}
            for size, (a, b) in gaps.items()
        }
    for name, sizes in {**REAL, **BINARY}.items():
        gains = {size: gain(name, size) for size in sizes}
        figures["7"][name] = {
            size: {"all nodes": a, "last ten nodes": b} for size, (a, b) in gains.items()
        }
    for name, found in figures["7"].items():
        what = "mean gap" if name in SETS else "mean gain by alternative trees"
        print(table(f"Figure 7, {name}: {what}, in nats.", found, 4))
    for name, sizes in REAL.items():
        for kind in ("wide", "chosen"):
            figures["8"][name] = {
                size: dict(zip(KMEANS_COLUMNS, kmeans_against_bhc(name, size, kind), strict=True))
                for size in sizes
            }
            title = f"Figure 8, {name}, {kind} prior: bounds, likelihoods and speed."
            print(table(title, figures["8"][name], 1))
    print("In the paper: 4, 31 and 5 leaves at the largest sizes; some 30 times as fast at 600.\n")
    columns = ("cut tree", "then sweeps", "then all moves", "MAPDPM")
    found = {
        f"{name}, {kind}": dict(zip(columns, joints(name, kind), strict=True))
        for name in REAL
        for kind in ("wide", "chosen")
    }
    print(table("neg_log_joint beside MAPDPM, all rows of the table; lower is better.", found))
    return figures


def by_quantity(panels):
    """Figure 8: a row of panels with bounds and likelihoods, and one with times."""
    values = [name for name in KMEANS_COLUMNS if "BHC" in name]
    rows = {"likelihoods and bounds": values, "times as fast": ["times as fast"]}
    return {
        f"{name}, {quantity}": {
            size: {column: values[column] for column in columns} for size, values in found.items()
        }
        for quantity, columns in rows.items()
        for name, found in panels.items()
    }


def base_of(number, first):
    """The curve that others are drawn as differences from: the first of bounds."""
    return first if number in ("5", "8") and first != "times as fast" else None


def draw_clusterings(path):
    """Figure 2a: nine rows in three groups as the tree, and as three alternatives cluster them."""
    from matplotlib.figure import Figure

    model, X = corner_model(), corners()
    found = {f"the tree, bound {model.log_evidence_bound_:.2f}": model.labels_}
    for other in model.alternative_clusterings(3):
        found[f"node {other.node}, increment {other.log_increment:.2f}"] = other.labels
    figure = Figure(figsize=(12.0, 3.2), dpi=110, layout="constrained")
    for axes, (title, labels) in zip(
        figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True
    ):
        axes.scatter(*X.T, c=[COLOURS[k] for k in labels])
        for i, row in enumerate(X):  # numbers stand outside their group
            away = 80.0 * (row - X[i - i % 3 : i - i % 3 + 3].mean(axis=0))
            place = {"textcoords": "offset points", "xytext": away}
            axes.annotate(str(i), row, ha="center", va="center", fontsize=8, **place)
        axes.set(aspect="equal", xticks=[], yticks=[])
        axes.margins(0.2)
        axes.set_title(title, loc="left", fontsize=10)
    figure.savefig(path)


def draw(figures, folder):
    """Figures 2 and 5 to 8, one panel a table; bounds as differences from the first of them."""
    from matplotlib.figure import Figure

    for number, panels in figures.items():
        draw_panels(
            by_quantity(panels) if number == "8" else panels,
            folder / f"trees-figure-{number}.png",
            less=lambda columns, number=number: base_of(number, columns[0]),
        )
    draw_clusterings(folder / "trees-figure-2a.png")
    model = corner_model()
    figure = Figure(figsize=(6.0, 3.5), dpi=110, layout="constrained")
    axes = figure.add_subplot()
    sums = np.logaddexp(*model.log_increments_.T) - model.log_evidence_bound_
    axes.bar(range(9, 17), np.exp(sums), color=COLOURS[0])
    axes.set(xlabel="node", ylabel="increment, as a part of the bound")
    figure.savefig(folder / "trees-figure-2b.png")
    X = sample("iris", ALL_ROWS, 0)
    for kind, prior in priors("iris").items():
        tree = BayesianHierarchicalClustering(approximate=None, prior=prior).fit(X)
        plot_dendrogram(tree, path=folder / f"iris-dendrogram-{kind}.png")


def main(folder):
    print(NOTE, "\n")
    folder.mkdir(parents=True, exist_ok=True)
    draw(report(), folder)
    print(f"drew {', '.join(sorted(path.name for path in folder.glob('*.png')))}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
