"""Tables that cannot be shipped: tests and experiments find them in the folder DPMLITE_DATA.

What needs a table that is not there is skipped, or left out. CSV files have a header line.

- iris, wine, wbc_original_683, soybean_large_266, parkinsons, pima, vehicle, abalone, digits and
  spambase (.csv): from the UCI repository, the class in the last column. "wbc_original_683" is
  "Breast Cancer Wisconsin (Original)" without the id and the 16 incomplete rows,
  "soybean_large_266" the complete rows of "Soybean (Large)"; abalone's first column is the sex.
  Iris and wine come with scikit-learn too, and most of what needs them takes them from there.
- quakes.csv and galaxies.csv: R's `datasets::quakes` and `MASS::galaxies`.
- stm32_har.csv: STMicroelectronics' stm32ai-wiki, AI_resources/HAR: 92 recordings of 1,000 rows;
  the number of the recording, accelerations along three axes in mg, and a label.
- mnist_train.npz: X, (60000, 784) bytes, and y: the training images of LeCun, Cortes & Burges.
- 20news_w100.npz: 100 words in 16,242 postings, binary, from 20 Newsgroups (S. Roweis).
- nips12.npz: words of 1,740 papers, volumes 0 to 12 of NIPS, and nips12.vocab.txt, a word a line
  (S. Roweis' nips12raw). Like 20news_w100.npz it holds the arrays of compressed sparse rows,
  `data`, `indices`, `indptr` and `shape`, and labels `y`.
"""

import os
from pathlib import Path


class MissingTableError(Exception):
    """A table that is not there; the message says how to get it."""


def table_path(name):
    """Where a file of that name is."""
    folder = os.environ.get("DPMLITE_DATA")
    if not folder:
        raise MissingTableError(f"set DPMLITE_DATA to a folder with {name}, see real_tables.py")
    path = Path(folder) / name
    if not path.exists():
        raise MissingTableError(f"DPMLITE_DATA has no {name}, see real_tables.py")
    return path
