"""Compares what the tracer and the software device take from CUDA 13's headers with the headers of another version.

    layouts.py --version 12.3 --include DIR --reference DIR [--reference DIR] --compiler CXX --project DIR --out DIR

Both are built with one version's headers and meet programs and libraries of others. So every callback id must have
the same number there, and every structure that reaches them the same size and offsets, but for what EXPECTED lists.
The reference's sizes become static asserts, which the compiler checks with the other version's headers.
"""

import argparse
import pathlib
import re
import subprocess
import sys

# Structures that may have another size, and why nothing of ours depends on it.
EXPECTED = {
    "CUDA_CHILD_GRAPH_NODE_PARAMS": "12.9 added ownership; before, these bytes of CUgraphNodeParams had to be 0",
    "cudaChildGraphNodeParams": "as CUDA_CHILD_GRAPH_NODE_PARAMS",
    "CUDA_HOST_NODE_PARAMS_v2": "13.2 added a field at the end, inside CUgraphNodeParams",
    "cudaHostNodeParamsV2": "as CUDA_HOST_NODE_PARAMS_v2",
    "CUDA_EVENT_RECORD_NODE_PARAMS": "13.2 added a field at the end, inside CUgraphNodeParams",
    "cudaEventRecordNodeParams": "as CUDA_EVENT_RECORD_NODE_PARAMS",
    "CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2": "13.2 added a field at the end, inside CUgraphNodeParams",
    "cudaExternalSemaphoreSignalNodeParamsV2": "as CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2",
    "CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2": "13.2 added a field at the end, inside CUgraphNodeParams",
    "cudaExternalSemaphoreWaitNodeParamsV2": "as CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2",
    "cudaConditionalNodeParams": "13.2 added a field at the end, inside cudaGraphNodeParams",
    "cudaKernelNodeParamsV2": "13.2 added fields at the end, inside cudaGraphNodeParams",
    "cudaMemsetParamsV2": "13.2 added a field at the end, inside cudaGraphNodeParams",
    "CUdevSmResource": "not used",
    "CUpti_SubscriberParams": "13.2 added a field at the end; structSize says so",
    "cudaDeviceProp": "runtime12/layouts.h has CUDA 12's",
    "cudaPointerAttributes": "runtime12/layouts.h has CUDA 12's",
    "cudaExternalSemaphoreHandleDesc": "CUDA 13 has reserved bytes behind what CUDA 12 has; they aren't read",
    "cudaExternalMemoryHandleDesc": "not modelled", "cudaExternalMemoryBufferDesc": "not modelled",
    "cudaExternalMemoryMipmappedArrayDesc": "not modelled",
    "cudaResourceDesc": "not modelled with CUDA 12", "cudaResourceViewDesc": "not modelled with CUDA 12",
}

# Fields that the tracer reads from structures that aren't parameters of a call.
FIELDS = {
    "CUpti_CallbackData": "callbackSite functionName functionParams functionReturnValue symbolName context contextUid "
                          "correlationData correlationId",
    "CUpti_ResourceData": "context resourceHandle.stream resourceDescriptor",
    "CUpti_GraphData": "graph originalGraph node originalNode nodeType dependency graphExec",
    "CUpti_ModuleResourceData": "moduleId cubinSize pCubin",
    "CUgraphNodeParams": "type kernel memcpy.copyParams memset host.fn host.userData graph.graph eventWait.event "
                         "eventRecord.event alloc free.dptr memOp.paramArray memOp.count conditional",
    "CUDA_BATCH_MEM_OP_NODE_PARAMS": "count paramArray",
    "CUstreamBatchMemOpParams": "operation waitValue.address writeValue.address",
    "CUDA_MEMCPY3D_BATCH_OP": "src.type src.op.ptr.ptr src.op.ptr.rowLength src.op.ptr.layerHeight dst extent.width "
                              "extent.height extent.depth",
    "CUmemDecompressParams": "srcNumBytes dstActBytes src dst",
    "CUDA_MEMCPY3D_PEER": "srcXInBytes srcY srcZ srcMemoryType srcHost srcDevice srcPitch srcHeight dstXInBytes dstY dstZ "
                          "dstMemoryType dstHost dstDevice dstPitch dstHeight WidthInBytes Height Depth",
    "CUgraphEdgeData": "from_port to_port type",
    "CUDA_KERNEL_NODE_PARAMS_v2": "func gridDimX blockDimX sharedMemBytes kernelParams extra kern ctx",
    "CUDA_MEMSET_NODE_PARAMS": "dst pitch value elementSize width height",
    "CUDA_MEM_ALLOC_NODE_PARAMS": "poolProps bytesize dptr",
    "CUDA_CONDITIONAL_NODE_PARAMS": "handle type size phGraph_out ctx",
    "CUDA_MEMCPY3D": "srcXInBytes srcY srcZ srcMemoryType srcHost srcDevice srcPitch srcHeight dstXInBytes dstY dstZ "
                     "dstMemoryType dstHost dstDevice dstPitch dstHeight WidthInBytes Height Depth",
    "CUDA_MEMCPY2D": "srcXInBytes srcY srcMemoryType srcHost srcDevice srcPitch dstXInBytes dstY dstMemoryType dstHost "
                     "dstDevice dstPitch WidthInBytes Height",
    "CUlaunchConfig": "gridDimX gridDimY gridDimZ blockDimX blockDimY blockDimZ sharedMemBytes hStream attrs numAttrs",
    "CUlaunchAttribute": "id value",
    "CUlaunchAttributeValue": "programmaticStreamSerializationAllowed programmaticEvent.event "
                              "programmaticEvent.triggerAtBlockStart launchCompletionEvent.event",
    "CUgraphExecUpdateResultInfo": "result errorNode errorFromNode",
    "CUDA_GRAPH_INSTANTIATE_PARAMS": "flags hUploadStream hErrNode_out result_out",
    "cudaLaunchConfig_t": "gridDim blockDim dynamicSmemBytes stream attrs numAttrs",
}

