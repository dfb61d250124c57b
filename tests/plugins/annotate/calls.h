// The same calls from a C99 and from a C++17 translation unit; each has a state of its own.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
void AnnotateFromC99(void* block, void* stream);
void AnnotateFromCpp17(void* block, void* stream);
#ifdef __cplusplus
}
#endif
