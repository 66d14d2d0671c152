"""What threads see of a partition while one of them changes it."""


cdef class Snapshot:
    """Slots, and how far they had drifted, at one moment; rows, labels and notes are those of now."""

    cdef Partition partition
    cdef Drift drift
    cdef Screen screen  # with a chunk for each thread

    def __init__(self, Partition partition, Py_ssize_t n_threads):
        self.partition = partition_to_score_in(
            partition.X, partition.rows, partition.label, partition.component, partition.alpha)
        self.drift = Drift(self.partition, partition.drift)
        begin_screen(&self.screen, self.partition, n_threads)

    def __dealloc__(self):
        end_screen(&self.screen)

    cdef int take(self, Partition partition, Drift drift) except -1 nogil:
        self.partition.copy_slots(partition)
        self.drift.copy_drift(drift)
        return prepare_anew(&self.screen, self.partition)
