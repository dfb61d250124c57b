/* Stands in for the tracer: writes down what it is told, one line a call. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char said[4096];

int graphkit_annotate_v1(uint32_t kind, const void* address, uint64_t size, void* stream,
                         const char* name);
const char* RecordedAnnotations(void);

int graphkit_annotate_v1(uint32_t kind, const void* address, uint64_t size, void* stream,
                         const char* name) {
  const size_t used = strlen(said);
  snprintf(said + used, sizeof said - used, "%u %p %llu %p %s\n", kind, address,
           (unsigned long long)size, stream, name ? name : "-");
  return 0;
}

const char* RecordedAnnotations(void) { return said; }
