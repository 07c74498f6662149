"""`python -m bcdp` is the command `bcdp`, for whom its folder of programs is not on the path."""

import sys

from bcdp.cli import main

sys.exit(main())
