"""Start values from the first rows: what a learner needs to be told of a sensor, in integers.

    scale = Scale(readings)        # a few hundred rows of ints, whatever their units
    m = learner([scale(r) for r in readings], 12)
    m.learn(scale(reading))        # and so on

It takes a while, and memory; what it finds can be written into a program instead.
"""

# The variance inside a cluster is sought among these parts of a column's, a quarter and less.
_PARTS = 4, 16, 64, 256, 1024
_A0 = 8


class Scale:
    """Turns readings into rows of a learner: of mean 0, and standard deviation 256 in a column.

    Parameters
    ----------
    readings : list of lists of int
        Rows. A column that does not vary is only centred.

    Attributes
    ----------
    offset, spread : lists of int
        Mean and standard deviation of every column, rounded down.
    """

    def __init__(self, readings):
        n = len(readings)
        if n < 2:
            raise ValueError("readings: two rows or more")
        self.offset = [sum(x[d] for x in readings) // n for d in range(len(readings[0]))]
        self.spread = []
        for d, mean in enumerate(self.offset):
            squares = sum((x[d] - mean) * (x[d] - mean) for x in readings)
            self.spread.append(_root(squares // n))

    def __call__(self, reading):
        """The row of a reading, a new list of ints of -2048..2047."""
        x = []
        for d, sd in enumerate(self.spread):
            y = reading[d] - self.offset[d]
            x.append(max(-2048, min(2047, y * 256 // sd if sd else y)))
        return x


def learner(rows, clusters, MAPDPM=None):
    """A learner that has learned `rows`, with the b0 under which they surprised it least in all.

    Parameters
    ----------
    rows : list of lists of int
        Rows of a `Scale`, in the order in which they were read.
    clusters : int
        Slots.
    MAPDPM : class, optional
        That of `mapdpm_int`, by default, or of `mapdpm_viper`.
    """
    if MAPDPM is None:
        from mapdpm_int import MAPDPM
    dim = len(rows[0])
    best = None
    least = 0
    for part in _PARTS:
        m = MAPDPM(dim, clusters, [0] * dim, [_A0 * 65536 // part] * dim, a0=(_A0, 1))
        total = 0
        for x in rows:
            total += m.surprise(x)
            m.learn(x, False)
        if best is None or total < least:
            best = m
            least = total
    return best


def _root(y):
    """The square root of y, rounded down (Newton's method)."""
    root = y
    better = y + 1 >> 1
    while better < root:
        root = better
        better = root + y // root >> 1
    return root
