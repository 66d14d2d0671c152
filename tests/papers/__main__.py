"""Every figure and table of the four papers, into a folder with an index page.

    DPMLITE_DATA=FOLDER python3 tests/papers PICTURES [SCRIPT ...]

runs the scripts that are named, such as crp_experiment, or all of them, which takes tens of
minutes. Each prints its tables, with the papers' values beside ours, into PICTURES/SCRIPT.txt, and
draws its figures beside it. PICTURES/index.html shows all that the folder holds. A script that
needs a table which is not there ends early, and the page says which one; the others go on.
"""

import subprocess
import sys
from pathlib import Path

from index_page import Experiment, Paper, page

HERE = Path(__file__).parent

PAPERS = [
    Paper(
        "Raykov, Boukouvalas & Little (2014)",
        "Simple approximate MAP inference for Dirichlet processes",
        [
            Experiment(
                "crp_experiment",
                "Tables 1, 4 and 5, Figures 1 to 4: draws of the model",
                {
                    "crp-figure-1": "Figure 1: the model as a graph; parameters are integrated "
                    "out.",
                    "crp-figure-2": "Figure 2: a draw with 18 clusters.",
                    "crp-figure-3": "Figure 3: sizes of clusters by rank. In the paper MAP-DPM "
                    "fails to identify the smaller clusters, Gibbs does so to a greater extent.",
                    "crp-figure-4": "Figure 4: the same at the 5 % and 95 % quantiles.",
                },
            ),
            Experiment("uci_experiment", "Tables 2 and 3: seven UCI tables", takes_folder=False),
            Experiment(
                "collapsed_experiment",
                "Sections 2.2 and 3.1: with parameters, and without",
                takes_folder=False,
            ),
        ],
    ),
    Paper(
        "Daumé (2007)",
        "Fast search for Dirichlet process mixture models",
        [
            Experiment(
                "daume_figure_2",
                "Figure 2: searches beside samplers on small tables",
                {
                    "daume-figure-2": "Figure 2. In the paper the inadmissible searches are exact "
                    "and fastest, searches with a queue of 10 do worse with admissible scores, and "
                    "Gibbs never reaches the optimum but on the smallest tables."
                },
            ),
            Experiment(
                "daume_mnist",
                "Section 4.2 and Figure 3: images of digits",
                {
                    "daume-figure-3-search": "Figure 3: mean images of the clusters of the search "
                    "as it is, by size; the paper has 27 clusters.",
                    "daume-figure-3": "The same of the refined search: the 40 largest clusters.",
                },
            ),
            Experiment("daume_nips", "Section 4.3 and Table 1: papers of NIPS", takes_folder=False),
        ],
    ),
    Paper(
        "Notes",
        "Notes on Gibbs sampling for Dirichlet process mixtures",
        [
            Experiment(
                "gibbs_notes",
                "Figures 1 and 2, and the galaxies",
                {
                    "notes-figure-1": "Figure 1: random densities and 500 rows of each.",
                    "notes-figure-2": "Figure 2: depths of earthquakes; 27 clusters in the notes.",
                    "galaxies": "Velocities of galaxies, which the notes do not have.",
                },
            )
        ],
    ),
    Paper(
        "Xu, Heller & Ghahramani (2009)",
        "Tree-based inference for Dirichlet process mixtures",
        [
            Experiment(
                "tree_experiment",
                "Figures 2 and 5 to 8: trees",
                {
                    "trees-figure-2a": "Figure 2a: three equidistant groups as the tree clusters "
                    "them, and as its alternatives do.",
                    "trees-figure-2b": "Figure 2b: what relocations at each node add to the bound.",
                    "trees-figure-5": "Figure 5: bounds of the log evidence.",
                    "trees-figure-6": "Figure 6: log densities of rows left out.",
                    "trees-figure-7": "Figure 7: gaps and gains of alternative trees; gains of "
                    "0.4 to 0.8 on binary tables in the paper.",
                    "trees-figure-8": "Figure 8: likelihoods, bounds and speed of Bayes k-means "
                    "BHC; some 30 times as fast at 600 rows in the paper.",
                    "iris-dendrogram-wide": "The tree of iris under the prior of a whole table.",
                    "iris-dendrogram-chosen": "The tree of iris under the prior that it chooses.",
                },
            ),
            Experiment(
                "variational_experiment",
                "Figures 5 and 6: variational bounds",
                {
                    "variational-figure-5": "Figure 5, its variational curves. In the paper they "
                    "are below BHC's bound.",
                    "variational-figure-6": "Figure 6, its variational curves.",
                },
            ),
        ],
    ),
]

EXPERIMENTS = {each.script: each for paper in PAPERS for each in paper.experiments}


def run(experiment, folder):
    """Run a script; keep what it prints, and the last line of its error if it fails."""
    error = folder / f"{experiment.script}.error"
    error.unlink(missing_ok=True)
    command = [sys.executable, str(HERE / f"{experiment.script}.py")]
    command += [str(folder)] if experiment.takes_folder else []
    with (folder / f"{experiment.script}.txt").open("w", encoding="utf-8") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        error.write_text((done.stderr.strip().splitlines() or ["no message"])[-1], "utf-8")
    return done.returncode == 0


def main(folder, names):
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(f"SCRIPT must be one of {', '.join(EXPERIMENTS)}, got {name!r}")
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names:
        print(f"{name} ...", flush=True)
        if not run(EXPERIMENTS[name], folder):
            failed.append(name)
    (folder / "index.html").write_text(page(PAPERS, folder), encoding="utf-8")
    print(f"wrote {folder / 'index.html'}")
    if failed:
        print(f"ended early: {', '.join(failed)}; the page says why")
    return len(failed)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python3 tests/papers PICTURES [SCRIPT ...]")
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:] or list(EXPERIMENTS)))
