"""Seeds one after the other, in the lines that `processes` reads."""

import faulthandler
import signal
import time
import traceback
import warnings

from counting import COUNTS

# Seconds of the clock, for each second of the processor that a seed may take: it may have to wait.
PATIENCE = 20


def try_each(first, last, seconds, hangs_after, check):
    """Check the seeds from `first` up to `last`, as long as there is time.

    Parameters
    ----------
    first, last : int
    seconds : float
        Time for all seeds.
    hangs_after : float
        Seconds of the processor after which a seed hangs: that ends the process.
    check : callable
        ``check(seed)`` returns how the seed ended, in a word, and a list of failures. An error is
        one, too.
    """
    end = time.monotonic() + seconds
    seed = first
    warnings.simplefilter("ignore")
    while seed < last and time.monotonic() < end:
        print("seed", seed, flush=True)
        COUNTS.clear()
        _end_after(hangs_after)
        try:
            ended, failures = check(seed)
            print("done", ended)
        except Exception as error:
            failures = ["".join(traceback.format_exception(error))]
        for failure in failures:
            print("failure", seed, failure.replace("\n", "\\n"), flush=True)
        _end_after(0.0)
        for counted, n in COUNTS.items():
            print("count", counted, n)
        seed += 1
    print("end", seed, flush=True)


def _end_after(seconds):
    """Let the process end, with its traceback, after seconds of the processor; 0 is never."""
    if not hasattr(signal, "setitimer"):  # not everywhere
        return
    for timer, number, patience in (
        (signal.ITIMER_PROF, signal.SIGPROF, 1),
        (signal.ITIMER_REAL, signal.SIGALRM, PATIENCE),
    ):
        # The signal ends the process unless it is handled: first its traceback is written.
        faulthandler.register(number, chain=True)
        signal.setitimer(timer, patience * seconds)
