"""python -m cudagraphkit: the command that the package brings."""

import sys

from cudagraphkit._command import main

sys.exit(main())
