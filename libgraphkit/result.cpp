#include "libgraphkit/result.h"

#include "libgraphkit/printable.h"

namespace graphkit {

std::string Describe(const Error& error) {
  std::string text;
  if (!error.file.empty()) {
    text += error.file;
    if (error.line) text += ":" + std::to_string(*error.line);
    text += ": ";
  } else if (error.line) {
    text += "line " + std::to_string(*error.line) + ": ";
  }
  text += error.message;
  if (error.offset) text += " at byte " + std::to_string(*error.offset);
  if (!error.hint.empty()) text += "; " + error.hint;
  return Printable(text);
}

}  // namespace graphkit
