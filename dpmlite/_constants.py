"""Thresholds that a plain twin and its kernel share, in one section for each module.

A threshold decides what is tried, so both twins must use the same value. A number that only saves
time or memory in a kernel stays in the kernel.
"""

# --- division: dividing the rows of some clusters anew ---

# Sweeps over a proposed division, at most. Most divisions come to rest or are given up earlier.
MAX_SETTLE_SWEEPS = 10

# A division is given up if this many further sweeps, each lowering the joint as much as the last
# one did, would not bring the joint below its goal.
MAX_SWEEPS_TO_GOAL = 4.0

# A trial takes every step-th row, with the least step that leaves at most this many: enough to
# compare divisions, and few enough that a trial is cheap beside a sweep over all rows.
TRIAL_ROWS = 1000

# The step is never larger: fewer rows of a very large cluster tell nothing of the clusters in it.
MAX_TRIAL_STEP = 16

# A thorough trial takes at most this many rows, in steps of a power of two. A prior that is wide
# beside the clusters outweighs what a thousand rows tell; these rows still fit a cache.
MAX_THOROUGH_ROWS = 50_000

# --- split: dividing one cluster ---

# A cluster is tried again once more than this fraction of its rows have come or gone since it was
# tried last. Fewer rows seldom change the answer.
MIN_CHANGED_FRACTION = 0.01

# Thorough splits compare starts on more rows only of clusters with a greater fraction of all rows:
# smaller clusters may be many, and the table large.
MIN_THOROUGH_FRACTION = 1 / 16

# The fractions of a cluster's rows, least typical first, that are proposed as a cluster: a half for
# overlapping clusters of unequal widths, a tenth for a small cluster of outliers.
ATYPICAL_FRACTIONS = (0.5, 0.1)

# --- runs: the best division into runs along a column ---

# Columns whose runs are found, at most: those with the greatest bimodality.
MAX_RUN_COLUMNS = 3

# A column is asked if its bimodality is greater: 1/3 for a normal density, 5/9 for a uniform one, 1
# for two values.
MIN_BIMODALITY = 0.45

# Bimodalities that differ by less are equal. Rounding makes smaller differences.
BIMODALITY_TIE = 1e-6

# There are SLICE_FACTOR * sqrt(n_rows / n_columns) slices, at most MAX_SLICES. To compare all runs
# of them then takes SLICE_FACTOR^2 / 2 operations a row at most, about as long as reading the rows.
SLICE_FACTOR = 4
MAX_SLICES = 64

# --- normality: whether the rows of a cluster are as those of one normal ---

# Nats a row that two separated parts of a column cost as entropy and that skewness and kurtosis do
# not show; log 2 is the most that it can be.
UNSEEN_ENTROPY = 0.6

# Bins of half a standard deviation; the first and the last are open. Their number is odd, so that
# the mean is in the middle of a bin: rows of whole numbers often lie there.
N_BINS = 11

# Degrees of freedom of the bins: their sum, mean and variance are known.
BIN_DEGREES = N_BINS - 3

# A prior that expects clusters narrower than these rows would divide even normal rows. The test
# answers only if the prior is worth at most this fraction of the rows (a0 / n) ...
MAX_PRIOR_FRACTION = 0.02
# ... or the rows' variance is at most this many times the variance that the prior expects. Halves
# of a normal have 0.36 of its variance, which is worth less than log 2 a row up to 2.1 times.
MAX_VARIANCE_RATIO = 1.5

# The squares of the rows must be at least this fraction of the posterior's b: with less, rounding
# leaves too few digits of the variance.
MIN_SQUARES_FRACTION = 1e-6

# Rows that join a settled group may be at most this fraction of the cluster: the group has to say
# where rows should be.
MAX_JOINING_FRACTION = 0.5

# A settled fraction below this is rounding.
MIN_SETTLED_FRACTION = 1e-9

# Two columns must be present together in at least this many times the rows that chance would give.
# With less, rows are of different kinds.
MIN_COMPLETE_RATIO = 0.5

# Columns per row, at most. With more, chance makes correlations too large for any cluster to pass:
# the mean of -n log(1 - r^2) is about 1 + 1.5 / n, so all pairs exceed their degrees by 0.75 D^2 /
# n, more than the D log(1 + n) that a cluster costs. Their sums would also take more memory than
# the rows.
MAX_COLUMNS_PER_ROW = 16

# The least sum of squares of a row: it has a logarithm.
MIN_SQUARE = 1e-300

# The least fraction of a variance that is left unexplained: anything below is rounding.
MIN_UNEXPLAINED = 1e-12

# --- jain_neal: Metropolis-Hastings split-merge moves ---

# Uniforms before those of the proposal: two for the rows, one for the acceptance.
N_LEADING_UNIFORMS = 3
