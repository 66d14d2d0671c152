"""Tables from files as people have them; errors name the row and the column."""

from dpmlite.tables.reading import parse_table, read_table
from dpmlite.tables.records import cell_text
from dpmlite.tables.table import Source, Table
from dpmlite.tables.writing import write_table

__all__ = ["Source", "Table", "cell_text", "parse_table", "read_table", "write_table"]
