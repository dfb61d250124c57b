// Gathers the stack frames of a snapshot without repeats. A snapshot says the same few thousand
// stacks millions of times, mostly as references to the same list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/import/torch/id_table.h"
#include "libgraphkit/io/pickle/pickle.h"
#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {

class TorchStacks {
 public:
  explicit TorchStacks(TorchSnapshot* out) : out_(out) {}

  StringId Intern(std::string_view text);
  // The stack of a "frames" list; invalid for an empty list and for what isn't a list of frames.
  StackId Stack(const PickleValue& list);

 private:
  struct Seen {
    const PickleContainer* container;
    uint32_t id;
  };
  // What a container was read as, by identity.
  class ByIdentity {
   public:
    const uint32_t* Find(const PickleContainer* container) const;
    void Add(const PickleContainer* container, uint32_t id);

   private:
    IdTable table_;
    std::vector<Seen> seen_;
  };

  uint32_t Frame(const PickleValue& dict);
  StackId InternStack(const std::vector<uint32_t>& frames);

  TorchSnapshot* out_;
  IdTable strings_;
  IdTable frames_;
  IdTable stacks_;
  ByIdentity frames_seen_;
  ByIdentity stacks_seen_;
  std::vector<uint32_t> scratch_;
};

}  // namespace graphkit
