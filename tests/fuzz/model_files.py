"""Damaged files of models, in a process of their own: a crash or a hang ends it, and is seen.

``python3 tests/fuzz files --seconds 3600`` does as many as there is time for.
"""

import tempfile
from pathlib import Path

import numpy as np
from mutations import mutate
from saved_models import all_models
from seeds import try_each
from use import is_clear, use

from dpmlite import MAPDPM

# A mutant that takes longer than this, in seconds, hangs.
MAX_SECONDS = 30


def run(first, last, seconds):
    """Try the mutants of seeds from `first` up to `last`, as long as there is time."""
    models = all_models()
    kinds = sorted(models)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = {}
        for kind, (model, _) in models.items():
            model.save(folder / "model.npz")
            whole[kind] = (folder / "model.npz").read_bytes()

        def check(seed):
            kind = kinds[seed % len(kinds)]
            ended, failures = tried(whole[kind], seed, *models[kind], folder)
            return ended, [f"{kind} {failure}" for failure in failures]

        try_each(first, last, seconds, MAX_SECONDS, check)


def tried(content, seed, model, X, folder):
    """Load one mutant and use it: how it ended, and what is wrong."""
    path = folder / "mutant.npz"
    path.write_bytes(mutate(content, seed))
    try:
        loaded = type(model).load(path)
    except Exception as error:
        clear = is_clear(error) and type(error) is ValueError
        return "refused", [] if clear else [f"load: {error!r}"]
    other = model if isinstance(model, MAPDPM) else None
    failures = use(loaded, other, X, folder, np.random.default_rng(seed))
    return "loaded", [f"{method}: {text}" for method, text in failures.items()]
