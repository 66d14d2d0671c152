"""A few hundred random fits: joints are right, traces fall, labels are valid, files keep models."""

import processes
from cases import needs_kernels

N_FITS, N_SECONDS = 300, 60.0


@needs_kernels
def test_random_fits_keep_their_promises():
    found = processes.run("fits", 0, N_FITS, N_SECONDS)
    assert found.failures == []
    assert sum(found.ends.values()) > found.ends["refused"]
