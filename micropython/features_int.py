"""Features of a signal, window by window, in integers: what a learner should see of what shakes.

    window = Window(26, bands=2)
    if window.add(magnitude(x, y, z) >> 2):  # 26 samples a second: once a second
        m.learn(window.values)

One sample after the other, without a number of 2^30 or more; nothing is allocated. It needs
`mapdpm_int` beside it, for its logarithm.
"""

from mapdpm_int import _log2


def magnitude(x, y, z):
    """Length of a vector of ints of -18918..18918, rounded down: it does not turn with a board."""
    rest = x * x + y * y + z * z
    root = 0
    bit = 1 << 28  # of the square; a bit of the root, from the highest on, takes two
    while bit:
        if rest < root + bit:
            root >>= 1
        else:
            rest -= root + bit
            root = (root >> 1) + bit
        bit >>= 2
    return root


class Window:
    """Features of a window of samples, which are ints of -2048..2047; others are clipped.

    Parameters
    ----------
    samples : int
        Samples of a window, 4..63, and 2^bands at least.
    bands : int
        Number of Haar bands, 0..4.
    noise : int
        Deviation of a sample that means nothing, 1..2047: crossings must be larger, and logarithms
        of less are no longer told apart.

    Attributes
    ----------
    values : list of int
        Features of the last full window, each in -2048..2047, for a learner of 4 + `bands` columns:

        - its mean;
        - log2 of its standard deviation, in 1/128;
        - log2 of the root mean square of the difference between a sample and the next, in 1/128;
        - how often it crossed the mean of the window before, times 32;
        - for each band, log2 of the root mean square of its Haar coefficients, in 1/128. Those of
          band j compare 2^j samples with the next 2^j: of s samples a second, they are about
          rhythms of s / 2^(j+1) hertz.
    """

    def __init__(self, samples, bands=0, noise=1):
        if not (4 <= samples <= 63 and 0 <= bands <= 4 and samples >> bands and 0 < noise < 2048):
            raise ValueError("samples 4..63, bands 0..4, 2^bands <= samples, noise 1..2047")
        self.values = [0] * (4 + bands)
        self._size = samples
        self._noise = noise
        # Samples so far; the first of the window, the last one, and the mean of the window before.
        self._n = self._first = self._last = self._mean = 0
        # Sum and sum of squares from the first sample on, of squares of differences; crossings, and
        # on which side of the mean the samples are, 1 or -1.
        self._sum = self._squares = self._steps = self._crossings = self._side = 0
        # For every band the half of a coefficient that waits for the other, and a sum of squares.
        self._bands = [0] * (2 * bands)

    def add(self, a):
        """Take a sample; return whether a window is full now, whose features are `values`."""
        a = max(-2048, min(2047, a))
        if not self._side:
            self._side = 1
            self._last = self._mean = a
        if not self._n:
            self._first = a
        y = a - self._first
        self._sum += y
        self._squares += y * y
        y = a - self._last
        self._steps += y * y
        self._last = a
        if (a - self._mean) * self._side < -self._noise:
            self._side = -self._side
            self._crossings += 1
        self._transform(a)
        self._n += 1
        if self._n < self._size:
            return False
        self._finish()
        return True

    def _transform(self, a):
        """A step of the Haar transform: of a sum of 2^j samples the next band makes one of twice.

        What a coefficient adds is its square, of an orthonormal transform.
        """
        n = self._n
        j = 0
        while j < len(self._bands):
            if not n & 1:
                self._bands[j] = a
                return
            y = self._bands[j] - a
            a += self._bands[j]
            j += 2
            self._bands[j - 1] += y * y >> (j >> 1)
            n >>= 1

    def _finish(self):
        """Make the features, and begin a window."""
        x = self.values
        n = self._size
        m = self._sum // n
        r = self._sum - m * n
        x[0] = self._mean = self._first + m
        x[1] = self._log((self._squares - m * (self._sum + r) - r * r // n) // n)
        x[2] = self._log(self._steps // n)
        x[3] = self._crossings * 32
        for j in range(4, len(x)):
            n >>= 1
            x[j] = self._log(self._bands[2 * j - 7] // n)
            self._bands[2 * j - 7] = 0
        self._n = self._sum = self._squares = self._steps = self._crossings = 0

    def _log(self, y):
        """Log2 of the root of a mean square, in 1/128."""
        return _log2(y + self._noise * self._noise) >> 10
