// The functions that the software device models, as its own library lists them
// (plugins/soft_cuda/abi/inventory.h), and their counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/render/text_layout.h"
#include "libgraphkit/result.h"

namespace graphkit {

enum class SoftState : uint8_t {
  kModelled,   // a conformance test checks its effect and one of its errors
  kUnchecked,  // answers, and no test checks both
  kMissing,    // refuses: says its name and returns "not supported"
};

struct SoftFunction {
  std::string name;
  std::string family;  // of calls: "stream"; empty: missing
  std::string test;    // that checks it; empty: none
  bool seen = false;   // its behaviour was compared with a GPU

  SoftState state() const;
  bool operator==(const SoftFunction&) const = default;
};

struct SoftLibrary {
  std::string name;  // "libcudart.so.13"
  std::vector<SoftFunction> functions;
  bool operator==(const SoftLibrary&) const = default;
};

struct SoftCount {
  size_t functions = 0;
  size_t modelled = 0;
  size_t unchecked = 0;
  size_t missing = 0;
  size_t unseen = 0;  // of those that answer: not compared with a GPU
  bool operator==(const SoftCount&) const = default;
};

SoftCount Count(const std::vector<SoftFunction>& functions);

// A function of the runtime API for streams, events, captures, graphs or memory: what programs with
// graphs live on.
bool IsCore(std::string_view function);
// Those of the functions.
std::vector<SoftFunction> Core(const std::vector<SoftFunction>& functions);

const char* StateName(SoftState state);  // "modelled", "unchecked", "missing"

// Opens the device's library in a child process and asks it. An error where there is none.
Result<std::vector<SoftLibrary>> ReadSoftInventory(const std::string& plugin_folder);

// The functions that the software device models, for `doctor --soft`: as text and as JSON.

// Selects functions listed by name: those of a state (the first words are SoftState's), or more.
enum class SoftList : uint8_t { kModelled, kUnchecked, kMissing, kUnseen, kAll };

// Counts, and the functions of `list` below them.
void RenderSoftText(const std::vector<SoftLibrary>& libraries, std::optional<SoftList> list,
                    const TextOut& out);
// Schema `graphkit-doctor-soft`; the functions of `list` only when it is given.
void RenderSoftJson(const std::vector<SoftLibrary>& libraries, std::optional<SoftList> list,
                    std::ostream& out);

}  // namespace graphkit
