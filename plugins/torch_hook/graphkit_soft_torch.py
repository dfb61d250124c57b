"""On the software device: leads torch to graphkit's libraries in place of NVIDIA's."""

import os
import re


def soft_device():
    """The software device's folder; none: the program runs on a GPU."""
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if os.path.basename(folder.rstrip("/")) == "soft_cuda":
            return folder
    return None


def cuda_of(torch_folder):
    """The version of CUDA that torch was built for, "13"; none: its file doesn't say."""
    try:
        with open(os.path.join(torch_folder, "version.py")) as file:
            match = re.search(r"^cuda\b[^=\n]*=\s*['\"](\d+)", file.read(), re.MULTILINE)
    except OSError:
        return None
    return match[1] if match else None


def load_soft_runtime(torch_folder):
    """On the software device: torch's wheel names its CUDA runtime and CUPTI by path (RPATH), before LD_LIBRARY_PATH,
    and those don't run here. What is loaded already for all is taken in their place: of torch's own version, as in an
    environment that pip made. cudnn-frontend would take CUDA 12's where both are there."""
    folder = soft_device()
    if folder is None:
        return
    import ctypes

    version = cuda_of(torch_folder)
    for number in (version,) if version in ("12", "13") else ("12", "13"):
        for name in (f"libcudart.so.{number}", f"libcupti.so.{number}"):
            try:
                ctypes.CDLL(os.path.join(folder, name), mode=ctypes.RTLD_GLOBAL)
            except OSError:
                pass  # said by torch, if it misses it
    if version:
        os.environ.setdefault("CUDNN_FRONTEND_CUDART_LIB_NAME", f"libcudart.so.{version}")
