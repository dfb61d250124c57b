#include "tools/graphkit/cli/help_topics.h"

namespace graphkit {

namespace {

constexpr HelpTopic kTopics[] = {
    {"exit-codes", "what the process ends with",
     R"(0  done
1  a verdict: a check or a verification failed, two traces differ
2  bad usage or input
3  made from incomplete input, and shown all the same; a gate refuses it. Or there is nothing to
   judge: no graph, no memory, or memory whose sizes aren't known

Several at once: 2 before 3 before 1.

graphkit trace ends with the traced program's own exit code (128 + n when signal n killed it). Its
own failures are 125, 126 when the program can't be executed, and 127 when it isn't found.
)"},
    {"traces", "the files that everything reads",
     R"(A trace is everything recorded of one process: trace.json, one JSON document with one record per
line. trace.json.zst is the same, compressed; both work everywhere, and - is stdin or stdout.

A trace without its last line was cut off, by a crash or by kill -9: it is read up to its last whole
line, and everything that shows it says that it is incomplete and exits with 3.
)"},
    {"environment", "the variables that graphkit looks at",
     R"(NO_COLOR      set and not empty: no colours, even on a terminal
TERM          dumb: no colours and no moving progress lines
CUDA_HOME, CUDA_PATH
              toolkits to look for CUPTI in, when the loader doesn't find it
VIRTUAL_ENV   a Python environment whose NVIDIA wheels are looked into for the same

graphkit doctor lists the variables that change what is traced, and their values here.
)"},
    {"order", "what graphkit proves, and from what",
     R"(Memory may be shared by two blocks when every use of one is ordered before every use of the other in
each execution that the graph allows. A full edge orders: its consumer starts when the producer has
finished. A programmatic or launch-completion edge lets the consumer start earlier, and proves
nothing about the producer's end unless the consumer is known to wait for it.

A proof names what it assumes: order (the edges alone), torch-streams (uses end at the free, or lie
on recorded streams) or arguments (kernels touch only blocks that their arguments name).
)"},
};

}  // namespace

std::span<const HelpTopic> HelpTopics() { return kTopics; }

}  // namespace graphkit
