// What `graphkit explain` says of a file: one screen, and as JSON.
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
#include "libgraphkit/analysis/explain/where.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

struct ExplainStyle {
  TextStyle text;
  bool stacks = false;  // below each holder the whole stack of its largest block
};

// `trace`: that the explanation is of; one without anything for other files.
void RenderExplanation(const Explanation& explanation, const Trace& trace,
                       const ExplainStyle& style, std::ostream& out);

// Schema "graphkit-explain", version 1 (docs/cli.md).
void RenderExplanationJson(const Explanation& explanation, std::ostream& out);

// `graphkit where`: text, and schema "graphkit-where", version 1. `others`: further faulting
// addresses of the report that the address is from.
void RenderWhere(const Whereabouts& where, const std::vector<Address>& others, const Trace& trace,
                 const TextStyle& style, std::ostream& out);
void RenderWhereJson(const Whereabouts& where, const std::vector<Address>& others,
                     const Trace& trace, std::ostream& out);

}  // namespace graphkit
