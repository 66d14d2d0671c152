"""Section 4.2 of Daumé (2007): MNIST in 50 whitened principal components, and its Figure 3.

    DPMLITE_DATA=FOLDER python3 tests/papers/daume_mnist.py PICTURES

prints times and joints beside the paper's and draws the mean images of clusters into a folder. It
needs mnist_train.npz, see real_tables.py.

The paper's likelihoods have the probability of the clusters' sizes, its eq. (2), which is far
larger than that of a partition: searches print both.

The paper says "a prior variance of 0.1", which is tau2 here; the variance within clusters is that
of the whitened columns, 1.
"""

import itertools
import sys
from collections import Counter
from pathlib import Path
from time import process_time

import numpy as np
from real_tables import table_path

from dpmlite import CollapsedGibbs, DPSearch
from dpmlite.partition import log_prob_counts, log_prob_multiplicities

MODEL = {
    "component": "normal-known-variance",
    "alpha": 1.0,
    "prior": {"m0": 0.0, "sigma2": 1.0, "tau2": 0.1},
}
N_COMPONENTS = 50

#: Part of the rows; the paper's seconds, clusters, joint, and the joints of Gibbs and split-merge.
PAPER = {
    0.05: (11.0, 11, 2.04e5, 2.09e5, 2.05e5),
    0.2: (105.0, 21, 8.02e5, 8.34e5, 8.15e5),
    1.0: (900.0, 27, 3.96e6, 4.2e6, 4.1e6),
}


def images():
    """60,000 images as rows of 784 values."""
    with np.load(table_path("mnist_train.npz")) as parts:
        return parts["X"].reshape(-1, 784).astype(np.float64)


def whitened(X):
    """Principal components of mean 0 and variance 1."""
    centred = X - X.mean(axis=0)
    variances, directions = np.linalg.eigh(centred.T @ centred / len(X))
    chosen = np.argsort(-variances)[:N_COMPONENTS]
    return np.ascontiguousarray(centred @ directions[:, chosen] / np.sqrt(variances[chosen]))


def search(rows, **parameters):
    """A fitted search, and its seconds of processor time."""
    start = process_time()
    model = DPSearch(**MODEL, **parameters).fit(rows)
    return model, process_time() - start


def by_sizes(model):
    """Minus the log of the data's density and eq. (2)."""
    counts, alpha = model.counts_.astype(float), model.alpha_
    sizes = log_prob_multiplicities(Counter(model.counts_.tolist()), alpha)
    return model.neg_log_joint_ + log_prob_counts(counts, alpha) - sizes


def gibbs(rows, split_merge=None, n_sweeps=100):
    """The best joint of so many sweeps from one cluster, and the seconds."""
    start = process_time()
    model = CollapsedGibbs(
        **MODEL,
        init="single",
        split_merge=split_merge,
        n_samples=n_sweeps,
        burn_in=0,
        random_state=0,
    ).fit(rows)
    return model.neg_log_joint_, process_time() - start


def draw(X, model, path, n_images=40):
    """Figure 3: the mean image of each cluster, the largest first."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.4), dpi=120, layout="constrained")
    for k, axes in enumerate(figure.subplots(4, 10).flat):
        axes.set_axis_off()
        if k < min(n_images, model.n_clusters_):
            axes.imshow(X[model.labels_ == k].mean(axis=0).reshape(28, 28), cmap="gray_r")
            axes.set_title(f"{model.counts_[k]:,}", fontsize=6)
    figure.savefig(path)
    print(f"drew {path}")


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    X = images()
    rows = whitened(X)
    for part, (seconds, n_clusters, joint, *others) in PAPER.items():
        used = rows[: round(part * len(rows))]
        print(
            f"\n{len(used)} rows; paper: {seconds:g} s, {n_clusters} clusters, {joint:.3g}; "
            f"Gibbs {others[0]:.3g}, split-merge {others[1]:.3g}"
        )
        for prior_score, beam in itertools.product(("partition", "sizes"), (1, 10, 100)):
            model, taken = search(used, beam=beam, refine=False, prior_score=prior_score)
            print(
                f"    {prior_score:<9} beam {beam:>3}: {taken:7.2f} s, "
                f"{len(used) / taken:>8.0f} rows/s, {model.n_clusters_} clusters, "
                f"neg_log_joint {model.neg_log_joint_:.5g}, by sizes {by_sizes(model):.5g}"
            )
        model, taken = search(used, beam=1, random_state=0)
        print(
            f"    refined:  {taken:7.2f} s, {model.n_clusters_} clusters, "
            f"neg_log_joint {model.neg_log_joint_:.5g}, by sizes {by_sizes(model):.5g}"
        )
        for name, split_merge in (("Gibbs", None), ("split-merge", "interleaved")):
            least, taken = gibbs(used, split_merge)
            print(f"    {name}, 100 sweeps: {taken:7.2f} s, neg_log_joint {least:.5g}")
    unrefined, _ = search(rows, beam=10, refine=False, prior_score="sizes")
    draw(X, unrefined, folder / "daume-figure-3-search.png")
    draw(X, model, folder / "daume-figure-3.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
