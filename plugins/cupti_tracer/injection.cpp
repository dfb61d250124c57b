// The entry point that the driver calls when it loads the tracer, and the process's use of it.
#include <pthread.h>

#include "plugins/cupti_tracer/tracer.h"

namespace graphkit {
namespace {

void BeforeFork() { Tracer::Get().BeforeFork(); }
void AfterForkInParent() { Tracer::Get().AfterForkInParent(); }
void AfterForkInChild() { Tracer::Get().AfterForkInChild(); }

// The end of the process: later than every exit handler and static destructor of the program, which
// may still free memory.
__attribute__((destructor)) void AtEnd() {
  try {
    Tracer::Get().Finish();
  } catch (...) {
  }
}

bool StartOnce() {
  bool started = Tracer::Get().Start();
  if (started) pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
  return started;
}

}  // namespace
}  // namespace graphkit

// Called by libcuda, for the library that CUDA_INJECTION64_PATH names, when the driver initialises.
extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  try {
    static const bool started = graphkit::StartOnce();
    return started ? 1 : 0;
  } catch (...) {
    return 0;
  }
}
