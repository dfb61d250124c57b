// Parameters of calls about graphs and what is made from them.
#include <cuda.h>
#include <cupti.h>

#include "plugins/cupti_tracer/driver_decoders.h"
#include "plugins/cupti_tracer/driver_params.h"

namespace graphkit::decode {
namespace {}  // namespace

void OfGraph(const CallParams& params, Call& call) {
  call.graph = Address(As<cuGraphDestroy_params>(params).hGraph);
}
void OfNode(const CallParams& params, Call& call) {
  call.node = Address(As<cuGraphDestroyNode_params>(params).hNode);
}
void OfExec(const CallParams& params, Call& call) {
  call.exec = Address(As<cuGraphExecDestroy_params>(params).hGraphExec);
}
void GraphClone(const CallParams& params, Call& call) {
  const auto& p = As<cuGraphClone_params>(params);
  call.original = Address(p.originalGraph);
  if (params.done && p.phGraphClone != nullptr) call.graph = Address(*p.phGraphClone);
}
namespace {
template <typename Params>
void EdgesOf(const CallParams& params, Call& call) {
  const auto& p = As<Params>(params);
  call.graph = Address(p.hGraph);
  const CUgraphEdgeData* data = nullptr;
  if constexpr (requires { p.edgeData; }) data = p.edgeData;
  for (size_t i = 0; data != nullptr && i < p.numDependencies; ++i) {
    call.dependencies.push_back(
        {Address(p.from[i]), Address(p.to[i]), data[i].from_port, data[i].to_port, data[i].type});
  }
}
template <typename Params>
void InstantiateFrom(const CallParams& params, Call& call) {
  const auto& p = As<Params>(params);
  call.graph = Address(p.hGraph);
  if constexpr (requires { p.flags; }) call.flags = p.flags;
  if constexpr (requires { p.instantiateParams; }) {
    if (p.instantiateParams != nullptr) call.flags = p.instantiateParams->flags;
  }
  if (params.done) call.exec = Address(*p.phGraphExec);
}
}  // namespace

void AddEdges(const CallParams& params, Call& call) {
  EdgesOf<cuGraphAddDependencies_params>(params, call);
}
void AddEdgesV2(const CallParams& params, Call& call) {
  EdgesOf<cuGraphAddDependencies_v2_params>(params, call);
}
void RemoveEdges(const CallParams& params, Call& call) {
  EdgesOf<cuGraphRemoveDependencies_params>(params, call);
}
void RemoveEdgesV2(const CallParams& params, Call& call) {
  EdgesOf<cuGraphRemoveDependencies_v2_params>(params, call);
}
void Instantiate(const CallParams& params, Call& call) {
  InstantiateFrom<cuGraphInstantiate_v2_params>(params, call);
}
void InstantiateWithFlags(const CallParams& params, Call& call) {
  InstantiateFrom<cuGraphInstantiateWithFlags_params>(params, call);
}
void InstantiateWithParams(const CallParams& params, Call& call) {
  InstantiateFrom<cuGraphInstantiateWithParams_params>(params, call);
}

void UpdateExecV1(const CallParams& params, Call& call) {
  const auto& p = As<cuGraphExecUpdate_params>(params);
  call.exec = Address(p.hGraphExec);
  call.graph = Address(p.hGraph);
  if (p.updateResult_out != nullptr) call.flags = static_cast<uint64_t>(*p.updateResult_out);
}
void UpdateExec(const CallParams& params, Call& call) {
  const auto& p = As<cuGraphExecUpdate_v2_params>(params);
  call.exec = Address(p.hGraphExec);
  call.graph = Address(p.hGraph);
  if (p.resultInfo != nullptr) call.flags = static_cast<uint64_t>(p.resultInfo->result);
}
void GraphLaunch(const CallParams& params, Call& call) {
  const auto& p = As<cuGraphLaunch_params>(params);
  call.exec = Address(p.hGraph);
  call.stream = Stream(params, p.hStream);
}

}  // namespace graphkit::decode
