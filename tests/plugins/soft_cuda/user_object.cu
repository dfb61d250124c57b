// User objects: who holds references, and when the destructor is called.
#include <atomic>
#include <chrono>
#include <climits>
#include <thread>

#include "graphs.h"

using namespace conformance;

namespace {

cudaStream_t stream;
std::atomic<int> destroyed{0};

void Destroy(void* number) { destroyed += *static_cast<int*>(number); }

// The destructor runs on a thread of CUDA's; nothing but the object can tell when.
bool BecomesDestroyed(int count) {
  for (int i = 0; i < 1000 && destroyed != count; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return destroyed == count;
}

cudaUserObject_t NewObject(unsigned references) {
  static int one = 1;
  destroyed = 0;
  cudaUserObject_t object = nullptr;
  EXPECT_OK(
      cudaUserObjectCreate(&object, &one, Destroy, references, cudaUserObjectNoDestructorSync));
  return object;
}

// effect: cudaUserObjectCreate cudaUserObjectRetain cudaUserObjectRelease
CASE(References) {
  cudaUserObject_t object = NewObject(1);
  EXPECT_OK(cudaUserObjectRetain(object, 2));
  EXPECT_OK(cudaUserObjectRelease(object, 2));
  EXPECT(destroyed == 0);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaUserObjectRetain(object, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaUserObjectRelease(object, 0));
  EXPECT_OK(cudaUserObjectRelease(object, 1));
  EXPECT(BecomesDestroyed(1));
  int number = 0;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaUserObjectCreate(&object, &number, Destroy, 1, 0));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaUserObjectCreate(&object, &number, Destroy, 0, cudaUserObjectNoDestructorSync));
}

// effect: cudaGraphRetainUserObject cudaGraphReleaseUserObject
CASE(HeldByGraphs) {
  cudaUserObject_t object = NewObject(1);
  cudaGraph_t graph = NewGraph();
  EXPECT_OK(cudaGraphRetainUserObject(graph, object, 2, 0));
  EXPECT_OK(cudaGraphReleaseUserObject(graph, object, 1));
  EXPECT_OK(cudaUserObjectRelease(object, 1));
  EXPECT(destroyed == 0);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphRetainUserObject(graph, object, 0, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphReleaseUserObject(graph, object, 0));
  EXPECT_OK(cudaGraphReleaseUserObject(graph, object, 1));
  EXPECT(BecomesDestroyed(1));
  EXPECT_OK(cudaGraphDestroy(graph));
}

CASE(MovedIntoAGraphAndItsCopies) {
  cudaUserObject_t object = NewObject(1);
  cudaGraph_t graph = NewGraph();
  EXPECT_OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  cudaGraph_t clone = nullptr;
  EXPECT_OK(cudaGraphClone(&clone, graph));
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(clone));
  LaunchAndWait(exec, stream);
  EXPECT(destroyed == 0);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT(BecomesDestroyed(1));
}

CASE(HeldByAChild) {
  cudaUserObject_t object = NewObject(1);
  cudaGraph_t child = NewGraph();
  EXPECT_OK(cudaGraphRetainUserObject(child, object, 1, cudaGraphUserObjectMove));
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  EXPECT_OK(cudaGraphDestroy(child));
  EXPECT(destroyed == 0);
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT(BecomesDestroyed(1));
}

// "The references in the new source graph are cloned and replace the references in the target
// graph": CUDA programming guide, CUDA User Objects. cuda.core keeps a callback's Python function
// by such an object. effect: cudaGraphExecUpdate cudaGraphExecChildGraphNodeSetParams
CASE(ReplacedByAnUpdate) {
  cudaGraph_t first = NewGraph(), second = NewGraph();
  AddEmpty(first);
  AddEmpty(second);
  cudaUserObject_t object = NewObject(1);
  EXPECT_OK(cudaGraphRetainUserObject(first, object, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t exec = Instantiate(first);
  EXPECT_OK(cudaGraphDestroy(first));
  EXPECT(destroyed == 0);
  cudaGraphExecUpdateResultInfo info = {};
  EXPECT_OK(cudaGraphExecUpdate(exec, second, &info));
  EXPECT(BecomesDestroyed(1));

  object = NewObject(1);
  EXPECT_OK(cudaGraphRetainUserObject(second, object, 1, cudaGraphUserObjectMove));
  EXPECT_OK(cudaGraphExecUpdate(exec, second, &info));
  EXPECT_OK(cudaGraphExecUpdate(exec, second, &info));
  EXPECT_OK(cudaGraphDestroy(second));
  LaunchAndWait(exec, stream);
  EXPECT(destroyed == 0);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT(BecomesDestroyed(1));
}

CASE(ReplacedInAChild) {
  cudaGraph_t child = NewGraph(), other = NewGraph(), graph = NewGraph();
  AddEmpty(child);
  AddEmpty(other);
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  cudaGraphExec_t exec = Instantiate(graph);
  cudaUserObject_t object = NewObject(1);
  EXPECT_OK(cudaGraphRetainUserObject(other, object, 1, cudaGraphUserObjectMove));
  EXPECT_OK(cudaGraphExecChildGraphNodeSetParams(exec, node, other));
  EXPECT_OK(cudaGraphDestroy(other));
  LaunchAndWait(exec, stream);
  EXPECT(destroyed == 0);
  EXPECT_OK(cudaGraphExecChildGraphNodeSetParams(exec, node, child));
  EXPECT(BecomesDestroyed(1));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(child));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  RunCases();
  return Finish("user_object");
}
