"""MAP-DPM on the chunks of Dask arrays and data frames: the extra ``dpmlite[dask]``."""

from dpmlite.dask.estimator import DaskMAPDPM

__all__ = ["DaskMAPDPM"]
