// What `graphkit help <topic>` says of things that belong to no single subcommand.
#pragma once

#include <span>

namespace graphkit {

struct HelpTopic {
  const char* name;
  const char* summary;  // one line, for the list of topics
  const char* text;
};

std::span<const HelpTopic> HelpTopics();

}  // namespace graphkit
