// Work that needs more of a stack than a thread may have: the smallest stack is 16 KiB, of which
// CUDA and the thread's static storage take most, and demangling one C++ name may take more.
#pragma once

#include <functional>

namespace graphkit {

// Runs `work` on the calling thread, on a stack of its own; on the thread's where there is no
// memory for one. What it throws is thrown here.
void OnLargeStack(const std::function<void()>& work);

}  // namespace graphkit
