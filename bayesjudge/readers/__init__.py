"""From files, whatever they are packed in, and evaluation logs to the tables that modules read."""

from bayesjudge.readers.formats.mlflow import from_mlflow
from bayesjudge.readers.log import Grade, Log, Notes
from bayesjudge.readers.recognition import read_log
from bayesjudge.readers.tables import read_table

__all__ = ["Grade", "Log", "Notes", "from_mlflow", "read_log", "read_table"]

__dir__ = __all__.copy