# Structures, and fields, that a version before the given one doesn't have.
SINCE = {"CUDA_CONDITIONAL_NODE_PARAMS": (12, 3), "CUgraphEdgeData": (12, 3), "CUmemDecompressParams": (12, 6),
         "CUDA_MEMCPY3D_BATCH_OP": (12, 8), "CUgraphNodeParams": (12, 2), "CUgraphNodeParams.conditional": (12, 3),
         "CUlaunchAttributeValue.launchCompletionEvent.event": (12, 3)}

# Functions that another version calls otherwise, by the reference's names.
RENAMED = {"cuStreamBeginCaptureToCig": "cuStreamCreateForCaptureToCig"}

HEADERS = ["cuda.h", "driver_types.h", "cupti_callbacks.h"]
DOMAINS = {"driver": ("cupti_driver_cbid.h", "CUPTI_DRIVER_TRACE_CBID_"),
           "runtime": ("cupti_runtime_cbid.h", "CUPTI_RUNTIME_TRACE_CBID_"),
           "resource": ("cupti_callbacks.h", "CUPTI_CBID_RESOURCE_")}
PREAMBLE = ("#include <cstddef>\n#include <cuda.h>\n#include <cuda_runtime_api.h>\n#include <cupti.h>\n")


def text_of(folders, name):
    for folder in folders:
        if (folder / name).exists():
            return (folder / name).read_text()
    sys.exit(f"no {name} in {', '.join(map(str, folders))}")


def structures(folders):
    """Names of the structures of CUDA's and CUPTI's callbacks headers, and of the driver's parameters."""
    names = set()
    for header in HEADERS:
        text = text_of(folders, header)
        names |= {n for n in re.findall(r"^\}\s*(\w+)\s*;", text, re.M) if not n.endswith("_enum")}
        names |= set(re.findall(r"struct\s+__device_builtin__\s+(cuda\w+)\s*\{", text))
    return names | {name + "_params" for name in parameters(folders)}


def parameters(folders):
    """{call: [fields]} of the driver."""
    found = {}
    for call, body in re.findall(r"typedef struct (\w+)_params_st \{(.*?)\}", text_of(folders, "generated_cuda_meta.h"), re.S):
        found[call] = [re.findall(r"\w+", d)[-1] for d in body.split(";") if d.strip()]
    return found


def callback_ids(folders, domain):
    header, prefix = DOMAINS[domain]
    rows = re.findall(rf"\b{prefix}(\w+)\s*=\s*(\d+)", text_of(folders, header))
    return {label: int(number) for label, number in rows if label not in ("SIZE", "INVALID", "FORCE_INT")}


