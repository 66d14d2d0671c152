"""dpmlite: clustering without being told the number of clusters.

MAP inference in Dirichlet process mixtures; a sweep costs about what an iteration of k-means does.
Start with `MAPDPM`.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dpmlite.core.implementation import implementation
from dpmlite.estimators.fitted.not_fitted import NotFittedError
from dpmlite.estimators.inputs.limits import ConvergenceWarning
from dpmlite.estimators.mapdpm import MAPDPM

if TYPE_CHECKING:
    from dpmlite import datasets as datasets
    from dpmlite import diagnostics as diagnostics
    from dpmlite import plotting as plotting
    from dpmlite import teaching as teaching
    from dpmlite.boards import Quantized, from_micropython, quantize, to_micropython
    from dpmlite.estimators.bhc import BayesianHierarchicalClustering
    from dpmlite.estimators.collapsed_gibbs import CollapsedGibbs
    from dpmlite.estimators.consensus import Consensus, consensus_partition
    from dpmlite.estimators.dpmeans import DPMeans
    from dpmlite.estimators.dpsearch import DPSearch
    from dpmlite.estimators.exact import ExactPosterior, exact_posterior, log_evidence_exact
    from dpmlite.estimators.functions import crp_log_prob, crp_sample, neg_log_joint, neg_log_loo
    from dpmlite.estimators.merge_models import merge_models
    from dpmlite.estimators.variational import VariationalDPM
    from dpmlite.tables import Table, read_table

__version__ = "0.1.0"

__all__ = [
    "MAPDPM",
    "BayesianHierarchicalClustering",
    "CollapsedGibbs",
    "Consensus",
    "ConvergenceWarning",
    "DPMeans",
    "DPSearch",
    "ExactPosterior",
    "NotFittedError",
    "Quantized",
    "Table",
    "VariationalDPM",
    "consensus_partition",
    "crp_log_prob",
    "crp_sample",
    "exact_posterior",
    "from_micropython",
    "implementation",
    "log_evidence_exact",
    "merge_models",
    "neg_log_joint",
    "neg_log_loo",
    "quantize",
    "read_table",
    "to_micropython",
]

# Other public names, by module. A module is imported when a name of it is used for the first time:
# most programs need one estimator.
MODULES = ("datasets", "diagnostics", "plotting", "teaching")
HOMES = {
    "boards": ("Quantized", "from_micropython", "quantize", "to_micropython"),
    "estimators.bhc": ("BayesianHierarchicalClustering",),
    "estimators.collapsed_gibbs": ("CollapsedGibbs",),
    "estimators.consensus": ("Consensus", "consensus_partition"),
    "estimators.dpmeans": ("DPMeans",),
    "estimators.dpsearch": ("DPSearch",),
    "estimators.exact": ("ExactPosterior", "exact_posterior", "log_evidence_exact"),
    "estimators.functions": ("crp_log_prob", "crp_sample", "neg_log_joint", "neg_log_loo"),
    "estimators.merge_models": ("merge_models",),
    "estimators.variational": ("VariationalDPM",),
    "tables": ("Table", "read_table"),
}


def __getattr__(name: str) -> Any:
    """Import the module of a public name at its first use."""
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    for home, names in HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    modules = {name for name, value in globals().items() if isinstance(value, ModuleType)}
    public = {name for name in modules if not name.startswith("_")}
    return sorted({"__doc__", "__version__", *public, *MODULES, *__all__})
