"""dpmlite: clustering without being told the number of clusters.

MAP inference in Dirichlet process mixtures, as fast as k-means. Start with `MAPDPM`.
"""

from typing import TYPE_CHECKING, Any

from dpmlite._implementation import implementation, require_kernels
from dpmlite._loading import find_kernels

find_kernels()
require_kernels()

from dpmlite.estimators import (  # noqa: E402
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPMeans,
    DPSearch,
    ExactPosterior,
    NotFittedError,
    VariationalDPM,
    crp_log_prob,
    crp_sample,
    exact_posterior,
    log_evidence_exact,
    merge_models,
    neg_log_joint,
    neg_log_loo,
)

if TYPE_CHECKING:
    from dpmlite.boards import Quantized, quantize, to_micropython

__version__ = "0.1.0"

__all__ = [
    "MAPDPM",
    "BayesianHierarchicalClustering",
    "CollapsedGibbs",
    "DPMeans",
    "DPSearch",
    "ExactPosterior",
    "NotFittedError",
    "Quantized",
    "VariationalDPM",
    "crp_log_prob",
    "crp_sample",
    "exact_posterior",
    "implementation",
    "log_evidence_exact",
    "merge_models",
    "neg_log_joint",
    "neg_log_loo",
    "quantize",
    "to_micropython",
]


def __getattr__(name: str) -> Any:
    """What few need is imported when it is asked for: the way to boards."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dpmlite import boards

    return getattr(boards, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
