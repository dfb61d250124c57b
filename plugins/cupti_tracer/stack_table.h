// Call stacks: each is written once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/cupti_tracer/call_stack.h"
#include "plugins/cupti_tracer/records.h"

namespace graphkit {

class StackTable {
 public:
  explicit StackTable(Records& records) : records_(records) {}

  // The record of a stack, by the return addresses that it was taken as; none: it isn't known.
  StackId Find(std::span<const uint64_t> taken) const;
  // Makes a stack known. Stacks with the same names are one.
  StackId Add(std::span<const uint64_t> taken, const std::vector<NamedFrame>& frames);

 private:
  struct AddressHash {
    size_t operator()(const std::vector<uint64_t>& addresses) const;
  };

  Records& records_;
  std::unordered_map<std::vector<uint64_t>, StackId, AddressHash> taken_;  // as they were taken
  std::unordered_map<std::string, StackId> named_;                         // as they are written
};

}  // namespace graphkit
