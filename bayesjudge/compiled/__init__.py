"""Models as machine code that is kept on disk, and NUTS over it.

What stands in ``__all__`` is all that the rest of the package knows of it.
"""

from typing import TYPE_CHECKING

from bayesjudge.compiled.compile_folder import choose_compile_folder
from bayesjudge.compiled.roads import Compiled, compile_model, draw, structure_of
from bayesjudge.compiled.settings import (
    compile_function,
    compiling,
    in_numba,
    jitable,
    own_settings,
    telling_numba,
)

if TYPE_CHECKING:
    from bayesjudge.compiled.runnable import Runnable as Runnable

__all__ = [
    "Compiled",
    "choose_compile_folder",
    "compile_function",
    "compile_model",
    "compiling",
    "draw",
    "in_numba",
    "jitable",
    "own_settings",
    "structure_of",
    "telling_numba",
]
