"""A few hundred calls with arguments of every kind: each is answered, or refused in one line."""

import processes
from cases import needs_kernels

N_SEEDS, N_SECONDS = 150, 60.0


@needs_kernels
def test_arguments_of_every_kind_do_no_harm():
    found = processes.run("calls", 0, N_SEEDS, N_SECONDS)
    assert found.failures == []
    assert found.counts["calls"] > found.n_seeds > 0
