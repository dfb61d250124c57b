// The command's memory: kept when it is freed, and on disk where it doesn't fit.
//
// Once the heap is as long as GRAPHKIT_MEMORY says (without it: half of what the machine has
// available and the process's control groups allow), further large arrays lie in a mapped, unlinked
// file in TMPDIR (else /var/tmp, /tmp). The kernel writes its pages back when memory runs short, as
// to swap space, so that a trace larger than memory is analyzed like any other, only slower.
#pragma once

namespace graphkit {

// To be called first: what is allocated before counts as well.
void SetUpMemory();

}  // namespace graphkit
