"""Lists the arguments of driver functions that say something by their value.

    generate_arguments.py CUDA_INCLUDE CUPTI_INCLUDE OUTPUT

Reads CUPTI's parameter structures (generated_cuda_meta.h) and callback ids, and writes rows of two macros,

    GRAPHKIT_VALUE(cuMemAlloc_v2, bytesize)     numbers, enumerators, handles: told apart by their type
    GRAPHKIT_ADDRESS(cuMemFree_v2, dptr)        addresses of device memory, which have the type of a number

Pointers to host memory are left out, and so are handles of what a trace doesn't know.
"""

import pathlib
import re
import sys

NUMBERS = {"int", "unsigned int", "size_t", "long long", "unsigned long long", "unsigned char", "unsigned short",
           "cuuint32_t", "cuuint64_t"}


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


def main():
    cuda, cupti, output = map(pathlib.Path, sys.argv[1:])
    ids = (cupti / "cupti_driver_cbid.h").read_text()
    calls = set(re.findall(r"CUPTI_DRIVER_TRACE_CBID_(\w+)\s*=", ids))
    meta = next(folder / "generated_cuda_meta.h" for folder in (cupti, cuda)
                if (folder / "generated_cuda_meta.h").exists())
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n".join(rows(meta.read_text(), calls)) + "\n")


if __name__ == "__main__":
    main()
