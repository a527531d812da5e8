"""``python -m bayesjudge``: the command line."""

import sys

from bayesjudge.cli import main

sys.exit(main())
