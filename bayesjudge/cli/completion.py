"""``bayesjudge completion``: a script that completes commands and options in a shell."""

from __future__ import annotations

import sys
from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a script that completes commands and options in a shell.

    ```
    bayesjudge completion bash >> ~/.bashrc
    ```

    Parameters
    ----------
    shell : {"bash", "zsh", "fish"}
        The shell whose script is printed.
    """
    from bayesjudge.cli.commands import COMMANDS, build_app

    app = build_app(list(COMMANDS), every=True)
    sys.stdout.write(app.generate_completion(shell=shell))
