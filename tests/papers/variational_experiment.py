"""The variational columns of figures 5 and 6 of Xu, Heller & Ghahramani (2009), section 6.1.

    DPMLITE_DATA=FOLDER python3 tests/papers/variational_experiment.py PICTURES

prints tables and draws both figures into a folder; tree_tables.py says which tables it needs and
what the paper leaves open. alpha is 1, which the paper does not say; it truncates at 10 for the
synthetic sets, 20 for iris and wine, 40 for abalone. Every number is a mean of 10 random starts.

"VB" is Blei & Jordan's, "O-CSB" and "O-CDP" are the collapsed methods with components in order. Two
things are called bound here. What a method maximises, `lower_bound_`, is about a model that is not
the Dirichlet process: the truncated stick, or the finite Dirichlet; and the collapsed methods
approximate it. With an asterisk: `log_evidence_bound_`, what the same responsibilities prove of the
Dirichlet process. "best partition" is the joint of what `MAPDPM` finds, a bound as well.

VARIATIONAL holds the methods as other scripts take them: how to make a model, which attribute is
its bound, and the number of starts.
"""

import sys
from functools import cache, partial
from pathlib import Path

import numpy as np
from left_out import real_density, synthetic_density
from measures import table
from panels import draw_panels, styles_of
from tree_tables import REAL, SET_PRIOR, SETS, SIZES, draw_set, sample

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import naive_variational as naive
from families import CASES

from dpmlite import MAPDPM, VariationalDPM, exact_posterior
from dpmlite.estimators.priors import COMPONENTS
from dpmlite.plotting import COLOURS

N_STARTS, N_REAL, N_PROBLEMS = 10, 5, 300


class Start:
    """One random start of a method, truncated as in the paper."""

    def __init__(self, *, component="normal-gamma", prior=None, random_state=None, **parameters):
        self.parameters = {
            "component": component,
            "prior": prior,
            "random_state": random_state,
            "init": "random",
            **parameters,
        }

    def fit(self, X):
        n_components = 10 if len(X) < 10 else 20 if len(X) <= 180 else 40
        return VariationalDPM(n_components=n_components, **self.parameters).fit(X)


MAKE = {
    "VB": partial(Start, method="vb", reorder=False),
    "O-CSB": partial(Start, method="collapsed-stick"),
    "O-CDP": partial(Start, method="collapsed-dirichlet"),
}
VARIATIONAL = {
    **{f"{name}*": (make, "log_evidence_bound_", N_STARTS) for name, make in MAKE.items()},
    **{name: (make, "lower_bound_", N_STARTS) for name, make in MAKE.items()},
}


def bounds(X, prior):
    """{column: mean over starts}, both bounds of each method; and the best partition's joint."""
    found = {}
    for name, make in MAKE.items():
        models = [make(prior=prior, random_state=s).fit(X) for s in range(N_STARTS)]
        found[name] = np.mean([model.lower_bound_ for model in models])
        found[f"{name}*"] = np.mean([model.log_evidence_bound_ for model in models])
        found[f"{name}*, best"] = max(model.log_evidence_bound_ for model in models)
    found["best partition"] = -MAPDPM(prior=prior, random_state=0).fit(X).neg_log_joint_
    return found


def densities(train, test, prior):
    """{method: mean log density of rows left out}."""
    found = {
        name: np.mean([make(prior=prior, random_state=s).fit(train).score(test) for s in range(3)])
        for name, make in MAKE.items()
    }
    found["MAPDPM"] = MAPDPM(prior=prior, random_state=0).fit(train).score(test)
    return found


def synthetic_bounds(name, size):
    """Of the first rows of a set, as in Figure 5."""
    X = draw_set(name, max(SIZES), 0)[:size]
    exact = exact_posterior(X, alpha=1.0, prior=SET_PRIOR).log_evidence
    return {"exact": exact, **bounds(X, SET_PRIOR)}


