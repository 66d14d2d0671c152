"""Small boards: tables as ints, fitted models as files that a board loads, and back."""

from dpmlite.boards.export import to_micropython
from dpmlite.boards.quantized import Quantized, quantize
from dpmlite.boards.restore import from_micropython

__all__ = ["Quantized", "from_micropython", "quantize", "to_micropython"]
