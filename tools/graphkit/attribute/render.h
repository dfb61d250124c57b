// `graphkit attribute`: the time of replayed kernels by the place that launched them.
#pragma once

#include "libgraphkit/compare/attribute/attribute.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

void RenderAttributionText(const Attribution& attribution, const TextOut& out);
void RenderAttributionMarkdown(const Attribution& attribution, const TextOut& out);
void RenderAttributionJson(const Attribution& attribution, std::ostream& out);
// A page of the time by call stack, with the nodes that ran. `replay`: the profile's name.
void RenderAttributionHtml(const Profile& profile, const Attribution& attribution,
                           const std::string& replay, std::ostream& out);

// What was matched and how, a sentence each; the rest with its reasons.
std::vector<std::string> AttributedSummary(const Attribution& attribution);
// "batch 32", or the file of its captures.
std::string AttributedSizeName(const AttributedSize& size);

// What a replayed kernel's event gets in its profile: "\"module\": …, \"line\": …, ", to stand
// before its other arguments.
std::string AttributedArguments(const Profile& profile, uint32_t captured);

}  // namespace graphkit
