"""`python -m pytest` puts the checkout first on the path; what is installed is to be tested."""

import sys
from pathlib import Path

CHECKOUT = Path(__file__).parent
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != CHECKOUT]
