"""Sweeps over the rows: MAP-DPM's coordinate moves, collapsed Gibbs sampling, assignment."""

from typing import TYPE_CHECKING

from dpmlite.core.implementation import PURE

if TYPE_CHECKING or PURE:
    from dpmlite.sweeps.assignment import assign
    from dpmlite.sweeps.gibbs import gibbs_sweep
    from dpmlite.sweeps.map_dpm import converge, sweep
    from dpmlite.sweeps.unreinforced import unreinforced_sweep
else:
    from dpmlite.sweeps._assignment import assign
    from dpmlite.sweeps._gibbs import gibbs_sweep
    from dpmlite.sweeps._map_dpm import converge, sweep
    from dpmlite.sweeps._unreinforced import unreinforced_sweep

__all__ = [
    "assign",
    "converge",
    "gibbs_sweep",
    "sweep",
    "unreinforced_sweep",
]
