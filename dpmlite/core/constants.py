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

# Rows that join an absorbed group may be at most this fraction of the cluster: the group has to say
# where rows should be.
MAX_JOINING_FRACTION = 0.5

# An absorbed fraction below this is rounding.
MIN_ABSORBED_FRACTION = 1e-9

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

# core/special

LOG_2 = 0.6931471805599453
LOG_PI = 1.1447298858494002
LOG_2PI = 1.8378770664093456
LEAST_LOG = -700.0  # e to less than this counts as nothing

# families/student_t

# A value further than this from m0, in units of the prior, counts as lying there: products of
# eight factors 1 + t, and of eight posterior rates, then stay below the largest double.
REACH = 2.0**29

LEAST_FACTOR = 1e-18  # keeps products above 0; what is below is rounding

# families/whitening

# A column of psi0 that is left this part of its variance, given those before it, depends on them.
LEAST_PIVOT = 2.0**-40


# families/component

# A removal may leave this part of a slot's weight; and all of them together, since the slot was
# built, this part of whatever else they take from. Of less, ten bits or more would be rounding.
LEAST_KEPT = 2.0**-10

# What a removal leaves of a count is rounding if it is no more than this part of it: weights that
# are no whole numbers need not cancel to the last bit. Small counts may have been larger, and what
# they were rounded by is still in them: of these it is as much as 2^-30 of the count, or of 1.
ROUNDING = 2.0**-45

ROUNDING_BELOW_1 = 2.0**-30
SLACK = 1e-13  # several roundings: of the same number, found in two ways

# families/normal_gamma

HALF_OF_KEPT = 0.03125  # the square root of LEAST_KEPT
LOG_HALF_OF_KEPT = -3.4657359  # and the logarithm of that

# families/normal_known_variance

# A value further than this from m0, in units of sqrt(sigma2), counts as lying there. Costs grow
# with the square of the distance: beyond it, their rounding would be wider than a tie.
KNOWN_REACH = 2.0**12


# families/polya_terms

LEAST_URN = 4.656612873077393e-10  # 2^-31, and its inverse
LARGEST_URN = 2147483648.0
INTEGERS = 6755399441055744.0  # 1.5 2^52: a sum with it is whole

# families/dirichlet_multinomial

# Of the factors of a rising factorial, those that bounds look at one by one.
FEW_FACTORS = 64

SINGLE_ROUNDING = 1.1920928955078125e-07  # 2^-23

# partition/concentration

# Newton's method ends with a step of log alpha that is below this, a few roundings; relative to
# log alpha if that is above 1.
MIN_NEWTON_STEP = 1e-13

# The largest step of log alpha.
MAX_NEWTON_STEP = 4.0

# Steps, at most. Newton's method needs fewer.
MAX_NEWTON_ITERATIONS = 200

# The concentration from which on four terms of Stirling's series are exact to double precision.
MIN_STIRLING_ALPHA = 100.0


# algorithms/mixing

NO_WEIGHT = -1e300  # log weight of components that only fill a vector

# partition/partition

# Costs closer than this (nats) are equal: the lower slot wins, and a row stays where it is.
# It is far above rounding and far below anything that matters, so every implementation takes
# the same decisions, and none moves a row for ever between equals.
TIE = 1e-8

# The label of a row that is in no cluster yet.
UNPLACED = -1

# The largest label: memory holds statistics of fewer clusters.
MAX_LABEL = 2**31 - 1

# The weight of the other rows of a slot is the slot's less the row's. Below this fraction of the
# row's weight, the difference has too few digits, and so has what the sums of the slot tell of the
# others: both are then found from the other rows.
MIN_OTHERS_FRACTION = 2.0**-20


# sweeps/screening_bounds

HUGE_COST = 1e30
TWO_THIRDS = 0.6666667
MAX_VALUE = 536870912.0  # REACH of student_t.pxi in single precision
BOUND_ROUNDING = 1e-06  # relative error of several single-precision operations

# sweeps/screening

SINGLE_EPSILON = 1.2e-07  # two roundings to single precision
SINGLE_ERROR = 1e-06  # relative error of several such operations
MAX_POWER = 1e30  # of which bounds are within single precision
MAX_LINE_END = 0.25  # L: the line is at most a ninth below the logarithm

# sweeps/slot_drift

MAX_SLOPE = 2.75
MAX_DRIFT = 1.0  # of one change; no row is known to stay after so much

# sweeps/drifting_slots

DRIFT_ROUNDING = 2e-06  # rounding error of drift below 32 in single precision

# sweeps/stay_bounds

MAX_ALLOWED_DRIFT = 0.5  # of `allowed_drifts`
FAR_DRIFT = 0.125  # drift of a far slot
STAGE_DRIFT = 0.05  # drift in a stage after which another may begin
SWEEP_DRIFT = 1.0  # if all stages of the sweep drifted less than this

# sweeps/gibbs

# Slots that cost so much more (nats) than the cheapest have probability 0. Each would have less
# than e^-40 = 2^-57.7, and a uniform is a multiple of 2^-53: such a slot's part of [0, 1) is
# narrower than a twentieth of the step between two uniforms, less than the rounding of the sum
# that it is a term of.
NEGLIGIBLE = 40.0


# algorithms/bhc

NOBODY = -1

# algorithms/dp_means

# Squared distances that differ by less than this part of them, and of the row's from the mean of
# all rows, are equal: rounding must not decide which centre is nearest, here and in the kernel.
EQUAL_PART = 1e-10

EQUAL_PART_OF_ROW = 1e-20

# algorithms/exact

# A row more costs three times as long.
MOST_ROWS = 13


# algorithms/variational

# A component is put before another if it is larger by this part of all rows: not by rounding.
LARGER = 1e-9


# algorithms/max_queue

# What scores are rounded to, as a power of 2: somewhat more than a tie.
GRID = 2.0**26


# algorithms/shared_clusters

# Slots that belong to no clustering: the prior, and room for a cluster that is only looked at.
EMPTY = 0

SPARE = 1
