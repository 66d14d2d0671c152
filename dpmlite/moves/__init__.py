"""Moves of whole clusters: merges, splits, exchanges, and proposals of Jain and Neal."""

from typing import TYPE_CHECKING

from dpmlite.core.implementation import PURE

if TYPE_CHECKING or PURE:
    from dpmlite.moves.division import members_of
    from dpmlite.moves.exchanges import exchange
    from dpmlite.moves.jain_neal import propose_split_merge
    from dpmlite.moves.merges import merge, merge_change
    from dpmlite.moves.normality import all_look_normal, look_normal
    from dpmlite.moves.seeds import two_of
    from dpmlite.moves.split_memory import split_memory_of
    from dpmlite.moves.splits import split
else:
    from dpmlite.moves._division import members_of
    from dpmlite.moves._exchanges import exchange
    from dpmlite.moves._jain_neal import propose_split_merge
    from dpmlite.moves._merges import merge, merge_change
    from dpmlite.moves._normality import all_look_normal, look_normal
    from dpmlite.moves._seeds import two_of
    from dpmlite.moves._split_memory import split_memory_of
    from dpmlite.moves._splits import split

__all__ = [
    "all_look_normal",
    "exchange",
    "look_normal",
    "members_of",
    "merge",
    "merge_change",
    "propose_split_merge",
    "split",
    "split_memory_of",
    "two_of",
]
