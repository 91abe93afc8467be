"""`python -m podsim`."""

import sys

from podsim.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
