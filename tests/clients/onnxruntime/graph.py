# graphkit: nothing
"""ONNX Runtime captures a model in its session and launches it; its arena is kept until the end."""
import numpy
import onnx
import torch  # brings CUDA's libraries
import onnxruntime
from onnx import TensorProto, helper

weights = helper.make_tensor("w", TensorProto.FLOAT, [256, 256], numpy.ones(256 * 256, numpy.float32))
nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["r"]), helper.make_node("MatMul", ["r", "w"], ["y"])]
shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 256]) for name in "xy"]
model = helper.make_model(helper.make_graph(nodes, "mlp", shapes[:1], shapes[1:], [weights]),
                          opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=[("CUDAExecutionProvider", {"enable_cuda_graph": "1"})])
assert session.get_providers()[0] == "CUDAExecutionProvider"
binding = session.io_binding()
binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(numpy.ones((64, 256), numpy.float32), "cuda", 0))
binding.bind_ortvalue_output("y", onnxruntime.OrtValue.ortvalue_from_numpy(numpy.zeros((64, 256), numpy.float32), "cuda", 0))
for _ in range(5):
    session.run_with_iobinding(binding)
