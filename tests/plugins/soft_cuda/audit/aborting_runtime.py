"""Writes the C source of a CUDA runtime in which every function aborts: `aborting_runtime.py LIBRARY OUT.c`, with the
functions that the library exports. Linked into a program it stands for a static runtime of which no copy is at hand:
the program runs only if each call was led elsewhere."""

import re
import subprocess
import sys

library, out = sys.argv[1:]
listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
names = sorted(set(re.findall(r" T (_*cuda\w+)@", listed)))
assert "cudaMalloc" in names, listed[:200]
with open(out, "w", encoding="utf-8") as file:
    file.write("#include <stdlib.h>\n")
    file.writelines(f"void {name}(void) {{ abort(); }}\n" for name in names)
