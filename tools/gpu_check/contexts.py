"""Which call of the runtime makes the primary context of device 0 active, each as the first call of a process: a line
for each, its result and `active` or `inactive`. For tools/gpu_check.sh, on a GPU and on the software device.

    contexts.py           all calls, each in a process of its own
    contexts.py CALL      one call
"""

import ctypes
import glob
import subprocess
import sys
import sysconfig

INT, POINTER = ctypes.c_int, ctypes.c_void_p
TEXT = ctypes.create_string_buffer(4096)  # room for what a call returns
OUT = ctypes.addressof(TEXT)
CALLS = {
    "cudaGetDeviceCount": (OUT,),
    "cudaGetDevice": (OUT,),
    "cudaDriverGetVersion": (OUT,),
    "cudaDeviceGetAttribute": (OUT, INT(1), INT(0)),
    "cudaGetDeviceProperties": (OUT, INT(0)),
    "cudaDeviceGetStreamPriorityRange": (OUT, OUT + 8),
    "cudaDeviceCanAccessPeer": (OUT, INT(0), INT(0)),
    "cudaDeviceGetDefaultMemPool": (OUT, INT(0)),
    "cudaDeviceGetLimit": (OUT, INT(0)),
    "cudaDeviceGetPCIBusId": (OUT, INT(64), INT(0)),
    "cudaStreamIsCapturing": (POINTER(0), OUT),
    "cudaStreamQuery": (POINTER(0),),
    "cudaPointerGetAttributes": (OUT, POINTER(OUT)),
    "cudaSetDevice": (INT(0),),
    "cudaMemGetInfo": (OUT, OUT + 8),
    "cudaDeviceSynchronize": (),
    "cudaStreamCreate": (OUT,),
    "cudaEventCreate": (OUT,),
    "cudaHostAlloc": (OUT, ctypes.c_size_t(64), INT(0)),
    "cudaGraphCreate": (OUT, INT(0)),
    "cudaFree": (POINTER(0),),
    "cudaThreadExchangeStreamCaptureMode": (OUT,),
    "cudaProfilerStart": (),
    "cudaGetLastError": (),
}


def runtime():
    site = sysconfig.get_paths()["purelib"]
    for name in ["libcudart.so.13", *glob.glob("/usr/local/cuda*/lib64/libcudart.so.13"), *glob.glob(f"{site}/nvidia/*/lib/libcudart.so.13")]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    sys.exit("there is no libcudart.so.13 here: CUDA 13's toolkit or nvidia-cuda-runtime has it")


def active():
    driver, flags, state = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint(), ctypes.c_int()
    assert driver.cuInit(0) == 0
    assert driver.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(state)) == 0
    return "active" if state.value else "inactive"


if len(sys.argv) == 2:
    name = sys.argv[1]
    arguments = [POINTER(argument) if isinstance(argument, int) else argument for argument in CALLS[name]]
    print(name, getattr(runtime(), name)(*arguments), active())
else:
    for name in CALLS:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True)
        print(done.stdout.strip() or f"{name} ended with {done.returncode}: {done.stderr.strip()[-200:]}", flush=True)
