"""The command line: the functions of the modules, no statistics of its own.

How a command is made
---------------------
One file per command, ``cli/<command>.py``, and one line in `bayesjudge.cli.commands.COMMANDS`,
which imports it when it is called. The function's signature is the command line, in the groups
``DATA``, ``MODEL`` and ``OUTPUT`` of `bayesjudge.cli.options`: the table first, then what the
module's data class asks (keyword only), then the options that every command shares, as ``shared:
Shared = Shared()``. Its docstring is the help. It does three things:

1. reads the columns it needs with `bayesjudge.readers.read_table` and makes the module's data;
2. makes the results that cost nothing: the module's ``closed_forms``, and quadrature;
3. hands those to `bayesjudge.cli.output.present` with a `Story` (title, the quantity that answers
   the question, what was read), a function that samples, one that draws further pictures, and one
   that says what no table of estimates does, such as a certificate (a `Section`).

Bad input is an `InputError`, raised by the module or the reader: `main` prints its problems on
stderr and returns 2. If an option is missing whose choice has to be understood,
``command.lessons`` has the text that teaches it. What is heavy is imported inside functions:
``--help`` and closed forms stay quick.
"""

from __future__ import annotations

import gc
import signal
import sys
import traceback
from collections.abc import Sequence

__all__ = ["main"]

#: Exit codes: 130 is what shells expect of a command that Ctrl-C stopped, and 70 is sysexits.h's of
#: a fault in the software. 1, with which Python ends both, is a gate's fail.
FAULT, STOPPED = 70, 130
#: Objects that may be made before garbage is looked for: imports make up to 180,000, to be kept.
LITTLE = 300_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``bayesjudge``; by default what the shell gave.

    Returns
    -------
    int
        Exit code: that of `bayesjudge.cli.app.main`; 130 after Ctrl-C; 70 after an error that is a
        fault of this package, with its traceback.
    """
    if arguments is None:
        sys.unraisablehook = _unraised
        # a closed form ends before it has made so much that is searched for garbage
        gc.set_threshold(LITTLE, *gc.get_threshold()[1:])
    try:
        if arguments is None and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        from bayesjudge.cli import app

        code = app.main(arguments)
        if arguments is None:  # the process ends here, and has decided
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return code
    except KeyboardInterrupt:
        if arguments is None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("bayesjudge: stopped", file=sys.stderr)
        _held.clear()
        return STOPPED
    except Exception:
        if arguments is not None:
            raise
        traceback.print_exc()
        return FAULT
    finally:
        while _held:
            sys.__unraisablehook__(_held.pop(0))


#: Imports that failed where nothing could be raised: Ctrl-C leaves some in compiled code.
_held: list[sys.UnraisableHookArgs] = []


def _unraised(unraisable: sys.UnraisableHookArgs) -> None:
    """Print an error that could not be raised; of an import, at the end, and not after Ctrl-C."""
    if issubclass(unraisable.exc_type, ImportError):
        _held.append(unraisable)
    elif not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
