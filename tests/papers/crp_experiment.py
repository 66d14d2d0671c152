"""Tables 1, 4 and 5 and figures 1 to 4 of Raykov, Boukouvalas & Little (2014), section 4.1.

    python3 tests/papers/crp_experiment.py FOLDER [DRAWS]

prints the paper's values beside ours, and draws the figures into FOLDER.

A draw is 1,200 rows of one Chinese restaurant process mixture, alpha = 3, D = 2. The first 600 are
the table that is clustered. The others are the test set: given the first 600, they are 600 more
rows of the same mixture, and some are of clusters that the table does not have. Prior and alpha are
those that drew the rows.

Scores of a Gibbs chain are means over its samples, as section 4.2 of the paper has them. Labels of
test rows are those of eq. (18); all rows that would be new clusters count as one cluster. The
likelihood of Table 5 is the mean of -log of eq. (17) over the test set.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import numpy as np
from authors_program import run_program
from converged_gibbs import MARGIN, MARGIN_AS_PRINTED, converged_gibbs
from measures import agreement, markdown, spread

from dpmlite import MAPDPM, algorithms, core, families, neg_log_joint, neg_log_loo, sweeps
from dpmlite.datasets import crp_mixture
from dpmlite.partition import Partition
from dpmlite.plotting import plot_clusters

N_ROWS = 600
N_DRAWS = 100
ALPHA = 3.0
PRIOR = {"m0": [1.0, 1.0], "c0": 0.1, "a0": 1.0, "b0": [10.0, 10.0]}
MODEL = {"alpha": ALPHA, "prior": PRIOR}

# Figure 2 shows a draw with so many clusters.
SHOWN_CLUSTERS = 18


@dataclass(frozen=True)
class Draw:
    """A table and its test set."""

    X: np.ndarray
    truth: np.ndarray
    X_test: np.ndarray
    truth_test: np.ndarray


@dataclass(frozen=True)
class Found:
    """What one method finds in a draw: one partition, or samples; and what it took."""

    partitions: np.ndarray
    n_iterations: int
    seconds: float
    n_empty: int
    n_asked_as_printed: int = 0


def draw(seed):
    X, labels = crp_mixture(2 * N_ROWS, alpha=ALPHA, random_state=seed)
    return Draw(X[:N_ROWS], labels[:N_ROWS], X[N_ROWS:], labels[N_ROWS:])


def gibbs(drawn, seed):
    chain = converged_gibbs(drawn.X, seed, **MODEL)
    return Found(
        chain.scored(), chain.n_sweeps, chain.seconds, chain.n_empty, chain.n_asked_as_printed
    )


def map_dpm(drawn, seed, **search):
    clock = process_time()
    model = MAPDPM(**MODEL, **search, random_state=seed).fit(drawn.X)
    seconds = process_time() - clock
    return Found(model.labels_[None], model.n_sweeps_, seconds, model.n_empty_clusters_)


def program(drawn, seed):
    clock = process_time()
    run = run_program(drawn.X, ALPHA, PRIOR, np.random.default_rng(seed))
    return Found(run.labels[None], run.n_sweeps, process_time() - clock, run.n_empty)


METHODS = {
    "Gibbs": gibbs,
    "program": program,
    "Algorithm 1": partial(map_dpm, init="single", split_merge=False),
    "unreinforced": partial(map_dpm, init="unreinforced", order="random", split_merge=False),
    "sweeps, random": partial(map_dpm, init="random", split_merge=False),
    "sweeps, singletons": partial(map_dpm, init="singletons", split_merge=False),
    "MAPDPM": map_dpm,
    "MAPDPM, n_init=10": partial(map_dpm, n_init=10),
}

#: The methods of two tables: those to compare with the paper's, and other searches.
COMPARED = ("Gibbs", "program", "Algorithm 1", "unreinforced", "MAPDPM")
OTHERS = ("sweeps, random", "sweeps, singletons", "MAPDPM, n_init=10")

#: The paper's columns, and ours that they are put before.
PAPER_BEFORE = {"Gibbs": ("Gibbs", 0), "program": ("MAP-DPM", 1)}

LENGTH_AS_PRINTED = f"iterations, r = {MARGIN_AS_PRINTED}"

#: Decimals of each measure.
MEASURES = {
    "NMI sum": 2,
    "NMI max": 2,
    "AMI": 2,
    "iterations": 0,
    "CPU seconds": 3,
    "Delta K": 1,
    "empty clusters": 0,
    "test NMI sum": 2,
    "test NMI max": 2,
    "test AMI": 2,
    "test NLL": 2,
    "training NLL, eq. (16) / N": 2,
    "joint - joint of truth": 1,
    LENGTH_AS_PRINTED: 0,
}

#: What the paper prints for Gibbs and MAP-DPM.
PAPER = {
    "NMI sum": ("0.67 (0.23)", "0.71 (0.23)"),
    "NMI max": ("0.64 (0.24)", "0.64 (0.27)"),
    "AMI": ("0.62 (0.25)", "0.62 (0.27)"),
    "iterations": ("2,020 (900)", "13.3 (13.9)"),
    "CPU seconds": ("7,300 (4,000)", "28 (32)"),
    "Delta K": ("-0.91 (7.12)", "-6.94 (6.93)"),
    "empty clusters": ("5,900 (3,600)", "10.33 (22.1)"),
    "test NMI sum": ("0.72 (0.20)", "0.71 (0.23)"),
    "test NMI max": ("0.68 (0.22)", "0.64 (0.27)"),
    "test AMI": ("0.67 (0.23)", "0.62 (0.27)"),
    "test NLL": ("7.17 (1.10)", "7.20 (1.11)"),
}

#: What to know of a measure: letters of NOTES.
SEE = {
    "NMI sum": "a, b",
    "NMI max": "a",
    "AMI": "a",
    "iterations": "c, d",
    "CPU seconds": "e",
    "Delta K": "a",
    "empty clusters": "a, f",
    "test NMI sum": "g",
    "test NMI max": "g",
    "test AMI": "g",
    "test NLL": "h",
    LENGTH_AS_PRINTED: "c",
}

NOTES = """\
a. Algorithm 1 as printed starts from one cluster and mostly stays there. The paper's numbers are
   those of three rules that its authors' program has and the paper does not print: column
   "program", authors_program.py. "unreinforced" is MAPDPM(init="unreinforced", order="random",
   split_merge=False), which has the first two.
