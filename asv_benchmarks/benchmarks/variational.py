"""Variational inference: an iteration of each method, beside the plain twin and scikit-learn.

`python3 asv_benchmarks/benchmarks/variational.py` prints both comparisons. scikit-learn's is its
`BayesianGaussianMixture` with diagonal covariances, which has the model of "vb" with
"normal-gamma". It may use several threads; OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 sets one.
"""

import time
import warnings

import numpy as np

from dpmlite import VariationalDPM
from dpmlite.datasets import planted_gaussians

if __package__:
    from .common import load_twin
else:  # as a script
    from common import load_twin

METHODS = {
    "vb": "Sticks",
    "collapsed-stick": "CollapsedSticks",
    "collapsed-dirichlet": "CollapsedDirichlet",
}

# Rows, columns, components.
TABLES = ((2_000, 2, 20), (10_000, 8, 20), (100_000, 8, 50), (100_000, 16, 50))

# Component class, module and prior, columns, how a table of it is drawn.
FAMILIES = {
    "NormalGamma": ("normal_gamma", 8, {"m0": np.zeros(8), "c0": 0.1, "a0": 1.0, "b0": np.ones(8)}),
    "DirichletMultinomial": ("dirichlet_multinomial", 30, {"beta0": np.full(30, 0.5)}),
    "BetaBernoulli": ("beta_bernoulli", 30, {"a0": np.ones(30), "b0": np.ones(30)}),
}
N_ITERATIONS = 10

# Rows that the twins are compared on: the plain one's time grows with them, and is taken on fewer.
MANY, FEW = 2_000, 100


def draw(name, n_rows, n_columns):
    rng = np.random.default_rng(0)
    if name == "NormalGamma":
        return planted_gaussians(n_rows, n_columns, 10, random_state=0)[0]
    shares = rng.beta(0.5, 0.5, size=(10, n_columns))[rng.integers(10, size=n_rows)]
    return rng.binomial(1 if name == "BetaBernoulli" else 4, shares).astype(float)


class State:
    """One implementation, ready for iterations from random responsibilities."""

    def __init__(self, method, shape, name="NormalGamma", implementation="cython"):
        def load(module):
            return load_twin(module, implementation)

        n_rows, n_columns, n_components = shape
        module, _, prior = FAMILIES[name]
        if name == "NormalGamma":
            prior = {**prior, "m0": np.zeros(n_columns), "b0": np.full(n_columns, 10.0)}
        self.rows = load("rows").Rows(draw(name, n_rows, n_columns))
        self.component = getattr(load(module), name)(**prior)
        self.mixing = getattr(load("mixing"), METHODS[method])(1.0, n_components)
        shares = np.random.default_rng(0).dirichlet(np.ones(n_components), size=n_rows)
        self.shares = shares if implementation == "cython" else shares.tolist()
        inference = load("variational")
        inference.absorb(self.rows, self.component, self.mixing, self.shares)
        self._step = inference.step

    def step(self):
        self._step(self.rows, self.component, self.mixing, self.shares, True)

    def seconds(self, n_times):
        """The least time of an iteration."""
        times = []
        for _ in range(n_times):
            start = time.perf_counter()
            self.step()
            times.append(time.perf_counter() - start)
        return min(times)


class Iteration:
    params = (tuple(METHODS), TABLES[:2])
    param_names = ("method", "rows, columns, components")

    def setup(self, method, shape):
        self.state = State(method, shape)

    def time_iteration(self, method, shape):
        self.state.step()


class Fit:
    """From random rows to the end, and what was found: the bound does not depend on the machine."""

    params = (tuple(METHODS),)
    param_names = ("method",)

    def setup(self, method):
        self.X = planted_gaussians(2_000, 4, 8, random_state=0)[0]
        self.model = VariationalDPM(prior="paper", method=method, init="random", random_state=0)

    def time_fit(self, method):
        self.model.fit(self.X)

    def track_log_evidence_bound(self, method):
        return self.model.fit(self.X).log_evidence_bound_

    track_log_evidence_bound.unit = "nats"


class IterationKernelSpeed:
    params = (tuple(FAMILIES), tuple(METHODS))
    param_names = ("component", "method")
    timeout = 600

    def track_ratio(self, name, method):
        return ratio(name, method)

    track_ratio.unit = "times the plain twin"


def ratio(name, method):
    """The plain twin's seconds, by the kernel's."""
    shape = FAMILIES[name][1], 20
    plain = State(method, (FEW, *shape), name, "python").seconds(1) * MANY / FEW
    return plain / State(method, (MANY, *shape), name).seconds(N_ITERATIONS)


def scikit_learn(X, n_components):
    """Seconds of one of its iterations: the difference of longer and shorter fits, the fastest."""
    from sklearn.mixture import BayesianGaussianMixture

    times = []
    for n_iterations in (2, 2 + N_ITERATIONS):
        model = BayesianGaussianMixture(
            n_components=n_components,
            covariance_type="diag",
            max_iter=n_iterations,
            tol=1e-300,
            init_params="random",
            random_state=0,
        )
        least = np.inf
        for _ in range(3):
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it did not converge
                model.fit(X)
            least = min(least, time.perf_counter() - start)
        times.append(least)
    return (times[1] - times[0]) / N_ITERATIONS


def main():
    print(f"{'times the plain twin':<22}" + "".join(f"{method:>21}" for method in METHODS))
    for name in FAMILIES:
        print(f"{name:<22}" + "".join(f"{ratio(name, method):>21.0f}" for method in METHODS))
    print(
        "\nms an iteration\n"
        "   rows  columns  components  scikit-learn     vb  ratio  collapsed-stick"
    )
    for shape in TABLES:
        theirs = scikit_learn(draw("NormalGamma", *shape[:2]), shape[2])
        ours, stick = (State(m, shape).seconds(N_ITERATIONS) for m in ("vb", "collapsed-stick"))
        print(
            f"{shape[0]:>7} {shape[1]:>8} {shape[2]:>11} {1e3 * theirs:>13.2f} {1e3 * ours:>6.2f} "
            f"{theirs / ours:>6.1f} {1e3 * stick:>16.2f}"
        )


if __name__ == "__main__":
    main()
