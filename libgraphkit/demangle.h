// The names of C++ functions, as compilers write them into object files.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace graphkit {

// The C++ name behind a mangled one; none: it isn't mangled.
inline std::optional<std::string> DemangledName(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !text) return std::nullopt;
  return text.get();
}

}  // namespace graphkit
