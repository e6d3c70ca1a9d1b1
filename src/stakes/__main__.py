"""``python -m stakes`` is the command ``stakes``."""

import sys

from stakes.cli import main

if __name__ == "__main__":
    sys.exit(main())
