"""Some damaged dumps of boards: a computer reads those that a board reads, and no others."""

import processes
import pytest
from cases import needs_kernels

N_MUTANTS, N_SECONDS = 60, 60.0

pytest.importorskip("mapdpm_batch", reason="there is no folder micropython")


@needs_kernels
def test_damaged_dumps_do_no_harm():
    found = processes.run("dumps", 0, N_MUTANTS, N_SECONDS)
    assert found.failures == []
    assert found.ends["refused"] > 0
    assert found.ends["read"] > 0
