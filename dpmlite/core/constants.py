"""Numbers that plain twins and kernels read, in the order of the layers: a section for each module.

Both twins must use the same numbers wherever these decide what is computed or tried. Floating-point
numbers that only kernels read are here too, so that C gets them as constants. Whole numbers that
only save time or memory in a kernel stay in the kernel.

A comment says what a number is, in which unit, and why it has this value.
"""

# --- core/special: special functions ---

# Natural logarithms, to all digits of a double.
LOG_2 = 0.6931471805599453
LOG_PI = 1.1447298858494002
LOG_2PI = 1.8378770664093456

# Stirling's series are exact to double precision for arguments from here on; smaller arguments are
# shifted upwards by the recurrence of the gamma function.
MIN_STIRLING_ARGUMENT = 10.0

# --- core/simd: vector loops ---

# exp of less than this is 0 in sums of probabilities. e^-700 is 1e-304; e^-709 would no longer be a
# normal number.
MIN_EXP_ARGUMENT = -700.0

# --- families/component: what removals leave ---

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

# --- families/student_t: Student-t densities of many clusters at once ---

# A value further than this from m0, in units of the prior, counts as lying there: products of
# eight factors 1 + t, and of eight posterior rates, then stay below the largest double.
MAX_PRIOR_UNITS = 2.0**29

# Factors of a product are at least this, so that the product has a logarithm. Smaller ones are
# rounding.
MIN_FACTOR = 1e-18

# --- families/whitening: rotation to independent columns ---

# A column of psi0 depends on those before it if they leave at most this fraction of its variance.
MIN_PIVOT = 2.0**-40

# --- families/normal_inverse_wishart: full covariance ---

# Bounds of log marginals are raised by this part of them, and as many nats: rounding is less.
MERGING_SLACK = 1e-6

# --- families/normal_gamma: normal columns ---

# The square root of MIN_KEPT_FRACTION, and its logarithm.
SQRT_MIN_KEPT = 0.03125
LOG_SQRT_MIN_KEPT = -3.4657359

# --- families/normal_known_variance: normal columns of known variance ---

# A value further than this from m0, in units of sqrt(sigma2), counts as lying there. Costs grow
# with the square of the distance: beyond it, their rounding would be wider than a tie.
MAX_SIGMAS = 2.0**12

# --- families/polya_terms: rising factorials of counts ---

# Factors from 2^-31 to 2^31 are multiplied, 32 of them; others are added as logarithms.
MIN_POLYA_TERM = 4.656612873077393e-10
MAX_POLYA_TERM = 2147483648.0

# 1.5 * 2^52: added to a number and subtracted again, it rounds the number to a whole one.
INTEGER_SHIFT = 6755399441055744.0

# --- families/dirichlet_multinomial: counts ---

# A bound of a rising factorial looks at this many of its factors, at most, one by one.
MAX_LISTED_FACTORS = 64

# 2^-23, the spacing of single-precision numbers from 1 to 2.
SINGLE_ROUNDING = 1.1920928955078125e-07

# --- partition/partition: labels and their costs ---

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

# --- partition/concentration: the concentration that is most probable ---

# Newton's method ends with a step of log alpha that is below this, a few roundings; relative to
# log alpha if that is above 1.
MIN_NEWTON_STEP = 1e-13

# The largest step of log alpha.
MAX_NEWTON_STEP = 4.0

# Steps, at most. Newton's method needs fewer.
MAX_NEWTON_ITERATIONS = 200

# The concentration from which on four terms of Stirling's series are exact to double precision.
MIN_STIRLING_ALPHA = 100.0

# --- sweeps/screening_bounds: bounds of costs in single precision ---

# A cost in nats that is above any other and stays finite in single precision (up to 3.4e38). It
# takes the place of costs that must never be the least.
HUGE_COST = 1e30

# The coefficient of x^3 in the bound of -log(1 - x).
TWO_THIRDS = 0.6666667

