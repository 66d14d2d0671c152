"""Types of parameters, for editors and type checkers: most are one of a few names."""

from typing import Any, Literal

#: A family for all columns, or "auto".
Component = Literal[
    "auto",
    "normal-gamma",
    "normal-inverse-wishart",
    "normal-known-variance",
    "dirichlet-multinomial",
    "beta-bernoulli",
    "log-normal",
    "categorical",
    "poisson-gamma",
    "zero-inflated-normal",
    "zero-inflated-log-normal",
]

Auto = Literal["auto"]

#: Hyperparameters of a family, by name.
Prior = dict[str, Any]

#: How hyperparameters are chosen.
PriorChoice = Literal["auto", "paper"]
PriorOrScales = Literal["auto", "paper", "nll"]

AlphaChoice = Literal["map", "mode", "nll", "loo", "cv"]
SearchedAlpha = Literal["nll"]
AlphaPrior = Literal["inverse-gamma"]

Scoring = Literal["trivial", "tight", "inadmissible"]
PriorScore = Literal["partition", "sizes"]
Order = Literal["ascending", "descending", "random", "given"]
Refinement = Literal["quick"]

VisitOrder = Literal["fixed", "random"]

SplitMerge = Literal["random", "restricted", "interleaved"]

TreeApproximation = Literal["bayes-kmeans", "map-dpm", "randomized"]

VariationalComponent = Literal[
    "auto",
    "normal-gamma",
    "normal-inverse-wishart",
    "normal-known-variance",
    "dirichlet-multinomial",
    "beta-bernoulli",
    "log-normal",
    "categorical",
    "poisson-gamma",
]
VariationalMethod = Literal["vb", "collapsed-stick", "collapsed-dirichlet"]
