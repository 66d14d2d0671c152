"""MAP-DPM on the chunks of Dask arrays and data frames: the extra ``dpmlite[dask]``."""

try:
    from dpmlite.dask.estimator import DaskMAPDPM
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"dpmlite.dask needs Dask, which 'pip install dpmlite[dask]' installs: {error}"
    ) from error

__all__ = ["DaskMAPDPM"]
