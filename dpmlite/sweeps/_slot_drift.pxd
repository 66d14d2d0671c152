from dpmlite.partition._partition cimport Partition

cdef enum:
    MIN_MEMBER_POWER = 8  # m of clusters whose rows may be known to stay

cdef struct SlotCosts:          # what rows cost in a slot, but for its slopes and shifts:
    double power, fixed         # p and f,
    double member_power, stay   # m and g,
    double ratio                # r

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
