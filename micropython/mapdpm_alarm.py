"""An alarm for a learner: rows that are more surprising than all but one in `rate` usual ones.

The limit follows the quantile of the surprise: it rises by a step with a usual row above it, and
falls by 1 / (rate - 1) of the step with any other. So one usual row in `rate` is above it in the
long run, whatever the distribution. Integers only; nothing is allocated, but by the learner of
`mapdpm_float`. It works with that and those of `mapdpm_int`, `mapdpm_viper` and `mapdpm_native`.
"""

# The step in 2^-16 bit, and by how much, in 2^-8 bit, surprise must be below the limit to end an
# alarm.
_STEP = 32768
_LESS = 256


class Alarm:
    """Tells whether rows are usual, and lets a learner learn those that are.

    Parameters
    ----------
    learner : MAPDPM
    rate : int
        One usual row in so many raises an alarm, 2..4096.
    learning : int
        Rows, 16..16384, that are learned at first, and after an alarm that ended for its length.
        None of them raises an alarm.
    patience : int
        Rows of an alarm after which what happens is held to be usual, and learned. Until then rows
        of an alarm are not learned: a fault stays a fault.

    Attributes
    ----------
    on : bool
        Whether there is an alarm.
    surprise : int
        Surprise of the last row, before it was learned, in 1/256 bit.
    limit : int
        Surprise above which an alarm begins, in 1/256 bit.
    """

    def __init__(self, learner, rate=256, learning=1024, patience=1024):
        if not (2 <= rate <= 4096 and 16 <= learning <= 16384 and patience > 0):
            raise ValueError("rate 2..4096, learning 16..16384, patience > 0")
        self.learner = learner
        self.on = False
        self.surprise = self.limit = 0
        self._rate = rate
        self._learning = self._left = learning
        self._patience = patience
        self._lasted = 0
        self._limit = 0  # in 2^-16 bit

    def step(self, x):
        """Judge row `x`, and learn it if it is usual; return its label.

        The label of a row that is not learned is that which `predict` returns.
        """
        self.surprise = int(self.learner.surprise(x))
        if self._left:
            self._learn_limit()
        elif self.on:
            self._go_on()
        else:
            self._watch()
        self.limit = self._limit >> 8
        if not self.on:
            return self.learner.learn(x, False)
        best = self.learner._best  # what `predict` would look for once more
        return -1 if best == len(self.learner.counts) else best

    def _learn_limit(self):
        """Move the limit by large steps first, but never above the surprise."""
        step = _STEP * (1 + 32 * self._left // self._learning)
        self._left -= 1
        if self.surprise << 8 > self._limit:
            self._limit = min(self._limit + step, self.surprise << 8)
        else:
            self._limit -= step // (self._rate - 1)

    def _go_on(self):
        """End an alarm that is over, or too long; the limit stays."""
        self._lasted += 1
        if self.surprise <= self.limit - _LESS:
            self.on = False
        elif self._lasted > self._patience:
            self.on = False
            self._left = self._learning

    def _watch(self):
        """Raise an alarm above the limit, and let that follow."""
        self.on = self.surprise > self.limit
        self._lasted = 1
        if self.on:
            self._limit += _STEP
        else:
            self._limit -= _STEP // (self._rate - 1)
