#include "plugins/cupti_tracer/stack_table.h"

namespace graphkit {

size_t StackTable::AddressHash::operator()(const std::vector<uint64_t>& addresses) const {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t address : addresses) hash = (hash ^ address) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

StackId StackTable::Find(std::span<const uint64_t> taken) const {
  auto known = taken_.find({taken.begin(), taken.end()});
  return known != taken_.end() ? known->second : StackId();
}

StackId StackTable::Add(std::span<const uint64_t> taken, const std::vector<NamedFrame>& frames) {
  if (frames.empty()) return {};
  std::string text;
  for (const NamedFrame& frame : frames) {
    text += frame.function + '\n' + frame.file + '\n' + std::to_string(frame.line) + '\n';
  }
  StackId next(static_cast<uint32_t>(named_.size()));
  auto [entry, is_new] = named_.emplace(std::move(text), next);
  StackId id = entry->second;
  taken_.emplace(std::vector<uint64_t>(taken.begin(), taken.end()), id);
  if (!is_new) return id;
  std::vector<StackFrame> written;
  for (const NamedFrame& frame : frames) {
    const StringId function = records_.Add(frame.function);
    written.push_back({function, records_.Add(frame.file), frame.line});
  }
  StackRecord r;
  r.id = id;
  r.row.frames = records_.Add(written);
  records_.Write(r);
  return id;
}

}  // namespace graphkit
