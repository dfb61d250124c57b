"""A program with calls of cuDNN in one capture: the backend, and the calls of before it. Numbers are those of cuDNN 9's
documentation; libraries_test.py knows what each call touches."""

import ctypes
import struct

from stand_ins import LL, SIZE, Device, P, check, out

device = Device("13")
dnn = ctypes.CDLL("libcudnn.so.9")
X, W, Y, SCALE, RUNNING, SAVED, WEIGHTS, RESERVE = (device.memory() for _ in range(8))
handle = out(dnn.cudnnCreate)
check(dnn.cudnnSetStream(handle, device.stream))
ONE, ZERO = (ctypes.byref(ctypes.c_float(value)) for value in (1, 0))
ENGINE, CONFIGURATION, HEURISTICS, PLAN, CONVOLUTION, FORWARD, GRAPH, PACK, TENSOR, POINTWISE = 2, 3, 4, 5, 1, 10, 15, 16, 17, 13


def descriptor(kind, attributes):
    """A finalized one. Attributes: {name: (type, values packed)}; of descriptors (15) a list of them."""
    made = P()
    check(dnn.cudnnBackendCreateDescriptor(kind, ctypes.byref(made)))
    for name, (kind_of_value, count, values) in attributes.items():
        if kind_of_value == 15:
            values = (P * count)(*values)
        check(dnn.cudnnBackendSetAttribute(made, name, kind_of_value, LL(count), values))
    check(dnn.cudnnBackendFinalize(made))
    return made


def numbers(*values):
    return 3, len(values), struct.pack(f"{len(values)}q", *values)


def tensor(number, sizes, strides, virtual=False):
    return descriptor(TENSOR, {901: (1, 1, struct.pack("i", 2)), 902: numbers(*sizes), 903: numbers(*strides),
                               906: numbers(number), 907: (2, 1, struct.pack("?", virtual)), 900: numbers(16)})


def get(of, name, kind):
    """The one descriptor that an attribute holds."""
    assert dnn.cudnnBackendGetAttribute(of, name, 15, LL(0), ctypes.byref(count := LL()), P()) == 0 and count.value == 1
    given = P()
    check(dnn.cudnnBackendCreateDescriptor(kind, ctypes.byref(given)))
    check(dnn.cudnnBackendGetAttribute(of, name, 15, LL(1), ctypes.byref(count), ctypes.byref(given)))
    return given


# t (virtual) = convolution of x (2 x 4 x 8 x 8) and w, in half precision; y = relu(t)
x = tensor(1, (2, 4, 8, 8), (256, 64, 8, 1))
w = tensor(2, (6, 4, 3, 3), (36, 9, 3, 1))
t = tensor(3, (2, 6, 6, 6), (216, 36, 6, 1), virtual=True)
y = tensor(4, (2, 6, 6, 6), (400, 36, 6, 1))
convolution = descriptor(CONVOLUTION, {100: (1, 1, struct.pack("i", 0))})
forward = descriptor(FORWARD, {700: (4, 1, struct.pack("f", 1)), 701: (4, 1, struct.pack("f", 0)),
                               702: (15, 1, [convolution]), 703: (15, 1, [w]), 704: (15, 1, [x]), 705: (15, 1, [t])})
relu = descriptor(POINTWISE, {750: (15, 1, [descriptor(0, {0: (14, 1, struct.pack("i", 100))})]), 751: (15, 1, [t]),
                              753: (15, 1, [y])})
graph = descriptor(GRAPH, {800: (0, 1, struct.pack("Q", handle.value)), 801: (15, 2, [forward, relu])})
heuristics = descriptor(HEURISTICS, {201: (15, 1, [graph]), 200: (8, 1, struct.pack("i", 0))})
configuration = get(heuristics, 202, CONFIGURATION)
assert get(configuration, 300, ENGINE)
plan = descriptor(PLAN, {401: (15, 1, [configuration])})
pack = descriptor(PACK, {1000: numbers(1, 2, 4), 1001: (6, 3, struct.pack("3Q", X.value, W.value, Y.value)),
                         1003: (6, 1, struct.pack("Q", 0))})
device.capture()
check(dnn.cudnnBackendExecute(handle, plan, pack))


def nd(sizes, strides):
    made = out(dnn.cudnnCreateTensorDescriptor)
    check(dnn.cudnnSetTensorNdDescriptor(made, 0, len(sizes), (ctypes.c_int * len(sizes))(*sizes),
                                         (ctypes.c_int * len(sizes))(*strides)))
    return made


image, channels = nd((2, 4, 8, 8), (256, 64, 8, 1)), nd((1, 4, 1, 1), (4, 1, 1, 1))
check(dnn.cudnnBatchNormalizationForwardTrainingEx(
    handle, 1, 0, ONE, ZERO, image, X, P(), P(), image, Y, channels, SCALE, P(SCALE.value + 64), ctypes.c_double(0.1),
    RUNNING, P(RUNNING.value + 64), ctypes.c_double(1e-5), SAVED, P(SAVED.value + 64), P(), P(), SIZE(0), P(), SIZE(0)))

filters, bare = out(dnn.cudnnCreateFilterDescriptor), out(dnn.cudnnCreateConvolutionDescriptor)
check(dnn.cudnnSetFilterNdDescriptor(filters, 0, 0, 4, (ctypes.c_int * 4)(4, 4, 3, 3)))
check(dnn.cudnnConvolutionForward(handle, ONE, image, X, filters, W, bare, 1, P(), SIZE(0), ONE, image, Y))

# an LSTM of 1 layer, 8 in, 16 hidden, over 5 steps of 3
network, sequence, outputs = out(dnn.cudnnCreateRNNDescriptor), *(out(dnn.cudnnCreateRNNDataDescriptor) for _ in range(2))
check(dnn.cudnnSetRNNDescriptor_v8(network, 0, 2, 2, 0, 0, 0, 0, 0, 8, 16, 16, 1, P(), 0))
check(dnn.cudnnSetRNNDataDescriptor(sequence, 0, 0, 5, 3, 8, P(), P()))
check(dnn.cudnnSetRNNDataDescriptor(outputs, 0, 0, 5, 3, 16, P(), P()))
size = SIZE()
check(dnn.cudnnGetRNNWeightSpaceSize(handle, network, ctypes.byref(size)))
assert size.value == 4 * 4 * (16 * 8 + 16 * 16 + 2 * 16), size.value
matrix, bias = out(dnn.cudnnCreateTensorDescriptor), out(dnn.cudnnCreateTensorDescriptor)
at, bias_at = P(), P()
check(dnn.cudnnGetRNNWeightParams(handle, network, 0, size, WEIGHTS, 1, matrix, ctypes.byref(at), bias, ctypes.byref(bias_at)))
assert at.value - WEIGHTS.value == 4 * 16 * 8 and bias_at.value - WEIGHTS.value == 4 * (4 * (16 * 8 + 16 * 16) + 16)
check(dnn.cudnnRNNForward(handle, network, 1, P(), sequence, X, outputs, Y, P(), P(), P(), P(), P(), P(), size, WEIGHTS,
                          SIZE(0), P(), SIZE(256), RESERVE))
assert dnn.cudnnAddTensor(handle, ONE, image, X, ONE, image, Y) == 3000, "CUDNN_STATUS_NOT_SUPPORTED"
print("nodes", device.end())
