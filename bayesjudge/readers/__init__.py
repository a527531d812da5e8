"""From files to the tables that the modules read."""

from bayesjudge.readers.tables import read_table

__all__ = ["read_table"]