# Families of whole tables that have expected log densities.
FAMILIES = [name for name in naive.TERMS if name in COMPONENTS]


@cache
def priors(name):
    """The default prior of `MAPDPM`, and that with scales of the best joint, of a real table."""
    X = sample(name, max(REAL[name]), 0)
    return {
        kind: MAPDPM(prior=prior, random_state=0).fit(X).prior_
        for kind, prior in (("wide", None), ("chosen", "nll"))
    }


def real_bounds(name, size, kind):
    return bounds(sample(name, size, 0), priors(name)[kind])


def counts_above(n_problems):
    """How often each bound lies above what it is, or is not, a bound of; random problems."""
    found = {name: dict.fromkeys(("own model", "process", "process*"), 0) for name in MAKE}
    for seed in range(n_problems):
        rng = np.random.default_rng(seed)
        case = CASES[FAMILIES[seed % len(FAMILIES)]]
        prior, X = case.prior(rng, 2), case.draw(rng, int(rng.integers(2, 7)), 2)
        alpha, n_components = float(rng.choice([0.2, 1.0, 5.0])), int(rng.integers(2, 5))
        given = {"component": case.name, "alpha": alpha, "prior": prior}
        process = exact_posterior(X, **given).log_evidence
        for name, make in MAKE.items():
            dirichlet = name == "O-CDP"
            log_prior = naive.log_prior_dirichlet if dirichlet else naive.log_prior_sticks
            own = naive.log_evidence(case, X, prior, alpha, n_components, log_prior)
            parameters = {**make(random_state=seed).parameters, **given}
            model = VariationalDPM(n_components=n_components, **parameters).fit(X)
            found[name]["own model"] += model.lower_bound_ > own + 1e-9
            found[name]["process"] += model.lower_bound_ > process + 1e-9
            found[name]["process*"] += model.log_evidence_bound_ > process + 1e-9
    return found


def report():
    """Print every table; returns {figure: {panel: {rows: {column: value}}}}."""
    figures = {"5": {}, "6": {}}
    title = f"Of {N_PROBLEMS} random problems, the bound lies above the evidence of:"
    print(table(title, counts_above(N_PROBLEMS), 0))
    for name in SETS:
        figures["5"][name] = {size: synthetic_bounds(name, size) for size in SIZES}
        figures["6"][name] = {n: synthetic_density(densities, name, n) for n in SIZES}
        print(table(f"Figure 5, {name}: log evidence and bounds.", figures["5"][name], 3))
    for name, sizes in REAL.items():
        for kind in ("wide", "chosen"):
            found = {size: real_bounds(name, size, kind) for size in sizes}
            print(table(f"Figure 5, {name}, {kind} prior: bounds.", found, 2))
        figures["5"][name] = found
        prior = priors(name)["chosen"]
        figures["6"][name] = {n: real_density(densities, name, n, prior, N_REAL) for n in sizes}
    for name, found in figures["6"].items():
        print(table(f"Figure 6, {name}: mean log density of rows left out.", found, 3))
    return figures


def draw(figures, folder):
    """Both figures, a panel for each table; bounds less the best partition's joint."""
    for number, panels in figures.items():
        less = "best partition" if number == "5" else None
        path = folder / f"variational-figure-{number}.png"
        draw_panels(panels, path, styles(panels), lambda _, less=less: less)


def styles(panels):
    """A colour for each method, dashed with an asterisk; the best of random starts is left out."""
    looks = {}
    for column in styles_of(panels):
        method = column.rstrip("*")
        colour = COLOURS[list(MAKE).index(method)] if method in MAKE else "0.5"
        if not column.endswith("best"):
            looks[column] = {
                "color": "black" if column == "exact" else colour,
                "linestyle": "dashed" if column.endswith("*") else "solid",
            }
    return looks


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    draw(report(), folder)
    print(f"drew {', '.join(sorted(path.name for path in folder.glob('variational-*.png')))}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
