"""Runs a program while cudagraphkit.record()'s hooks record it, and leaves what they saw in a folder.

    beside.py FOLDER PROGRAM [ARGUMENT...]

Under `graphkit trace` both record the same run (compare_recordings.py).
"""

import atexit
import importlib.util
import pathlib
import runpy
import sys

import torch

RECORDING = pathlib.Path(__file__).resolve().parents[2] / "plugins/python/cudagraphkit/_recording.py"
spec = importlib.util.spec_from_file_location("graphkit_recording", RECORDING)
recording = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = recording
spec.loader.exec_module(recording)

folder, sys.argv = sys.argv[1], sys.argv[2:]
recorded = recording.GraphRecording(torch, "")
recorded._ended = True  # its parts are written, each for itself
atexit.register(recorded.write_parts, folder)
runpy.run_path(sys.argv[0], run_name="__main__")
