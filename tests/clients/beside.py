"""Runs a program while cudagraphkit.record()'s hooks record it, and leaves what they saw in a folder named after the process.

    beside.py FOLDER PROGRAM [ARGUMENT...]

Under `graphkit trace` both record the same run (compare_recordings.py).
"""

import atexit
import os
import pathlib
import runpy
import sys

import torch
from recording import recording

folder, sys.argv = pathlib.Path(sys.argv[1], str(os.getpid())), sys.argv[2:]
folder.mkdir()
recorded = recording.GraphRecording(torch, "")
recorded._ended = True  # its parts are written, each for itself
atexit.register(recorded.write_parts, str(folder))
runpy.run_path(sys.argv[0], run_name="__main__")