b. The formula is printed with the joint entropy H(U, V); the mutual information is meant.
c. Gibbs: r = 0.1 is printed, which would end the chains after the sweeps of the last row. The
   program's is 0.01, which is used here (converged_gibbs.py). MAP-DPM: the program goes on until
   its likelihood changes by less than rounding, and about half of its sweeps move no row.
d. Sweeps. Those of MAPDPM are of all descents that its start is made of; of n_init, the best one's.
e. Other machine, other language. "program" is plain Python, the others are kernels.
f. Tables 1 and 4 disagree: 5,900 and 6,000 for Gibbs, 10.33 (22.1) and 14 (28) for MAP-DPM. The
   program closes a cluster whenever its only row is visited, and counts it, also if the row stays
   alone. Each descent that the start of MAPDPM is made of empties many of the clusters that it
   starts from.
g. Rows whose eq. (18) says "new cluster" count as one cluster.
h. Called leave-one-out there; eq. (17) of test rows is what the text describes.
"""


def measure(drawn, found):
    """Values of MEASURES."""
    scores = np.mean([scores_of(drawn, labels) for labels in found.partitions], axis=0)
    took = [found.n_iterations, found.seconds, scores[3], found.n_empty]
    return np.array([*scores[:3], *took, *scores[4:], found.n_asked_as_printed])


def scores_of(drawn, labels):
    """What depends on the partition alone."""
    predicted, nll = predict(drawn, labels)
    joint = neg_log_joint(drawn.X, labels, **MODEL)
    return [
        *agreement(drawn.truth, labels),
        len(np.unique(labels)) - len(np.unique(drawn.truth)),
        *agreement(drawn.truth_test, predicted),
        nll,
        neg_log_loo(drawn.X, labels, **MODEL) / N_ROWS,
        joint - neg_log_joint(drawn.X, drawn.truth, **MODEL),
    ]


def predict(drawn, labels):
    """Labels of the test rows, -1 for those of new clusters, and their mean -log density."""
    _, slots = np.unique(labels, return_inverse=True)
    clusters = families.NormalGamma(**PRIOR)
    Partition(core.Rows(drawn.X), slots.astype(np.intp), clusters, ALPHA)
    rows = core.Rows(drawn.X_test)
    predicted, log_density = np.empty(len(rows), dtype=np.intp), np.empty(len(rows))
    sweeps.assign(rows, clusters, ALPHA, predicted)
    algorithms.log_density(rows, clusters, ALPHA, log_density)
    return predicted, -log_density.mean()


@dataclass
class Experiment:
    """Measures of every method, (draws, measures), and sizes of clusters."""

    measures: dict
    sizes: dict

    def of(self, method, name):
        """One measure in every draw."""
        return self.measures[method][:, list(MEASURES).index(name)]


def run(n_draws=N_DRAWS, methods=tuple(METHODS)):
    """Every method on draws 0, 1, ..., each in one of as many processes as there are processors."""
    measures, sizes = {name: [] for name in methods}, {name: [] for name in ["truth", *methods]}
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for measured, ranked in pool.map(partial(run_draw, methods=methods), range(n_draws)):
            for name, row in measured.items():
                measures[name].append(row)
            for name, rows in ranked.items():
                sizes[name].extend(rows)
    return Experiment({name: np.array(rows) for name, rows in measures.items()}, sizes)


def run_draw(seed, methods):
    """The measures of every method on a draw, and its sizes, those of the truth first."""
    drawn = draw(seed)
    measures, sizes = {}, {"truth": [ranked_sizes(drawn.truth)]}
    for name in methods:
        found = METHODS[name](drawn, seed)
        measures[name] = measure(drawn, found)
        sizes[name] = [ranked_sizes(labels) for labels in found.partitions]
    return measures, sizes


def ranked_sizes(labels):
    """N_k / N, the largest cluster first; 0 where there is none."""
    _, counts = np.unique(labels, return_counts=True)
    return np.pad(np.sort(counts)[::-1] / len(labels), (0, len(labels) - len(counts)))


def table(experiment, methods):
    """Columns of some methods, each column of the paper before the first that it compares with."""
    measures = [row for row in MEASURES if row != LENGTH_AS_PRINTED or "Gibbs" in methods]
    header, columns = ["measure"], [measures]
    for method in methods:
        if method in PAPER_BEFORE:
            name, place = PAPER_BEFORE[method]
            header.append(f"{name} (paper)")
            columns.append([PAPER[row][place] if row in PAPER else "" for row in measures])
        header.append(method)
        columns.append([cell(experiment, method, row) for row in measures])
    columns.append([SEE.get(row, "") for row in measures])
    return markdown([*header, "see"], zip(*columns, strict=True))


def cell(experiment, method, name):
    if name == LENGTH_AS_PRINTED and method != "Gibbs":
        return ""
    return spread(experiment.of(method, name), MEASURES[name])


def draw_figure_1(folder):
    """The model as a graph: what is drawn from what, once or for each of N rows."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    figure = Figure(figsize=(4.2, 2.6), dpi=120, layout="constrained")
    axes = figure.add_subplot(aspect="equal", xlim=(-0.6, 4.6), ylim=(-0.8, 1.8))
    axes.set_axis_off()
    places = {r"$\alpha$": (0, 1), "$z_i$": (2, 1), "$x_i$": (2, 0), r"$\theta_0$": (4, 0)}
    axes.add_patch(FancyBboxPatch((1.4, -0.55), 1.2, 2.1, "round,pad=0.1", fill=False))
    axes.text(2.6, -0.5, "N", ha="right", va="bottom")
    for start, end in ((r"$\alpha$", "$z_i$"), ("$z_i$", "$x_i$"), (r"$\theta_0$", "$x_i$")):
        arrow = {"arrowstyle": "-|>", "color": "black", "shrinkA": 15, "shrinkB": 15}
        axes.annotate("", places[end], places[start], arrowprops=arrow)
    for name, (x, y) in places.items():
        seen = "0.8" if name == "$x_i$" else "white"
        if name in ("$z_i$", "$x_i$"):
            axes.scatter([x], [y], s=700, color=seen, edgecolor="black", zorder=3)
        axes.text(x, y, name, ha="center", va="center", zorder=4)
    figure.savefig(folder / "crp-figure-1.png")


