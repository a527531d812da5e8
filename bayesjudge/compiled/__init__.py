"""Models as machine code that is kept on disk, and NUTS over it.

What stands in ``__all__`` is all that the rest of the package knows of it.
"""

from typing import TYPE_CHECKING

from bayesjudge.compiled.compile_folder import choose_compile_folder
from bayesjudge.compiled.functions import compile_function
from bayesjudge.compiled.operations import before_compiling, in_numba, jitable, tell_numba
from bayesjudge.compiled.roads import Compiled, compile_model, draw
from bayesjudge.compiled.settings import compiling, own_settings
from bayesjudge.compiled.structure import structure_of

if TYPE_CHECKING:
    from bayesjudge.compiled.runnable import Runnable as Runnable

__all__ = [
    "Compiled",
    "before_compiling",
    "choose_compile_folder",
    "compile_function",
    "compile_model",
    "compiling",
    "draw",
    "in_numba",
    "jitable",
    "own_settings",
    "structure_of",
    "tell_numba",
]