def measured(options, expressions):
    """The values of size_t expressions with the reference's headers."""
    source = options.out / "reference.cpp"
    lines = "\n".join(f'  std::printf("%zu\\n", static_cast<std::size_t>({e}));' for e in expressions)
    source.write_text(f"{PREAMBLE}#include <cstdio>\nint main() {{\n{lines}\n}}\n")
    program = options.out / "reference"
    subprocess.run([options.compiler, "-w", "-std=c++20", "-O0", *[f"-I{i}" for i in options.reference],
                    str(source), "-o", str(program)], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()


def expressions_for(options, here, there):
    both = sorted(here & there)
    expressions = [f"sizeof({name})" for name in both if name not in EXPECTED]
    ours, theirs = parameters(options.reference), parameters([options.include])
    for call in sorted(ours.keys() & theirs.keys()):
        if len(ours[call]) != len(theirs[call]):
            sys.exit(f"{call} has other parameters: {ours[call]} and {theirs[call]}")
        expressions += [f"offsetof({call}_params, {field})" for field in ours[call] if field in theirs[call]]
    for name, fields in FIELDS.items():
        if options.number >= SINCE.get(name, (0, 0)):
            expressions += [f"offsetof({name}, {field})" for field in fields.split()
                            if options.number >= SINCE.get(f"{name}.{field}", (0, 0))]
    return expressions


def id_asserts(options):
    """The other version's ids by name; CUDA 12 has suffixes where CUDA 13 took them away."""
    asserts = []
    for domain, (_, prefix) in DOMAINS.items():
        ours = callback_ids(options.reference, domain)
        for label, number in callback_ids([options.include], domain).items():
            known = ours.get(RENAMED.get(label, label), ours.get(re.sub(r"_v[23]((?:_ptsz)?_v\d+)$", r"\1", label)))
            if re.fullmatch(r"cuda\d+(_v\d+)?", label):
                continue  # a number that no documented function has
            if known is None and number in ours.values():
                sys.exit(f"{prefix}{label} is {number}, which the reference has under another name")
            if known is not None:
                asserts.append(f"static_assert({prefix}{label} == {known});")
    return asserts


def cuda12_asserts(options):
    """CUDA 12's own layouts, as runtime12/layouts.h has them, and CUPTI's limits as version12.cpp has them."""
    if options.number[0] != 12:
        return []
    header = options.project / "plugins/soft_cuda/runtime12/layouts.h"
    lines = [f'#include "{header}"', "using namespace graphkit::soft;"]
    for ours, theirs in (("DeviceProp", "cudaDeviceProp"), ("PointerAttributes", "cudaPointerAttributes")):
        body = re.search(rf"struct {ours} \{{.*?\n(.*?)\n\}};", header.read_text(), re.S).group(1)
        fields = [re.sub(r"\[.*", "", line.split(";")[0]).split()[-1].strip("*") for line in body.split("\n")]
        lines.append(f"static_assert(sizeof(runtime12::{ours}) == sizeof({theirs}));")
        lines += [f"static_assert(offsetof(runtime12::{ours}, {f}) == offsetof({theirs}, {f}));"
                  for f in fields if f != "reserved"]
    if options.number == (12, 9):
        version = (options.project / "plugins/soft_cuda/cupti/version12.cpp").read_text()
        numbers = re.search(r"kCuptiVersion\{(\d+), (\d+), (\d+), (\d+)", version).groups()
        names = ("CUPTI_API_VERSION", "CUPTI_DRIVER_TRACE_CBID_SIZE", "CUPTI_RUNTIME_TRACE_CBID_SIZE",
                 "CUPTI_CBID_RESOURCE_SIZE")
        lines += [f"static_assert({name} == {number});" for name, number in zip(names, numbers)]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--reference", type=pathlib.Path, action="append", required=True)
    for option in ("--include", "--project", "--out"):
        parser.add_argument(option, type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.number = tuple(map(int, options.version.split(".")))
    options.project = options.project.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    here, there = structures(options.reference), structures([options.include])
    expressions = expressions_for(options, here, there)
    asserts = [f"static_assert({e} == {v});" for e, v in zip(expressions, measured(options, expressions))]
    asserts += id_asserts(options) + cuda12_asserts(options)
    source = options.out / "layouts.cpp"
    source.write_text(PREAMBLE + "\n".join(asserts) + "\n")
    done = subprocess.run([options.compiler, "-w", "-std=c++20", "-fsyntax-only", f"-I{options.include}", str(source)],
                          check=False)
    print(f"CUDA {options.version}: {len(asserts)} asserts in {source}")
    print(f"not in it: {len(here - there)} structures; not in the reference: {len(there - here)}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
