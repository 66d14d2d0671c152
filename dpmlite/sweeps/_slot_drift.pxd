from dpmlite.partition._partition cimport Partition

cdef enum:
    MIN_MEMBER_POWER = 8  # m of clusters whose rows may be known to stay

    N_ENDS = 2            # of the range of weights

# What rows of the least and of the largest weight cost in a slot, but for its slopes and shifts.
cdef struct SlotCosts:
    bint is_empty
    double[N_ENDS] weight                # w,
    double[N_ENDS] power, fixed          # p and f / w,
    double[N_ENDS] scale                 # r of rows of other slots,
    double[N_ENDS] member_power, stay    # m and g / w; m is 0 where no row is known to stay,
    double[N_ENDS] member_scale          # and r of its own rows

cdef struct SlotChange:
    double min_scale, max_scale  # least and largest a^2 of the columns
    double shift_squares         # sum of b^2

cdef SlotCosts costs_of_slot(Partition partition, Py_ssize_t k) noexcept nogil
cdef SlotChange change_of_slot(Partition partition, const double *old, Py_ssize_t k) noexcept nogil
cdef SlotChange reversed_change(const SlotChange *change) noexcept nogil
cdef double drift_elsewhere(const SlotCosts *old, const SlotCosts *new, const SlotChange *change,
                            double reference, double cost_cap) noexcept nogil
cdef double drift_of_own(const SlotCosts *old, const SlotCosts *new, const SlotChange *change,
                         double reference) noexcept nogil