def draw_figure_2(folder):
    """A draw with 18 clusters. The caption's largest one of 18 rows cannot be: 18 x 18 < 600."""
    seed = next(s for s in range(1000) if len(np.unique(draw(s).truth)) == SHOWN_CLUSTERS)
    drawn = draw(seed)
    plot_clusters(drawn.X, drawn.truth, columns=["x1", "x2"], path=folder / "crp-figure-2.png")


def draw_sizes(experiment, folder, name, quantiles):
    """Quantiles over the draws of N_k / N, by rank; over samples too for Gibbs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5 * len(quantiles), 4.0), dpi=120, layout="constrained")
    for axes, q in zip(
        figure.subplots(1, len(quantiles), squeeze=False)[0], quantiles, strict=True
    ):
        for method, colour in (("truth", "#000000"), ("MAPDPM", "#D55E00"), ("Gibbs", "#0072B2")):
            shares = np.quantile(experiment.sizes[method], q, axis=0, method="inverted_cdf")
            shares = shares[shares > 0.0]
            axes.semilogy(range(1, len(shares) + 1), shares, color=colour, label=method)
        axes.set(xlabel="cluster, by size", ylabel="N_k / N")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_title("median" if q == 0.5 else f"{q:.0%} quantile", loc="left")
        axes.legend(frameon=False)
    figure.savefig(folder / f"{name}.png")


def main(folder, n_draws=N_DRAWS):
    experiment = run(n_draws)
    print(f"Tables 1, 4 and 5: {n_draws} draws, mean and two standard deviations.")
    print(f"Gibbs chains have the length that Raftery & Lewis ask for at r = {MARGIN}.\n")
    print(table(experiment, COMPARED), table(experiment, OTHERS), NOTES, sep="\n\n")
    folder.mkdir(parents=True, exist_ok=True)
    draw_figure_1(folder)
    draw_figure_2(folder)
    draw_sizes(experiment, folder, "crp-figure-3", [0.5])
    draw_sizes(experiment, folder, "crp-figure-4", [0.05, 0.95])
    print(f"drew {', '.join(f'{folder}/crp-figure-{i}.png' for i in (1, 2, 3, 4))}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
