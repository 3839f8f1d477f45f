"""``python -m hmeta`` is the same as the command ``hmeta``."""

from hmeta.cli import main

if __name__ == "__main__":
    main()
