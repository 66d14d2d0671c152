"""Seeds one after the other, in the lines that `processes` reads."""

import faulthandler
import time
import traceback
import warnings


def try_each(first, last, seconds, hangs_after, check):
    """Check the seeds from `first` up to `last`, as long as there is time.

    Parameters
    ----------
    first, last : int
    seconds : float
        Time for all seeds.
    hangs_after : float
        Seconds after which a seed hangs: that ends the process.
    check : callable
        ``check(seed)`` returns how the seed ended, in a word, and a list of failures. An error is
        one, too.
    """
    end = time.monotonic() + seconds
    seed = first
    while seed < last and time.monotonic() < end:
        print("seed", seed, flush=True)
        faulthandler.dump_traceback_later(hangs_after, exit=True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ended, failures = check(seed)
            print("done", ended)
        except Exception as error:
            failures = ["".join(traceback.format_exception(error))]
        for failure in failures:
            print("failure", seed, failure.replace("\n", "\\n"), flush=True)
        faulthandler.cancel_dump_traceback_later()
        seed += 1
    print("end", seed, flush=True)
