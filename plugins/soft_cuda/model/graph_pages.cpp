#include "plugins/soft_cuda/model/graph_pages.h"

#include <algorithm>

namespace graphkit::soft {

uint64_t GraphPages::Takeable(uint64_t stream, uint64_t now_ns) const {
  uint64_t bytes = 0;
  for (const auto& [last, idle] : idle_) {
    if (last == stream || idle.since_ns <= now_ns) bytes += idle.bytes;
  }
  return bytes;
}

uint64_t GraphPages::TakeFrom(Idle& idle, uint64_t bytes) {
  const uint64_t taken = std::min(idle.bytes, bytes);
  idle.bytes -= taken;
  return taken;
}

void GraphPages::Map(uint64_t address, uint64_t bytes, uint64_t stream, uint64_t now_ns) {
  if (!mapped_.try_emplace(address, bytes).second) return;
  uint64_t lacking = bytes;
  if (auto own = idle_.find(stream); own != idle_.end()) lacking -= TakeFrom(own->second, lacking);
  for (auto& [last, idle] : idle_) {
    if (lacking == 0) break;
    if (idle.since_ns <= now_ns) lacking -= TakeFrom(idle, lacking);
  }
  std::erase_if(idle_, [](const auto& entry) { return entry.second.bytes == 0; });
  used_ += lacking;
  used_high = std::max(used_high, used_);
  reserved_high = std::max(reserved_high, used_);
}

void GraphPages::Unmap(uint64_t address, uint64_t stream, uint64_t at_ns) {
  auto found = mapped_.find(address);
  if (found == mapped_.end()) return;
  Idle& idle = idle_[stream];
  idle.bytes += found->second;
  idle.since_ns = std::max(idle.since_ns, at_ns);
  mapped_.erase(found);
}

void GraphPages::Trim(uint64_t now_ns) {
  std::erase_if(idle_, [&](const auto& entry) {
    if (entry.second.since_ns > now_ns) return false;
    used_ -= entry.second.bytes;
    return true;
  });
}

}  // namespace graphkit::soft
