from dpmlite.partition._partition cimport Partition

cpdef best_runs(Partition partition, members, Py_ssize_t step=*)
