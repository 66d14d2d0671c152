"""Tables with known clusters: seeded generators, and the table that is shipped."""

from dpmlite.datasets.generators import crp_mixture, dpm_sample, planted_gaussians
from dpmlite.datasets.mixtures import RandomMixture, dpm_mixture, unequal_gaussians
from dpmlite.datasets.sensors import load_sensors, machine_states

__all__ = [
    "RandomMixture",
    "crp_mixture",
    "dpm_mixture",
    "dpm_sample",
    "load_sensors",
    "machine_states",
    "planted_gaussians",
    "unequal_gaussians",
]
