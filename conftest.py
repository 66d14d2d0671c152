"""What all tests run under."""

import sys
from pathlib import Path

from hypothesis import settings

# `python -m pytest` puts the checkout first on the path; what is installed is to be tested.
CHECKOUT = Path(__file__).parent
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != CHECKOUT]

# A change passes or fails by what it does, not by the examples of the day: they are the same in
# every run. On a busy machine a plain twin may take longer than the 200 ms of the default.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None, print_blob=True)
settings.load_profile("repeatable")
