"""`python -m dpmlite` is the command `dpmlite`."""

import sys

from dpmlite.cli import main

sys.exit(main())
