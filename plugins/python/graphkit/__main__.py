"""python -m graphkit: the command that the package brings."""

import sys

from graphkit._command import main

sys.exit(main())
