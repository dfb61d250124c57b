"""cudagraphkit's recording of PyTorch's graphs as a module, `recording`, without the rest of the package, which the ordinary build lacks."""

import importlib
import pathlib
import sys
import types

package = types.ModuleType("cudagraphkit")
package.__path__ = [str(pathlib.Path(__file__).resolve().parents[2] / "plugins/python/cudagraphkit")]
sys.modules["cudagraphkit"] = package
recording = importlib.import_module("cudagraphkit._recording")
