"""The rows of a table as inference sees them: values and a weight each.

A table is dense or sparse. Plain twins always see full rows; kernels may read the non-zeros alone.
"""

from dpmlite.core.protocols import Values


class Rows:
    """Rows of a dense table.

    Parameters
    ----------
    X : sequence of rows, (N, D)
        Values; NaN is a missing value.
    weights : sequence of float, length N, optional
        Number of equal rows, with one label, that row i stands for; all positive. Default: 1.

    Attributes
    ----------
    n_columns : int
        D.
    is_sparse : bool
        Whether only non-zeros are stored.
    n_cells : int
        Cells that sweeps read: the non-zeros of a sparse table, else all.

    Raises
    ------
    ValueError
        If there are not as many weights as rows, or a weight is not positive.
    """

    def __init__(self, X: Values, weights: Values | None = None) -> None:
        self.n_columns = len(X[0]) if len(X) else 0
        self.is_sparse = False
        self._values = [[float(x) for x in row] for row in X]
        self._weights = _checked_weights(weights, len(X))

    @classmethod
    def sparse(
        cls,
        data: Values,
        indices: Values,
        indptr: Values,
        n_columns: int,
        weights: Values | None = None,
    ) -> "Rows":
        """Rows of a table in compressed sparse row format, as of scipy.sparse.

        Parameters
        ----------
        data : sequence of float
            The non-zeros, row after row.
        indices : sequence of int
            The column of each; no column twice in a row.
        indptr : sequence of int, length N + 1
            Row i has the non-zeros from ``indptr[i]`` to ``indptr[i + 1] - 1``.
        n_columns : int
            D.
        weights : sequence of float, length N, optional
            As of dense rows.

        Returns
        -------
        Rows

        Raises
        ------
        ValueError
            If the parts do not fit together, or weights are wrong.
        """
        _check_parts(data, indices, indptr, n_columns)
        X = []
        for i in range(len(indptr) - 1):
            row = [0.0] * n_columns
            for at in range(indptr[i], indptr[i + 1]):
                row[indices[at]] = float(data[at])
            X.append(row)
        rows = cls(X, weights)
        rows.n_columns, rows.is_sparse = n_columns, True
        return rows

    @property
    def n_cells(self) -> int:
        """Cells that sweeps read: of a sparse table the non-zeros, else all."""
        if self.is_sparse:
            return sum(x != 0.0 for row in self._values for x in row)
        return len(self) * self.n_columns

    def __len__(self) -> int:
        return len(self._values)

    def values(self, i: int) -> list[float]:
        """The values of row `i` in all columns."""
        self._check_row(i)
        return self._values[i]

    def weight(self, i: int) -> float:
        """Number of equal rows that row `i` stands for."""
        self._check_row(i)
        return self._weights[i]

    def take(self, rows: Values) -> "Rows":
        """Copies of some rows, side by side in double precision, which are faster to read.

        Parameters
        ----------
        rows : sequence of int
            Their indices, in any order.

        Returns
        -------
        Rows

        Raises
        ------
        IndexError
            If a row is not in 0..N-1.
        """
        for i in rows:
            self._check_row(i)
        taken = Rows([self._values[i] for i in rows], [self._weights[i] for i in rows])
        taken.n_columns, taken.is_sparse = self.n_columns, self.is_sparse
        return taken

    def _check_row(self, i: int) -> None:
        if not 0 <= i < len(self):
            raise IndexError(f"rows must be in 0..{len(self) - 1}, got {i}")


def as_rows(X: "Rows | Values") -> Rows:
    """Rows of a table, which may be Rows already.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)

    Returns
    -------
    Rows
    """
    return X if isinstance(X, Rows) else Rows(X)


def _checked_weights(weights: Values | None, n_rows: int) -> list[float]:
    if weights is None:
        return [1.0] * n_rows
    if len(weights) != n_rows:
        raise ValueError(f"weights must have {n_rows} values, got {len(weights)}")
    for w in weights:
        if not w > 0.0:
            raise ValueError(f"weights must be positive, got {float(w)}")
    return [float(w) for w in weights]


def _check_parts(data: Values, indices: Values, indptr: Values, n_columns: int) -> None:
    if len(indptr) < 1 or indptr[0] != 0:
        raise ValueError("indptr must start with 0")
    for i in range(len(indptr) - 1):
        if indptr[i + 1] < indptr[i]:
            raise ValueError(f"indptr must not fall, got {indptr[i + 1]} after {indptr[i]}")
    n_values = indptr[len(indptr) - 1]
    if len(data) != n_values or len(indices) != n_values:
        raise ValueError(
            f"data and indices must have {n_values} values, got {len(data)} and {len(indices)}"
        )
    for j in indices:
        if not 0 <= j < n_columns:
            raise ValueError(f"indices must be in 0..{n_columns - 1}, got {j}")
