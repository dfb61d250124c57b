"""Lists what CUDA's headers say of functions: their arguments, for calls that fail, and which the tracer doesn't hear.

    generate_lists.py CUDA_INCLUDE CUPTI_INCLUDE FOLDER

Reads CUPTI's parameter structures (generated_cuda_meta.h) and callback ids. FOLDER/driver_arguments.inc has the
arguments of driver functions that say something by their value, as rows of two macros:

    GRAPHKIT_VALUE(cuMemAlloc_v2, bytesize)     numbers, enumerators, handles: told apart by their type
    GRAPHKIT_ADDRESS(cuMemFree_v2, dptr)        addresses of device memory, which have the type of a number

Pointers to host memory are left out, and so are handles of what a trace doesn't know. FOLDER/runtime_noise.inc has
the callback ids of the runtime functions of NOISE, in all their versions.
"""

import pathlib
import re
import sys

NUMBERS = {"int", "unsigned int", "size_t", "long long", "unsigned long long", "unsigned char", "unsigned short",
           "cuuint32_t", "cuuint64_t"}

# cudaGetLastError and the like, device and attribute queries, what nvcc emits around launches: they say nothing about
# work or memory, and are called all the time.
NOISE = re.compile(r"""(__cuda(?!LaunchKernel)\w+ | cudaDeviceGetAttribute | cudaDeviceGetP2PAttribute
    | cudaDeviceGetStreamPriorityRange | cudaDriverGetVersion | cudaFreeHost | cudaFuncGetParamInfo | cudaGetDevice
    | cudaGetDeviceCount | cudaGetDeviceFlags | cudaGetDeviceProperties | cudaGetDriverEntryPoint\w*
    | cudaGetErrorName | cudaGetErrorString | cudaGetExportTable | cudaGetFuncBySymbol | cudaGetKernel
    | cudaGetLastError | cudaGetSymbolAddress | cudaGetSymbolSize | cudaMemGetInfo
    | cudaOccupancyMaxActiveBlocksPerMultiprocessor(WithFlags)? | cudaPeekAtLastError | cudaPointerGetAttributes
    | cudaRuntimeGetVersion | cudaSetDevice | cudaSetDoubleForDevice | cudaStreamGet\w+
    | cudaStreamIsCapturing)(_ptsz)?_v\d+""", re.X)


def fields(body):
    """(type, name) of the fields of a structure, without arrays."""
    for declaration in body.split(";"):
        found = re.fullmatch(r"\s*(.*?)\s*(\w+)\s*", declaration, re.S)
        if found:
            yield " ".join(found.group(1).split()), found.group(2)


def rows(meta, calls):
    for call, body in re.findall(r"typedef struct (\w+)_params_st \{(.*?)\}", meta, re.S):
        for kind, name in fields(body) if call in calls else ():
            if kind == "CUdeviceptr":
                yield f"GRAPHKIT_ADDRESS({call}, {name})"
            elif kind in NUMBERS or re.fullmatch(r"CU\w+", kind):  # an enumeration, or a handle
                yield f"GRAPHKIT_VALUE({call}, {name})"


def names(cupti, domain):
    text = (cupti / f"cupti_{domain}_cbid.h").read_text()
    return re.findall(rf"CUPTI_{domain.upper()}_TRACE_CBID_(\w+)\s*=", text)


def main():
    cuda, cupti, folder = map(pathlib.Path, sys.argv[1:])
    meta = next(include / "generated_cuda_meta.h" for include in (cupti, cuda)
                if (include / "generated_cuda_meta.h").exists())
    noise = [f"CUPTI_RUNTIME_TRACE_CBID_{name}," for name in names(cupti, "runtime") if NOISE.fullmatch(name)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "driver_arguments.inc").write_text("\n".join(rows(meta.read_text(), set(names(cupti, "driver")))) + "\n")
    (folder / "runtime_noise.inc").write_text("\n".join(noise) + "\n")


if __name__ == "__main__":
    main()
