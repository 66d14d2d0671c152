"""Some damaged files of tables: each is read and fitted, or refused in one line."""

import processes
from cases import needs_kernels

N_MUTANTS, N_SECONDS = 60, 60.0


@needs_kernels
def test_damaged_tables_do_no_harm():
    found = processes.run("tables", 0, N_MUTANTS, N_SECONDS)
    assert found.failures == []
    assert found.ends["refused"] > 0
    assert found.ends["read"] > 0
