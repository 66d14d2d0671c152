"""Sections 2.2 and 3.1 of Raykov, Boukouvalas & Little (2014): with parameters, and without.

    python3 tests/papers/collapsed_experiment.py [DRAWS]

prints two tables that the paper does not have, of draws of its section 4.1 with 100 rows. In the
first, both samplers start from one cluster, and sweep over single rows. The autocorrelation time is
that of the number of clusters, after the first third: how many sweeps are worth one independent
sample. In the second, both descents start from the labels of the draw. Values and prior are those
of the draw, multiplied by a unit.
"""

import sys
from itertools import islice

import numpy as np
from measures import markdown

from dpmlite import MAPDPM, CollapsedGibbs
from dpmlite.datasets import crp_mixture
from dpmlite.teaching import uncollapsed_gibbs, uncollapsed_map

N_ROWS, N_DRAWS, N_SWEEPS = 100, 5, 1500
ALPHA = 3.0
PRIOR = {"m0": 1.0, "c0": 0.1, "a0": 1.0, "b0": 10.0}
UNITS = (1e-3, 1.0, 1e3)

# An autocorrelation time is summed over lags up to this many of it: Sokal (1997).
WINDOW = 5.0


def autocorrelation_time(chain):
    """The sum of all autocorrelations, over a window that grows with it."""
    deviations = chain - chain.mean()
    total = 1.0
    for lag in range(1, len(chain)):
        total += 2.0 * (deviations[lag:] @ deviations[:-lag]) / (deviations @ deviations)
        if lag >= WINDOW * total:
            break
    return total


def numbers_of_clusters(X, n_sweeps, seed):
    """{sampler: number of clusters after each sweep}."""
    model = {"alpha": ALPHA, "prior": PRIOR}
    chain = uncollapsed_gibbs(X, random_state=seed, **model)
    collapsed = CollapsedGibbs(
        component="normal-gamma",
        init="single",
        split_merge=None,
        n_samples=n_sweeps,
        burn_in=0,
        random_state=seed,
        **model,
    ).fit(X)
    return {
        "with parameters": np.array([len(state.means) for state in islice(chain, n_sweeps)]),
        "collapsed": collapsed.n_clusters_samples_,
    }


def optima(X, truth, unit):
    """{descent: number of clusters}, of values in another unit."""
    prior = {**PRIOR, "m0": PRIOR["m0"] * unit, "b0": PRIOR["b0"] * unit**2}
    model = {"alpha": ALPHA, "prior": prior, "init": truth}
    *_, last = uncollapsed_map(X * unit, **model)
    collapsed = MAPDPM(component="normal-gamma", split_merge=False, **model).fit(X * unit)
    return {"with parameters": len(last.means), "collapsed": collapsed.n_clusters_}


def tables(n_draws, n_sweeps=N_SWEEPS):
    """Both tables, as text."""
    samples, descents = [], []
    for seed in range(n_draws):
        X, truth = crp_mixture(N_ROWS, random_state=seed)
        n_true = len(set(truth.tolist()))
        chains = numbers_of_clusters(X, n_sweeps, seed)
        kept = [chain[n_sweeps // 3 :].astype(float) for chain in chains.values()]
        times = [autocorrelation_time(chain) for chain in kept]
        samples.append([n_true, *(f"{chain.mean():.1f}" for chain in kept)])
        samples[-1] += [f"{time:.1f}" for time in times]
        found = [optima(X, truth, unit) for unit in UNITS]
        descents.append([n_true, *(each["with parameters"] for each in found)])
        descents[-1] += [each["collapsed"] for each in found]
    methods = ["with parameters", "collapsed"]
    header = ["K", *(f"{what}, {each}" for what in ("mean K", "time") for each in methods)]
    units = [f"{each}, unit {unit:g}" for each in methods for unit in UNITS]
    return markdown(header, samples), markdown(["K", *units], descents)


if __name__ == "__main__":
    print(*tables(int(sys.argv[1]) if len(sys.argv) > 1 else N_DRAWS), sep="\n\n")
