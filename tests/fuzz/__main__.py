"""Fuzzing by hand: ``python3 tests/fuzz files --seconds 3600``; seeds start from ``--seed``."""

import argparse
import sys
import time

import processes

SCRIPTS = {
    "files": "model_files",
    "dumps": "dumps",
    "fits": "fits",
    "tables": "tables",
    "threads": "threads",
    "calls": "calls",
}


def main():
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("what", choices=SCRIPTS)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=2**62, help="seeds at most")
    args = parser.parse_args()
    start = time.monotonic()
    found = processes.run(SCRIPTS[args.what], args.seed, args.seed + args.count, args.seconds)
    for failure in found.failures:
        print(failure.replace("\\n", "\n"), "\n")
    ends = ", ".join(f"{n} {end}" for end, n in found.ends.most_common())
    counts = ", ".join(f"{n} {counted}" for counted, n in found.counts.items())
    print(f"{found.n_seeds} seeds in {time.monotonic() - start:.0f} s: {ends}; {counts}; "
          f"{len(found.failures)} failures")  # fmt: skip
    sys.exit(bool(found.failures))


if __name__ == "__main__":
    main()
