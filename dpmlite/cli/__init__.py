"""The command `dpmlite`: cluster tables from files, and print the clusters."""

import io
import os
import sys
from collections.abc import Sequence

from dpmlite.cli.arguments import parser

BAD_INPUT = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the command's name; default those of the process.

    Returns
    -------
    int
        The exit code: 0; 2 after an error, which is one line on stderr; 130 if the user or the
        reader of the output ended it.
    """
    options = parser()
    if not (sys.argv[1:] if argv is None else argv):
        options.print_help(sys.stderr)
        return BAD_INPUT
    args = options.parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):  # its encoding may lack letters of column names
        sys.stdout.reconfigure(errors="replace")
    try:
        args.run(args)
        if sys.stdout is not None:  # it may be closed from the start
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The flush of the buffer when Python exits would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        print(f"dpmlite: error: {_message(error)}", file=sys.stderr)
        return BAD_INPUT
    return 0


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    # MemoryError is often silent; scikit-learn's messages about columns have several lines.
    return " ".join(str(error).split("\n")).strip() or "there is not enough memory"
