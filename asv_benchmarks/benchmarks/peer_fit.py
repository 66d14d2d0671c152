"""One fit of one model in a fresh process: what `peers.py` starts, and nothing else.

    python peer_fit.py FOLDER MODEL N_CLUSTERS SEED

reads the rows from FOLDER/train.npy, fits, writes FOLDER/labels.npy and prints a line of JSON. It
imports dpmlite for dpmlite's fits alone, so that it also runs where only a peer is installed.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits


def mapdpm(n_clusters, seed, X):
    from dpmlite import MAPDPM

    return MAPDPM(prior="paper", random_state=seed)


def kmeans(n_clusters, seed, X):
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, init="k-means++", n_init=1, random_state=seed)


def bayesian_mixture(n_clusters, seed, X):
    from sklearn.mixture import BayesianGaussianMixture

    return BayesianGaussianMixture(
        n_components=2 * n_clusters, covariance_type="diag", random_state=seed
    )


def hdbscan(n_clusters, seed, X):
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(copy=True)


def pdc_dp_means(n_clusters, seed, X):
    from pdc_dp_means import DPMeans

    return DPMeans(n_clusters=1, n_init=1, delta=farthest_first(X, n_clusters), random_state=seed)


MODELS = {
    "MAPDPM": mapdpm,
    "KMeans": kmeans,
    "BayesianGM": bayesian_mixture,
    "HDBSCAN": hdbscan,
    "pdc-dp-means": pdc_dp_means,
}


def farthest_first(X, n_clusters):
    """The price of a cluster that Kulis & Jordan (2012) take when they are told K."""
    nearest = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    for _ in range(n_clusters - 1):
        nearest = np.minimum(nearest, ((X - X[nearest.argmax()]) ** 2).sum(axis=1))
    return float(nearest.max())


def megabytes(field):
    """A line of this process's memory, in units of 10^6 bytes; NaN where Linux does not run."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    sizes = [int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(field + ":")]
    return sizes[0] if sizes else float("nan")


def forget_peak():
    """From now on, VmHWM is the peak since now."""
    refs = Path("/proc/self/clear_refs")
    if refs.exists():
        refs.write_text("5", encoding="utf-8")


def density(model, test):
    """Mean log density of rows that the model has not seen; None if it has no density."""
    score = getattr(model, "score_samples", None)
    return None if score is None else float(score(test).mean())


def fit(folder, name, n_clusters, seed):
    """Seconds of a fit, its peak of memory above the rows, and what it found."""
    X, test = np.load(folder / "train.npy"), np.load(folder / "test.npy")
    np.random.default_rng(seed)  # numpy loads it when it is first used: no part of a fit
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # BayesianGaussianMixture stops after 100 iterations
        model = MODELS[name](n_clusters, seed, X)
        forget_peak()
        before, begin = megabytes("VmRSS"), time.perf_counter()
        model.fit(X)
        seconds, peak = time.perf_counter() - begin, megabytes("VmHWM") - before
        np.save(folder / "labels.npy", model.labels_ if name != "BayesianGM" else model.predict(X))
        return {"seconds": seconds, "megabytes": peak, "density": density(model, test)}


if __name__ == "__main__":
    print(json.dumps(fit(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
