"""The compiled twins of `models` and `inference`, in one module.

Modules of their own would each repeat Cython's helpers, and call each other through pointers.
`models/x.pxi` is the kernel of `models/x.py`, or helps others. Types are there before what needs
them, functions need not be; names are unique.
"""

cimport cython
from cpython.array cimport array as Array, clone
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport (
    PyMem_Calloc, PyMem_Free, PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc)
from libc.math cimport (
    INFINITY, NAN, erfc, exp, expm1, fabs, floor, isnan, log, log1p, rint, sqrt)
from libc.stdint cimport uint64_t, uintptr_t
from libc.string cimport memcpy, memset

from array import array

from numpy import argsort, empty

from dpmlite import _constants
from dpmlite._checks import (
    check_normal_inverse_wishart, check_positive, check_same_length, require_bound)
from dpmlite._leaves import rows_of_leaves
from dpmlite._threads import as_needed, kept_threads, on_threads

include "models/special.pxi"
include "models/lanes.pxi"
include "models/arrays.pxi"
include "models/memory.pxi"
include "models/locks.pxi"
include "models/atomics.pxi"
include "models/shares.pxi"
include "models/ranks.pxi"
include "models/rows.pxi"

include "models/student_t.pxi"
include "models/multivariate_t.pxi"
include "models/triangular.pxi"
include "models/whitening.pxi"
include "models/moments.pxi"

include "models/component.pxi"
include "models/normal_gamma.pxi"
include "models/incomplete_normal_gamma.pxi"
include "models/normal_known_variance.pxi"
include "models/normal_inverse_wishart.pxi"
include "models/rising_table.pxi"
include "models/zero_rows.pxi"
include "models/beta_bernoulli.pxi"
include "models/urns.pxi"
include "models/log_counts.pxi"
include "models/dirichlet_multinomial.pxi"

include "models/concentration.pxi"
include "models/crp.pxi"
include "models/mixing.pxi"
include "models/tally.pxi"
include "models/partition.pxi"

include "inference/screening_bounds.pxi"
include "inference/screening.pxi"
include "inference/visits.pxi"
include "inference/drift.pxi"
include "inference/drifting_slots.pxi"
include "inference/stay_bounds.pxi"
include "inference/ordered_sweep.pxi"
include "inference/map_dpm.pxi"
include "inference/gibbs.pxi"
include "inference/assignment.pxi"
include "inference/prediction.pxi"

include "inference/merges.pxi"
include "inference/seeds.pxi"
include "inference/division.pxi"
include "inference/runs.pxi"
include "inference/normality_sums.pxi"
include "inference/normality.pxi"
include "inference/splits.pxi"
include "inference/exchanges.pxi"
include "inference/jain_neal.pxi"

include "inference/trees.pxi"
include "inference/alternative_trees.pxi"
include "inference/bhc.pxi"
include "inference/dp_means.pxi"
include "inference/exact.pxi"
include "inference/variational.pxi"
include "inference/max_queue.pxi"
include "inference/shared_clusters.pxi"
include "inference/search.pxi"
