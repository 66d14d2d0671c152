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

# core/special

LOG_2 = 0.6931471805599453
LOG_PI = 1.1447298858494002
LOG_2PI = 1.8378770664093456
LEAST_LOG = -700.0  # e to less than this counts as nothing

# --- families/student_t: Student-t densities ---

# A value further than this from m0, in units of the prior, counts as lying there: products of
# eight factors 1 + t, and of eight posterior rates, then stay below the largest double.
MAX_PRIOR_UNITS = 2.0**29

# Factors of a product are at least this, so that the product has a logarithm. Smaller ones are
# rounding.
MIN_FACTOR = 1e-18

# --- families/whitening: units of a prior of columns that vary together ---

# A column of psi0 depends on those before it if they leave at most this fraction of its variance.
MIN_PIVOT = 2.0**-40

# --- families/component: what all families share ---

# The least fraction that a removal may leave of a slot's weight, and that all removals together may
# leave, since the slot was built, of the family's other statistics. With less, ten bits or more
# would be rounding.
MIN_KEPT_FRACTION = 2.0**-10

# What a removal leaves of a count is rounding if it is at most this fraction of the count: weights
# that are no whole numbers need not cancel to the last bit.
COUNT_ROUNDING = 2.0**-45

# A small count may have been larger, and has the rounding of that larger count: what is left of it
# is rounding if it is at most this fraction of the count, or of 1 for counts above 1.
SMALL_COUNT_ROUNDING = 2.0**-30

# The relative difference, from several roundings, of one number that is found in two ways.
ROUNDING_MARGIN = 1e-13

# --- families/normal_gamma ---

# The square root of MIN_KEPT_FRACTION, and its logarithm.
SQRT_MIN_KEPT = 0.03125
LOG_SQRT_MIN_KEPT = -3.4657359

# --- families/normal_known_variance ---

# A value further than this from m0, in units of sqrt(sigma2), counts as lying there. Costs grow
# with the square of the distance: beyond it, their rounding would be wider than a tie.
MAX_SIGMAS = 2.0**12

# --- families/polya_terms: factors of the scores of rows of counts ---

# Factors from 2^-31 to 2^31 are multiplied, 32 of them; others are added as logarithms.
MIN_POLYA_TERM = 4.656612873077393e-10
MAX_POLYA_TERM = 2147483648.0

# 1.5 * 2^52: added to a number and subtracted again, it rounds the number to a whole one.
INTEGER_SHIFT = 6755399441055744.0

# --- families/dirichlet_multinomial ---

# A bound of a rising factorial looks at this many of its factors, at most, one by one.
MAX_LISTED_FACTORS = 64

# 2^-23, the spacing of single-precision numbers from 1 to 2.
SINGLE_ROUNDING = 1.1920928955078125e-07

# partition/concentration

# Where Newton's method ends: a step of log alpha that changes nothing any more, or so many steps,
# which no case needs.
SMALL_STEP = 1e-13

MOST_STEPS = 200
# A concentration above which four terms of Stirling's series are exact to double precision.
LARGE = 100.0


# algorithms/mixing

NO_WEIGHT = -1e300  # log weight of components that only fill a vector

# partition/partition

# Costs closer than this (nats) are equal: the lower slot wins, and a row stays where it is.
# It is far above rounding and far below anything that matters, so every implementation takes
# the same decisions, and none moves a row for ever between equals.
TIE = 1e-8

# The label of a row that is in no cluster yet.
UNPLACED = -1

# The weight of a row's companions is the slot's less the row's; below this part of the row's weight
# too few digits of the difference are right, and it is summed from the companions, as is what they
# tell of the row.
LEAST_LEFT = 2.0**-20


# sweeps/screening_bounds

HUGE_COST = 1e30
TWO_THIRDS = 0.6666667
MAX_VALUE = 536870912.0  # MAX_PRIOR_UNITS of student_t.pxi in single precision
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
