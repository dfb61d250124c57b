#include "tools/graphkit/cli/text_style.h"

#include "tools/graphkit/cli/talk.h"

namespace graphkit {

TextStyle StyleFor(const std::string& output, size_t top) {
  const auto width = static_cast<size_t>(output == "-" ? TerminalWidth(0) : 0);
  if (width == 0) return {.top = top};
  return {.width = width, .colour = ColourOnStdout(), .top = top, .table = width};
}

}  // namespace graphkit
