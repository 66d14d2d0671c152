"""Damaged files of models, in a process of their own: a crash or a hang ends it, and is seen.

``python3 tests/fuzz files --seconds 3600`` does as many as there is time for.
"""

import faulthandler
import sys
import tempfile
import time
from pathlib import Path

from mutations import mutate
from saved_models import all_models
from use import is_clear, use

from dpmlite import MAPDPM

# A mutant that takes longer than this, in seconds, hangs.
MAX_SECONDS = 30


def run(first, last, seconds):
    """Try the mutants of seeds from `first` up to `last`, as long as there is time."""
    end = time.monotonic() + seconds
    models = all_models()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = {}
        for kind, (model, _) in models.items():
            model.save(folder / "model.npz")
            whole[kind] = (folder / "model.npz").read_bytes()
        seed = first
        while seed < last and time.monotonic() < end:
            kind = sorted(models)[seed % len(models)]
            print("seed", seed, flush=True)
            faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
            model, X = models[kind]
            for line in tried(whole[kind], seed, model, X, folder):
                print("failure", seed, kind, line.replace("\n", "\\n"), flush=True)
            faulthandler.cancel_dump_traceback_later()
            seed += 1
    print("end", seed, flush=True)


def tried(content, seed, model, X, folder):
    """Load one mutant and use it; yield what is wrong."""
    path = folder / "mutant.npz"
    path.write_bytes(mutate(content, seed))
    try:
        loaded = type(model).load(path)
    except Exception as error:
        if not (is_clear(error) and type(error) is ValueError):
            yield f"load: {error!r}"
        print("done refused")
        return
    print("done loaded")
    other = model if isinstance(model, MAPDPM) else None
    for method, text in use(loaded, other, X, folder).items():
        yield f"{method}: {text}"


if __name__ == "__main__":
    run(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
