"""How many times faster each kernel is than its plain twin, on 2,000 rows.

`python3 asv_benchmarks/benchmarks/twins.py` prints the table.
"""

import time

import numpy as np

from dpmlite.datasets import dpm_sample
from dpmlite.estimators.priors import FAMILIES

if __package__:
    from .common import load_twin
else:  # as a script
    from common import load_twin

N_ROWS = 2_000
REPEATS = 3

# Component class, family that draws the rows, columns, prior.
COMPONENTS = {
    "NormalGamma": ("normal-gamma", 8, {"m0": 0.0, "c0": 0.1, "a0": 2.0, "b0": 2.0}),
    "IncompleteNormalGamma": ("normal-gamma", 8, {"m0": 0.0, "c0": 0.1, "a0": 2.0, "b0": 2.0}),
    "NormalInverseWishart": (
        "normal-inverse-wishart",
        8,
        {"m0": 0.0, "kappa0": 0.1, "nu0": 12.0, "psi0": 4.0 * np.eye(8)},
    ),
    "NormalKnownVariance": ("normal-known-variance", 8, {"m0": 0.0, "sigma2": 1.0, "tau2": 9.0}),
    "DirichletMultinomial": ("dirichlet-multinomial", 30, {"beta0": 0.5}),
    "BetaBernoulli": ("beta-bernoulli", 30, {"a0": 0.5, "b0": 0.5}),
}
MOVES = ("sweep", "gibbs_sweep", "merge", "split", "propose_split_merge")
MODULES = {
    "sweep": "map_dpm",
    "gibbs_sweep": "gibbs",
    "merge": "merges",
    "split": "splits",
    "propose_split_merge": "jain_neal",
}


def module_of(name):
    """normal_gamma of NormalGamma."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def state(name, implementation):
    """A partition of one implementation, at the labels that drew the rows."""
    family, n_columns, prior = COMPONENTS[name]
    X, labels = dpm_sample(
        N_ROWS, n_columns, component=family, alpha=2.0, prior=prior, row_total=40, random_state=0
    )
    full = FAMILIES[family].full_prior(prior, n_columns)
    component = getattr(load_twin(module_of(name), implementation), name)(**full)
    return load_twin("partition", implementation).Partition(X, labels, component, 2.0)


def seconds(name, move, implementation):
    """The least time of one move, each on a partition of its own."""
    best = np.inf
    for repeat in range(REPEATS if implementation == "cython" else 1):
        partition = state(name, implementation)
        run = getattr(load_twin(MODULES[move], implementation), move)
        rng = np.random.default_rng(repeat)
        arguments = {
            "gibbs_sweep": lambda rng=rng: (rng.random(N_ROWS),),
            "split": lambda rng=rng, p=partition: (rng.random((p.component.n_slots, 1, 2)),),
            "propose_split_merge": lambda rng=rng: (5, rng.random(3 + 7 * N_ROWS)),
        }.get(move, tuple)()
        start = time.perf_counter()
        run(partition, *arguments)
        best = min(best, time.perf_counter() - start)
    return best


def ratio(name, move):
    """The plain twin's seconds, by the kernel's."""
    return seconds(name, move, "python") / seconds(name, move, "cython")


class KernelSpeed:
    params = (tuple(COMPONENTS), MOVES)
    param_names = ("component", "move")
    timeout = 600

    def track_ratio(self, name, move):
        return ratio(name, move)

    track_ratio.unit = "times the plain twin"


def main():
    print(f"{'':<22}" + "".join(f"{move:>21}" for move in MOVES))
    for name in COMPONENTS:
        print(f"{name:<22}" + "".join(f"{ratio(name, m):>21.0f}" for m in MOVES), flush=True)


if __name__ == "__main__":
    main()
