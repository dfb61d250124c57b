// The forms of `graphkit replay`: one command line, three questions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/units.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/replay/execute.h"

namespace graphkit {

enum class ReplayFormat { kText, kJson, kTimeline };

struct ReplayArguments {
  std::string file;
  std::vector<std::string> allocators;
  bool verify = false;
  std::string certificate;  // to be written of the only allocator; empty: none
  std::string device;       // that the placements are executed on; empty: none
  ExecutionOptions execution;
  std::optional<Bytes> capacity;
  bool against_recorded = false;
  std::vector<std::string> settings;
  ReplayFormat format = ReplayFormat::kText;
  std::string output = "-";

  // Of the forms without a timeline.
  View view() const {
    return {.output = output,
            .format = format == ReplayFormat::kText ? Format::kText : Format::kJson};
  }
};

// Models of allocators against the recorded one, in a snapshot's history or in the captures of a
// trace. Returns the exit code.
int ReplayAgainstRecorded(const ReplayArguments& arguments);

// The memory that PyTorch's allocator would have reserved under other settings. Returns the exit
// code.
int ReplayUnderSettings(const ReplayArguments& arguments);

}  // namespace graphkit
