"""Which version this is: imports nothing, so that every file may ask."""

__version__ = "0.1.0"
