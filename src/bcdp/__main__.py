"""`python -m bcdp` is the command `bcdp`, for whom its folder of programs is not on the path."""

import sys

from bcdp.cli import main

if __name__ == "__main__":
    sys.exit(main())
