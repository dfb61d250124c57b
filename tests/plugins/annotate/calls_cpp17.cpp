#include "plugins/cupti_tracer/graphkit_annotate.h"
#include "tests/plugins/annotate/calls.h"

void AnnotateFromCpp17(void* block, void* stream) {
  graphkit_pool(block, 4096, "pool");
  graphkit_alloc(block, 512, stream);
  graphkit_block_stream(block, 512, stream);
  graphkit_record_stream(block, 512, stream);
  graphkit_free_requested(block, stream);
  graphkit_free_completed(block);
}
