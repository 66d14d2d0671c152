"""Tables as small ints, for the learner on boards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.arrays import as_floats, check_rows, is_masked
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.inputs.parameters import check_positive
from dpmlite.estimators.inputs.user_warnings import warn
from dpmlite.estimators.priors.moments import Moments, constant_columns

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Floats

#: A board takes ints from -LIMIT to LIMIT: those of 12 bits, but for one.
LIMIT = 2047


@dataclass(frozen=True, eq=False)
class Quantized:
    """A table as ints: ``rows = round((X - offset) / scale)``, clipped to -2047..2047.

    Attributes
    ----------
    rows : ndarray of int16, shape (N, D)
        The ints. A board's module that runs on a laptop takes Python ints: ``rows.tolist()``.
    scale : ndarray, shape (D,)
        Difference between the values of successive ints in each column.
    offset : ndarray, shape (D,)
        Value of the int 0.

    See Also
    --------
    quantize : Its function.

    Examples
    --------
    >>> import dpmlite
    >>> q = dpmlite.quantize([[20.0, 1000.0], [22.0, 1500.0], [24.0, 1700.0]])
    >>> q.rows.tolist()
    [[-314, -348], [0, 87], [314, 261]]
    >>> q.apply([[21.0, 1200.0]]).tolist()
    [[-157, -174]]
    >>> q.restore([[-157, -174]]).round(1).tolist()
    [[21.0, 1199.9]]
    """

    rows: npt.NDArray[np.int16]
    scale: Floats
    offset: Floats

    def apply(self, X: npt.ArrayLike) -> npt.NDArray[np.int16]:
        """Convert new rows to ints, with the same scale and offset.

        Parameters
        ----------
        X : array-like, shape (M, D)

        Returns
        -------
        ndarray of int16, shape (M, D)

        Warns
        -----
        UserWarning
            If values lie beyond -2047..2047 and are clipped; it says how many.

        Raises
        ------
        ValueError, TypeError
            If `X` is not a table of D columns of finite numbers.
        """
        return _quantized(self._table(X), self.scale, self.offset)

    def restore(self, rows: npt.ArrayLike) -> Floats:
        """Convert ints to values: ``rows * scale + offset``.

        Parameters
        ----------
        rows : array-like, shape (M, D)
            Ints, or means of ints: `MAPDPM.means_`.

        Returns
        -------
        ndarray, shape (M, D)
            Within half a `scale` of the values that were not clipped.

        Raises
        ------
        ValueError, TypeError
            As `apply`.
        """
        return self._table(rows) * self.scale + self.offset

    def _table(self, X: Any) -> Floats:
        rows = check_rows(X)
        if rows.shape[1] != len(self.scale):
            raise ValueError(f"X must have {len(self.scale)} columns, got {rows.shape[1]}")
        return rows


def quantize(
    X: npt.ArrayLike,
    *,
    amplitude: float = 256.0,
    scale: npt.ArrayLike | None = None,
    offset: npt.ArrayLike | None = None,
) -> Quantized:
    """Convert a table to ints for the learner on boards, each column by its own scale.

    Parameters
    ----------
    X : array-like, shape (N, D)
        Rows: finite numbers.
    amplitude : float, default 256
        Standard deviation of a column of ints, where `scale` is not given.
    scale : float or array-like, shape (D,), optional
        Difference between the values of successive ints. Default: the standard deviation of the
        column / `amplitude`, and 1 for a constant column.
    offset : float or array-like, shape (D,), optional
        Value of the int 0. Default: the mean of the column.

    Returns
    -------
    Quantized
        Ints, scale and offset; `Quantized.apply` converts new rows to ints in the same way.

    Warns
    -----
    UserWarning
        If values lie beyond -2047..2047 and are clipped; it says how many.

    Raises
    ------
    ValueError, TypeError
        If `X` or a parameter breaks its rule; the message states it.

    See Also
    --------
    to_micropython : A file of a fitted model for a board.

    Notes
    -----
    The default amplitude leaves room for 8 standard deviations either side of the mean. A cluster
    that is a hundred times narrower than its column is still 2.6 wide, and rounding, whose
    variance is 1/12, adds 1 % to its variance.

    More is no better. The learner for boards forgets half of what it knows of a cluster when a
    column's sum of y^2 in it reaches 500,000,000, where y is the distance to the prior mean
    ``m0``. For rows of root mean square r this is at 5e8 / r^2 rows: 7,629 for r = 256; 1,907
    for r = 512, a cluster two standard deviations from the mean of its column; 119 at the limit,
    2047. Half the amplitude holds four times the rows. A cluster has fewer than 16,000 / q rows
    anyway, where q is the denominator of ``c0``: up to 1,599 with the learner's own c0 = 1/10, so
    that amplitudes matter only where r > 559; up to 15,998 with c0 = 1, where r > 177.

    Examples
    --------
    >>> import numpy as np
    >>> import dpmlite
    >>> q = dpmlite.quantize([[20.0, 1.5], [22.0, 1.5], [24.0, 1.5]])
    >>> q.rows
    array([[-314,    0],
           [   0,    0],
           [ 314,    0]], dtype=int16)
    >>> q.apply([[23.0, 3.5]])
    array([[157,   2]], dtype=int16)
    """
    rows = check_rows(X)
    amplitude = check_positive("amplitude", amplitude)
    table = Data((rows.shape[0], rows.shape[1]), values=rows)
    scales = _scales(table, amplitude) if scale is None else scale
    offsets = Moments.of(table).means() if offset is None else offset
    scales = _per_column("scale", scales, rows.shape[1])
    offsets = _per_column("offset", offsets, rows.shape[1])
    bad = np.flatnonzero(scales <= 0.0)
    if len(bad):
        raise ValueError(f"scale must be positive, got {scales[bad[0]]} in column {bad[0]}")
    return Quantized(_quantized(rows, scales, offsets), scales, offsets)


def _scales(table: Data, amplitude: float) -> Floats:
    deviations = np.sqrt(Moments.of(table).variances(warn_constant=False))
    return np.where(constant_columns(table), 1.0, deviations / amplitude)


def _per_column(name: str, value: npt.ArrayLike, n_columns: int) -> Floats:
    if is_masked(value):
        raise ValueError(f"{name} must have no masked values")
    array = as_floats(name, value, ("column",)).reshape(np.shape(value))
    if array.shape not in ((), (n_columns,)):
        raise ValueError(f"{name} must have shape ({n_columns},), got {array.shape}")
    full = np.array(np.broadcast_to(array, (n_columns,)))
    bad = np.flatnonzero(~np.isfinite(full))
    if len(bad):
        raise ValueError(f"{name} must be finite, got {full[bad[0]]} in column {bad[0]}")
    return full


def _quantized(X: Floats, scale: Floats, offset: Floats) -> npt.NDArray[np.int16]:
    # Infinity is clipped like any other value.
    with np.errstate(over="ignore"):
        rows = np.rint((X - offset) / scale)
    beyond = np.abs(rows) > LIMIT
    if beyond.any():
        j = int(np.argmax(beyond.any(axis=0)))
        warn(
            f"{beyond.sum()} of {beyond.size} values lie beyond -{LIMIT}..{LIMIT} and are clipped, "
            f"column {j} first: a larger scale has room for them"
        )
    return np.clip(rows, -LIMIT, LIMIT).astype(np.int16)
