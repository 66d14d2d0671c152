"""Export to small boards: tables as ints, and fitted models as files that a board loads."""

from dpmlite.boards.export import to_micropython
from dpmlite.boards.quantized import Quantized, quantize

__all__ = ["Quantized", "quantize", "to_micropython"]
