"""A few hundred random fits: joints are right, traces fall, labels are valid, files keep models."""

import processes
import pytest
from cases import PURE

N_FITS, N_SECONDS = 300, 60.0


@pytest.mark.skipif(PURE, reason="takes minutes on the plain twins")
def test_random_fits_keep_their_promises():
    found = processes.run("fits", 0, N_FITS, N_SECONDS)
    assert found.failures == []
    assert sum(found.ends.values()) > found.ends["refused"]
