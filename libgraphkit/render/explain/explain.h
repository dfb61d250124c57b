// The explanation of a file (`graphkit FILE`): one screen, and as JSON.
//
//     PyTorch memory snapshot · 1 device · 5163 events · Python stacks · no OOM event · no CUDA
//     graphs
//
//       peak reserved  13.2 GiB  ████████████████  216 segments
//       …
//       FINDINGS            of a trace with graphs: those of one check together
//       HELD AT THE PEAK (13.0 GiB)                           share  blocks
//       GRAPHS              what each of them keeps
//       WORTH A LOOK
//        1 …
//       Next
//         graphkit report FILE -o report.html    …
#pragma once

#include <ostream>
#include <vector>

#include "libgraphkit/analysis/explain/explanation.h"
#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// `trace`: that the explanation is of; one without anything for other files. `stacks`: below each
// holder the whole stack of its largest block.
void RenderExplanation(const Explanation& explanation, const Ran& trace, bool stacks,
                       const TextOut& out);

// Schema "graphkit-explain", version 1 (docs/cli.md).
void RenderExplanationJson(const Explanation& explanation, std::ostream& out);

// The parts of an explanation that are about memory.

// "event 1,402, at nn_utils.py:13 softmax": when the peak in use was.
std::string PeakText(const Ran& trace, const MemoryAccount& account);
// "nn_utils.py:7  softmax": who a holder is, printable.
std::string HolderTitle(const Ran& trace, const MemoryAccount& account, const HeldGroup& group);

// Memory over time, as the HTML report and diffs have it.

// As of "holders" of the explanation's JSON.
Json HolderJson(const HeldGroup& group);

// As "devices" of the explanation's JSON.
Json MemoryJson(const std::vector<MemoryAccount>& memory);

}  // namespace graphkit