# Standardised values are clipped to this: families' MAX_PRIOR_UNITS, in single precision.
MAX_VALUE = 536870912.0

# Relative error, at most, of the few single-precision operations (of 6e-8 each) that make a bound.
BOUND_ROUNDING = 1e-06

# --- sweeps/screening: which rows may move ---

# Relative error, at most, of two roundings to single precision.
SINGLE_EPSILON = 1.2e-07

# Relative error, at most, of several such operations.
SINGLE_ERROR = 1e-06

# Slots with a greater power of the Student-t density are not screened: their bounds would leave the
# range of single precision.
MAX_POWER = 1e30

# Heavier rows are not screened, nor are the others of their table, for the same reason.
MAX_SCREENED_WEIGHT = 1e12

# L, the end of the line bound, at most: the line is then a ninth below the logarithm at most.
MAX_LINE_END = 0.25

# --- sweeps/slot_drift: how much a change of a slot changes costs ---

# -log(1 - w) is no steeper than this where w <= 0.63.
MAX_SLOPE = 2.75

# Drift of one change, at most: no row is known to stay after that much.
MAX_DRIFT = 1.0

# --- sweeps/drifting_slots: drift of all slots ---

# Rounding error, at most, of a drift below 32 in single precision.
DRIFT_ROUNDING = 2e-06

# --- sweeps/stay_bounds: how long rows are known to stay ---

# Drift that a row may allow, at most: w of its own slot stays below 0.63 until then.
MAX_ALLOWED_DRIFT = 0.5

# Another stage of a sweep may begin once slots have drifted this much in the present one.
STAGE_DRIFT = 0.05

# No further stage begins in a sweep whose stages have drifted this much together.
SWEEP_DRIFT = 1.0

# --- sweeps/near_slots: slots where rows of a slot may cost little ---

# Rounding error, at most, of costs and of sums of squares, relative to them.
NEAR_ROUNDING = 1e-05

# --- sweeps/gibbs: collapsed Gibbs sampling ---

# Slots that cost more than the cheapest by this (nats) have probability 0. Each would have less
# than e^-40 = 2^-57.7, and a uniform is a multiple of 2^-53: such a slot's part of [0, 1) is
# narrower than a twentieth of the step between two uniforms, less than the rounding of the sum that
# it is a term of.
MAX_COST_GAP = 40.0

# --- moves/division: dividing the rows of some clusters anew ---

# Sweeps over a proposed division, at most. Most divisions come to rest or are given up earlier.
MAX_SETTLE_SWEEPS = 10

# A division is given up if this many further sweeps, each lowering the joint as much as the last
# one did, would not bring the joint below its goal.
MAX_SWEEPS_TO_GOAL = 4.0

# A trial takes every step-th row, with the least step that leaves at most this many: enough to
# compare divisions, and few enough that a trial is cheap beside a sweep over all rows.
TRIAL_ROWS = 1000

# Where the likelihood counts with a power, a trial has fewer rows, down to the least number: so its
# own power is not below this. Under a smaller one, rows that join one by one found a cluster each.
MIN_TRIAL_POWER = 1 / 4
MIN_TRIAL_ROWS = 200

# The step is never larger: fewer rows of a very large cluster tell nothing of the clusters in it.
MAX_TRIAL_STEP = 16

# Of a pool of two clusters, about this many rows tell whether it is worth a division: one of them
# must cost about the same in both, to this many nats. Smaller pools are divided anyway.
POOL_PROBES = 160
MAX_PROBE_GAP = 6.0

# A thorough trial takes at most this many rows, in steps of a power of two. A prior that is wide
# beside the clusters outweighs what a thousand rows tell; these rows still fit a cache.
MAX_THOROUGH_ROWS = 50_000

# --- moves/splits: dividing one cluster ---

# A cluster is tried again once more than this fraction of its rows have come or gone since it was
# tried last. Fewer rows seldom change the answer.
MIN_CHANGED_FRACTION = 0.01

