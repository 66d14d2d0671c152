"""Write the test vectors: inputs, and what the equations say about them.

    python tests/vectors/generate.py            rewrites every file
    python tests/vectors/generate.py --check    fails if a file is not what would be written

The truths come from the equations of the papers that each file names, evaluated naively with 50
digits; `generators` has a module for each. Nothing of the library is imported, and what can be
derived twice is: the generator stops if the two ways disagree.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from generators.beta_bernoulli import beta_bernoulli
from generators.categorical import categorical
from generators.crp import crp
from generators.dirichlet_multinomial import dirichlet_multinomial
from generators.exposed_poisson_gamma import exposed_poisson_gamma
from generators.format import render
from generators.incomplete_normal_gamma import incomplete_normal_gamma
from generators.map_dpm import map_dpm
from generators.normal_gamma import normal_gamma
from generators.normal_inverse_wishart import normal_inverse_wishart
from generators.normal_known_variance import normal_known_variance
from generators.poisson_gamma import poisson_gamma
from generators.special import special

HERE = Path(__file__).parent

FILES: dict[str, Callable[[], dict]] = {
    "special": special,
    "crp": crp,
    "normal_gamma": normal_gamma,
    "incomplete_normal_gamma": incomplete_normal_gamma,
    "normal_inverse_wishart": normal_inverse_wishart,
    "normal_known_variance": normal_known_variance,
    "dirichlet_multinomial": dirichlet_multinomial,
    "beta_bernoulli": beta_bernoulli,
    "categorical": categorical,
    "poisson_gamma": poisson_gamma,
    "exposed_poisson_gamma": exposed_poisson_gamma,
    "map_dpm": map_dpm,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description="Write the test vectors.")
    parser.add_argument(
        "--check", action="store_true", help="compare with the files, write nothing"
    )
    check = parser.parse_args(arguments).check
    differing = []
    for name, build in FILES.items():
        path, text = HERE / f"{name}.json", (render(build()) + "\n").encode()
        if check and not (path.exists() and path.read_bytes() == text):
            differing.append(path.name)
        elif not check:
            path.write_bytes(text)
    if differing:
        print(f"not what generate.py writes: {', '.join(differing)}", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
