"""The command ``hmeta``, also ``python -m hmeta``: an interruption while it loads leaves no traceback."""

from __future__ import annotations

import sys
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Load the command line and run it."""
    try:
        from hmeta.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was written\n")
        raise SystemExit(INTERRUPTED) from None
    run()


if __name__ == "__main__":
    main()
