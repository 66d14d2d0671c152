"""Figure 2 of Daumé (2007): searches beside Gibbs and split-merge sampling on 4 to 50 rows.

    python tests/papers/daume_figure_2.py FOLDER

prints the four quantities of the figure and draws them into FOLDER. Rows are drawn from a Dirichlet
process mixture of normals, alpha = 1, with means of mean 0 and variance 10. The paper gives neither
the dimension nor the variance within clusters: both are 1 here.

A search with a queue of 10 is the paper's; a beam of 10 prefixes of each length is ours. Searches
that are to be exact get no larger tables once they fail to end with `MOST_QUEUED` states.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from measures import markdown

from dpmlite import MAPDPM, CollapsedGibbs, DPSearch
from dpmlite.datasets import dpm_sample

SIZES = (4, 6, 8, 10, 11, 12, 13, 14, 15, 20, 25, 30, 50)
MODEL = {
    "component": "normal-known-variance",
    "alpha": 1.0,
    "prior": {"m0": 0.0, "sigma2": 1.0, "tau2": 10.0},
}
MOST_QUEUED = 20_000
N_TABLES = 10

SEARCHES = {
    "trivial": {"scoring": "trivial", "beam": None, "max_queue": MOST_QUEUED},
    "tight": {"scoring": "tight", "beam": None, "max_queue": MOST_QUEUED},
    "inadmissible": {"scoring": "inadmissible", "beam": None, "max_queue": MOST_QUEUED},
    "trivial, queue 10": {"scoring": "trivial", "beam": None, "max_queue": 10},
    "tight, queue 10": {"scoring": "tight", "beam": None, "max_queue": 10},
    "inadmissible, queue 10": {"scoring": "inadmissible", "beam": None, "max_queue": 10},
    "inadmissible, beam 10": {"scoring": "inadmissible", "beam": 10},
}
EXACT = ("trivial", "tight")
SAMPLERS = {"Gibbs": None, "split-merge": "interleaved"}
QUANTITIES = ("NLL / exact NLL", "F-score", "seconds", "states enqueued")


@dataclass
class Result:
    """What a method found on one table."""

    neg_log_joint: float
    f_score: float
    seconds: float
    n_enqueued: float = np.nan
    certified: bool = False


def pair_f_score(truth, labels):
    """Geometric mean of precision and recall of pairs in the same cluster; 1 if there are none."""
    above = np.triu_indices(len(truth), 1)
    same = (truth[:, None] == truth)[above]
    found = (labels[:, None] == labels)[above]
    hits = (same & found).sum()
    if not same.any() and not found.any():
        return 1.0
    return hits / np.sqrt(max(same.sum(), 1) * max(found.sum(), 1))


def search(X, truth, parameters):
    """One search, as it is: without refinement."""
    start = perf_counter()
    model = DPSearch(**MODEL, **parameters, refine=False).fit(X)
    seconds = perf_counter() - start
    score = pair_f_score(truth, model.labels_)
    return Result(model.neg_log_joint_, score, seconds, model.n_enqueued_, model.certified_)


def sampled(X, truth, split_merge, seed, n_sweeps):
    """The best of 15 chains from three starts; the time is what that chain took to get there."""
    best = None
    starts = ["single"] * 5 + ["singletons"] * 5
    rng = np.random.default_rng(seed)
    n_clusters = max(round(np.log(len(X))), 1)
    starts += [rng.integers(n_clusters, size=len(X)) for _ in range(5)]
    for run, init in enumerate(starts):
        start = perf_counter()
        model = CollapsedGibbs(
            **MODEL,
            init=init,
            split_merge=split_merge,
            n_samples=n_sweeps,
            burn_in=0,
            random_state=100 * seed + run,
        ).fit(X)
        share = (model.neg_log_joint_samples_.argmin() + 1) / n_sweeps
        seconds = (perf_counter() - start) * share
        if best is None or model.neg_log_joint_ < best.neg_log_joint - 1e-9:
            best = Result(model.neg_log_joint_, pair_f_score(truth, model.labels_), seconds)
    return best


def table(n_rows, number):
    """Rows and the labels that drew them."""
    return dpm_sample(n_rows, 1, **MODEL, random_state=1000 * n_rows + number)


def experiment(sizes=SIZES, n_tables=N_TABLES, n_sweeps=1000):
    """For each size and method, a result a table; and the least joint known of each table."""
    results, least, given_up = {}, {}, set()
    for n_rows in sizes:
        tables = [table(n_rows, number) for number in range(n_tables)]
        for name, parameters in SEARCHES.items():
            if name not in given_up:
                found = [search(X, truth, parameters) for X, truth in tables]
                if name in EXACT and not all(result.certified for result in found):
                    given_up.add(name)
                else:
                    results[n_rows, name] = found
        for name, split_merge in SAMPLERS.items():
            results[n_rows, name] = [
                sampled(X, truth, split_merge, seed, n_sweeps)
                for seed, (X, truth) in enumerate(tables)
            ]
        least[n_rows] = [
            MAPDPM(**MODEL, n_init=3, random_state=0).fit(X).neg_log_joint_ for X, _ in tables
        ]
        for (n, _), found in results.items():
            if n == n_rows:
                joints = [result.neg_log_joint for result in found]
                least[n_rows] = np.minimum(least[n_rows], joints)
    return results, least


def means(results, least):
    """The figure's four quantities, by method and size."""
    curves = {}
    for (n_rows, name), found in results.items():
        joints = np.array([result.neg_log_joint for result in found])
        curves.setdefault(name, {})[n_rows] = (
            joints.sum() / np.sum(least[n_rows]),
            np.mean([result.f_score for result in found]),
            np.mean([result.seconds for result in found]),
            np.mean([result.n_enqueued for result in found]),
        )
    return curves


def report(curves):
    """A table of each quantity."""
    for i, quantity in enumerate(QUANTITIES):
        sizes = sorted({n for curve in curves.values() for n in curve})
        rows = [
            [name, *(f"{curve[n][i]:.4g}" if n in curve else "" for n in sizes)]
            for name, curve in curves.items()
        ]
        print(f"\n{quantity}\n")
        print(markdown(["N", *sizes], rows))


def draw(curves, path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 8.0), dpi=120, layout="constrained")
    for i, axes in enumerate(figure.subplots(2, 2).flat):
        for number, (name, curve) in enumerate(curves.items()):
            values = np.array([curve[n][i] for n in curve])
            if np.isfinite(values).all():
                axes.plot(list(curve), values, f"C{number}o-", markersize=3, label=name)
        axes.set(xlabel="rows", title=QUANTITIES[i], yscale="log" if i > 1 else "linear")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path)
    print(f"\ndrew {path}")


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    found = means(*experiment())
    report(found)
    draw(found, folder / "daume-figure-2.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