# Thorough splits compare starts on more rows only of clusters with a greater fraction of all rows:
# smaller clusters may be many, and the table large.
MIN_THOROUGH_FRACTION = 1 / 16

# Rows that join seeds one by one may each found a cluster: where columns are many, under a power of
# the likelihood. Such a division takes seconds, and memory far above that of the table, in vain. So
# it is not tried where of every so many rows, if they are enough to tell, more than this fraction
# would found a cluster each.
JOINING_PROBE_STEP = 16
MIN_JOINING_PROBES = 50
MAX_FOUNDING_FRACTION = 0.9

# The fractions of a cluster's rows, least typical first, that are proposed as a cluster: a half for
# overlapping clusters of unequal widths, a tenth for a small cluster of outliers.
ATYPICAL_FRACTIONS = (0.5, 0.1)

# --- moves/runs: the best division into runs along a column ---

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

# --- moves/normality: whether the rows of a cluster are as those of one normal ---

# Nats a row that two separated parts of a column cost as entropy and that skewness and kurtosis do
# not show; log 2 is the most that it can be.
UNSEEN_ENTROPY = 0.6

# Bins of half a standard deviation; the first and the last are open. Their number is odd, so that
# the mean is in the middle of a bin: rows of whole numbers often lie there.
N_BINS = 11

# Degrees of freedom of the bins: their sum, mean and variance are known.
BIN_DEGREES = N_BINS - 3.0

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

# --- moves/jain_neal: Metropolis-Hastings split-merge moves ---

# Uniforms before those of the proposal: two for the rows, one for the acceptance.
N_LEADING_UNIFORMS = 3

# --- algorithms/bhc: Bayesian hierarchical clustering ---

# In place of a node: the first root has no partner before it.
NO_NODE = -1

# --- algorithms/dp_means: DP-means ---

# Squared distances are equal if they differ by less than DISTANCE_TIE times the least of them plus
# ORIGIN_DISTANCE_TIE times the row's squared distance from the mean of all rows. Rounding makes
# smaller differences, and must not decide which centre is nearest.
DISTANCE_TIE = 1e-10
ORIGIN_DISTANCE_TIE = 1e-20

# --- algorithms/exact: sums over all partitions ---

# Rows, at most. One more row takes three times as long; 13 rows take seconds in plain Python.
MAX_EXACT_ROWS = 13

# --- algorithms/mixing: priors of the labels of a mixture ---

# Log weight of components that only pad a vector: low enough to have no probability.
PADDING_LOG_WEIGHT = -1e300

# --- algorithms/variational: mean-field inference ---

# A component is put before another if it is larger by this fraction of all rows. Rounding makes
# smaller differences.
MIN_EXCESS_FRACTION = 1e-9

# --- algorithms/max_queue: a queue of scored states ---

# Scores (nats) are rounded to multiples of one over this, somewhat more than TIE, so that scores
# which differ by rounding alone become equal. A power of two makes the product exact.
SCORE_STEPS_PER_NAT = 2.0**26

# --- algorithms/shared_clusters: clusterings that share clusters ---

# Slots that belong to no clustering: one that stays empty, and a scratch slot for a cluster that is
# only scored.
EMPTY_SLOT = 0
SPARE_SLOT = 1

# --- algorithms/minimise: L-BFGS with lower bounds ---

# Changes of the variables, and of the gradient, that are remembered.
N_REMEMBERED = 8

MAX_DESCENT_STEPS = 200
MAX_HALVINGS = 30

# The greatest change of a variable in one step: variables are logarithms.
MAX_CHANGE = 2.0

# The part of the fall that the gradient promises, at least.
SUFFICIENT_FALL = 1e-4

# The descent ends when a step lowers the function by less.
MIN_FALL = 1e-6

# A change is remembered if its product with the turn of the gradient is at least this part of the
# turn's square: then the curvature along it is positive beyond rounding.
MIN_CURVATURE = 1e-12
