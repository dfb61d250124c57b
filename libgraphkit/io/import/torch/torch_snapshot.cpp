#include "libgraphkit/io/import/torch/torch_snapshot.h"

#include <algorithm>
#include <utility>

#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/io/import/torch/torch_keys.h"
#include "libgraphkit/io/import/torch/torch_settings.h"
#include "libgraphkit/io/import/torch/torch_stacks.h"
#include "libgraphkit/io/pickle/pickle.h"

namespace graphkit {
namespace {

// Events are taken out of the pickle while it is read: kept as dicts they would need several times
// the file's size.
class SnapshotReader final : public PickleTaker {
 public:
  explicit SnapshotReader(size_t file_size) : budget_(file_size), stacks_(&out_) {
    out_.pools.push_back({});
    constexpr size_t kSmallestEvent = 56;  // bytes in the file, about; what isn't used isn't backed
    taken_.reserve(file_size / kSmallestEvent);
  }

  bool Take(std::span<const PickleValue> entries) override;

  Result<TorchSnapshot> Run(const PickleValue& root);

 private:
  bool Fail(std::string what) {
    error_ = {.message = "not a PyTorch memory snapshot: " + std::move(what),
              .hint = "give the file that torch.cuda.memory._dump_snapshot wrote"};
    return false;
  }
  // Each thing in an honest file takes at least a byte of it: reading more means that references
  // multiply them.
  bool Spend(size_t things) {
    if (things > budget_) return Fail("it repeats the same entries beyond the file's size");
    budget_ -= things;
    return true;
  }
  bool Items(const PickleValue& value, const char* name, std::span<const PickleValue>* out) {
    if (!value.is_sequence()) return Fail(std::string("'") + name + "' isn't a list");
    *out = value.items();
    return Spend(out->size());
  }

  // Calls field(key, value) for each entry of a dict; stops at the first false.
  template <typename Field>
  bool ForEach(const PickleValue& dict, SnapshotKeyReader& keys, const char* what, Field field) {
    if (!dict.is(PickleType::kDict)) return Fail(std::string(what) + " isn't a dict");
    const std::span<const PickleValue> items = dict.items();
    if (!Spend(items.size())) return false;
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (!items[i].is(PickleType::kString)) continue;
      const SnapshotKey key = keys.At(i / 2, items[i]);
      if (key == SnapshotKey::kOther || field(key, items[i + 1])) continue;
      if (!error_.message.empty()) return false;
      return Fail(std::string(what) + ": '" + std::string(items[i].text()) +
                  "' has an unexpected value");
    }
    return true;
  }

  bool Segments(const PickleValue& list);
  bool Segment(const PickleValue& dict);
  bool SegmentField(TorchSegment& segment, SnapshotKey key, const PickleValue& value);
  bool Blocks(const PickleValue& list, TorchSegment* segment);
  bool Block(const PickleValue& dict);
  bool History(const PickleValue& list, TorchBlock* block);
  bool BlockField(TorchBlock& block, SnapshotKey key, const PickleValue& value);
  bool Devices(const PickleValue& list);
  bool Event(const PickleValue& dict);
  bool TakenEvents(const PickleValue& run);
  void LeaveOrder();
  bool EventField(TorchEvent& event, SnapshotKey key, const PickleValue& value);
  bool Annotations(const PickleValue& list);
  bool Pool(const PickleValue& value, uint16_t* out);

  size_t budget_;
  TorchSnapshot out_;
  std::vector<TorchEvent> taken_;  // events of the pickle, in its order
  bool in_order_ = true;           // all events so far are taken_, from its beginning on
  uint32_t events_ = 0;            // when in_order_: how many
  TorchStacks stacks_;
  IdTable pools_;
  SnapshotKeyReader event_keys_;
  SnapshotKeyReader segment_keys_;
  SnapshotKeyReader block_keys_;
  const char* last_action_text_ = nullptr;
  TorchAction last_action_ = TorchAction::kOther;
  Error error_;
};

bool SnapshotReader::Pool(const PickleValue& value, uint16_t* out) {
  TorchPoolId id;
  if (!value.is_sequence() || value.items().size() != 2) return false;
  if (!Natural(value.items()[0], &id.first) || !Natural(value.items()[1], &id.second)) return false;
  if (id == TorchPoolId{}) {
    *out = 0;
    return true;
  }
  const uint64_t hash = IdTable::Combine(IdTable::Combine(0, id.first), id.second);
  uint32_t at = pools_.Find(hash, [&](uint32_t i) { return out_.pools[i] == id; });
  if (at == IdTable::kNone) {
    at = static_cast<uint32_t>(out_.pools.size());
    if (at >= TorchEvent::kNoPool) return Fail("it has more than 65 534 pools");
    out_.pools.push_back(id);
    pools_.Insert(hash, at);
  }
  *out = static_cast<uint16_t>(at);
  return true;
}

bool SnapshotReader::EventField(TorchEvent& event, SnapshotKey key, const PickleValue& value) {
  switch (key) {
    case SnapshotKey::kAction:
      if (!value.is(PickleType::kString)) return false;
      if (value.chars != last_action_text_) {
        last_action_text_ = value.chars;
        last_action_ = TorchActionNamed(value.text());
      }
      event.action = last_action_;
      return true;
    case SnapshotKey::kAddr:
    case SnapshotKey::kDeviceFree:
      return Natural(value, &event.address);
    case SnapshotKey::kSize:
      return Natural(value, &event.size);
    case SnapshotKey::kStream:
      return Natural(value, &event.stream);
    case SnapshotKey::kTimeUs:
      if (!value.is(PickleType::kInt)) return false;
      event.time_us = value.integer;
      return true;
    case SnapshotKey::kFrames:
      event.stack = stacks_.Stack(value);
      return true;
    case SnapshotKey::kPool:
      return Pool(value, &event.pool);
    case SnapshotKey::kMetadata:
      if (value.is(PickleType::kString) && value.length) {
        event.metadata = stacks_.Intern(value.text());
      }
      return true;
    default:
      return true;
  }
}

bool SnapshotReader::Event(const PickleValue& dict) {
  if (dict.is(PickleType::kDict) && dict.container->taken()) {
    PickleValue run;
    run.length = 1;
    run.natural = dict.container->capacity - 1;
    return TakenEvents(run);
  }
  TorchEvent event;
  const bool read = ForEach(
      dict, event_keys_, "an event",
      [&](SnapshotKey key, const PickleValue& value) { return EventField(event, key, value); });
  if (!read) return false;
  LeaveOrder();
  out_.events.push_back(event);
  return true;
}

// An event's first key is its action. One that isn't as expected is left for Event, which says so.
bool SnapshotReader::Take(std::span<const PickleValue> entries) {
  if (entries.size() < 4 || !entries[0].is(PickleType::kString) || entries[0].text() != "action") {
    return false;
  }
  TorchEvent event;
  for (size_t i = 0; i + 1 < entries.size(); i += 2) {
    if (!entries[i].is(PickleType::kString)) continue;
    const SnapshotKey key = event_keys_.At(i / 2, entries[i]);
    if (key != SnapshotKey::kOther && !EventField(event, key, entries[i + 1])) {
      error_ = {};
      return false;
    }
  }
  taken_.push_back(event);
  return true;
}

// From here on events are copied.
void SnapshotReader::LeaveOrder() {
  if (!in_order_) return;
  in_order_ = false;
  out_.events.assign(taken_.begin(), taken_.begin() + events_);
}

bool SnapshotReader::TakenEvents(const PickleValue& run) {
  if (!Spend(run.length)) return false;
  if (in_order_ && run.natural == events_) {
    events_ += run.length;
    return true;
  }
  LeaveOrder();
  const auto first = taken_.begin() + static_cast<ptrdiff_t>(run.natural);
  out_.events.insert(out_.events.end(), first, first + run.length);
  return true;
}

bool SnapshotReader::Devices(const PickleValue& list) {
  std::span<const PickleValue> devices;
  if (!Items(list, "device_traces", &devices)) return false;
  for (const PickleValue& device : devices) {
    std::span<const PickleValue> events;
    if (!Items(device, "device_traces", &events)) return false;
    const auto count = [&] {
      return in_order_ ? events_ : static_cast<uint32_t>(out_.events.size());
    };
    const uint32_t first = count();
    for (const PickleValue& event : events) {
      if (!(event.is(PickleType::kTaken) ? TakenEvents(event) : Event(event))) return false;
    }
    out_.devices.push_back({first, count() - first});
  }
  if (!in_order_) return true;
  taken_.resize(events_);
  out_.events = std::move(taken_);
  return true;
}

bool SnapshotReader::BlockField(TorchBlock& block, SnapshotKey key, const PickleValue& value) {
  switch (key) {
    case SnapshotKey::kAddress:
      return Natural(value, &block.address);
    case SnapshotKey::kSize:
      return Natural(value, &block.size);
    case SnapshotKey::kRequestedSize:
      return Natural(value, &block.requested_size);
    case SnapshotKey::kFrames:
      block.stack = stacks_.Stack(value);
      return true;
    case SnapshotKey::kHistory:
      return History(value, &block);
    case SnapshotKey::kState:
      if (!value.is(PickleType::kString)) return false;
      block.state = value.text() == "active_allocated" ? TorchBlockState::kActive
                    : value.text() == "inactive"       ? TorchBlockState::kInactive
                                                       : TorchBlockState::kPendingFree;
      return true;
    default:
      return true;
  }
}

// Before 2.1: what lay in the block, the last first, with its size as asked for and its stack.
bool SnapshotReader::History(const PickleValue& list, TorchBlock* block) {
  std::span<const PickleValue> entries;
  if (!Items(list, "history", &entries)) return false;
  if (entries.empty()) return true;
  if (!entries[0].is(PickleType::kDict)) return false;
  const PickleValue* size = entries[0].find("real_size");
  const PickleValue* frames = entries[0].find("frames");
  if (size && block->requested_size == 0 && !Natural(*size, &block->requested_size)) return false;
  if (frames && !block->stack.valid()) block->stack = stacks_.Stack(*frames);
  return true;
}

bool SnapshotReader::Block(const PickleValue& dict) {
  TorchBlock block;
  const bool read = ForEach(
      dict, block_keys_, "a block",
      [&](SnapshotKey key, const PickleValue& value) { return BlockField(block, key, value); });
  // Where only the rounded size is known, it counts, as in torch.cuda._memory_viz.
  if (block.state == TorchBlockState::kActive && block.requested_size == 0) {
    block.requested_size = block.size;
  }
  if (read) out_.blocks.push_back(block);
  return read;
}

// Old snapshots leave the blocks' addresses out: they lie one after the other from the segment's
// start.
bool SnapshotReader::Blocks(const PickleValue& list, TorchSegment* segment) {
  std::span<const PickleValue> blocks;
  if (!Items(list, "blocks", &blocks)) return false;
  segment->blocks = {static_cast<uint32_t>(out_.blocks.size()),
                     static_cast<uint32_t>(blocks.size())};
  for (const PickleValue& block : blocks) {
    if (!Block(block)) return false;
  }
  return true;
}

bool SnapshotReader::SegmentField(TorchSegment& segment, SnapshotKey key,
                                  const PickleValue& value) {
  switch (key) {
    case SnapshotKey::kAddress:
      return Natural(value, &segment.address);
    case SnapshotKey::kTotalSize:
      return Natural(value, &segment.total_size);
    case SnapshotKey::kAllocatedSize:
      return Natural(value, &segment.allocated_size);
    case SnapshotKey::kActiveSize:
      return Natural(value, &segment.active_size);
    case SnapshotKey::kRequestedSize:
      return Natural(value, &segment.requested_size);
    case SnapshotKey::kStream:
      return Natural(value, &segment.stream);
    case SnapshotKey::kDevice:
      if (!value.is(PickleType::kInt)) return false;
      segment.device = static_cast<int32_t>(std::clamp<int64_t>(value.integer, -1, 0x7fffffff));
      return true;
    case SnapshotKey::kPool:
      return Pool(value, &segment.pool);
    case SnapshotKey::kSegmentType:
      segment.small = value.is(PickleType::kString) && value.text() == "small";
      return true;
    case SnapshotKey::kExpandable:
      segment.expandable = Truth(&value);
      return true;
    case SnapshotKey::kFrames:
      segment.stack = stacks_.Stack(value);
      return true;
    case SnapshotKey::kBlocks:
      return Blocks(value, &segment);
    default:
      return true;
  }
}

bool SnapshotReader::Segment(const PickleValue& dict) {
  TorchSegment segment;
  const bool read = ForEach(
      dict, segment_keys_, "a segment",
      [&](SnapshotKey key, const PickleValue& value) { return SegmentField(segment, key, value); });
  if (!read) return false;
  Address next = segment.address;
  for (uint32_t i = 0; i < segment.blocks.count; ++i) {
    TorchBlock& block = out_.blocks[segment.blocks.first + i];
    if (block.address == 0) block.address = next;
    next = block.address + block.size;
  }
  out_.segments.push_back(segment);
  return true;
}

bool SnapshotReader::Segments(const PickleValue& list) {
  std::span<const PickleValue> segments;
  if (!Items(list, "segments", &segments)) return false;
  for (const PickleValue& segment : segments) {
    if (!Segment(segment)) return false;
  }
  return true;
}

// Others than ranges are passed over.
bool SnapshotReader::Annotations(const PickleValue& list) {
  std::span<const PickleValue> entries;
  if (!Items(list, "external_annotations", &entries)) return false;
  for (const PickleValue& entry : entries) {
    if (!entry.is(PickleType::kDict)) continue;
    const PickleValue* name = entry.find("name");
    const PickleValue* stage = entry.find("stage");
    const PickleValue* time = entry.find("time_us");
    if (!name || !name->is(PickleType::kString) || !stage || !stage->is(PickleType::kString) ||
        !time || !time->is(PickleType::kInt)) {
      continue;
    }
    const bool end = stage->text() == "END";
    if (!end && stage->text() != "START") continue;
    out_.annotations.push_back({stacks_.Intern(name->text()), time->integer, end});
  }
  std::ranges::stable_sort(out_.annotations, {}, &TorchAnnotation::time_us);
  return true;
}

// A pickle of torch.cuda.memory_snapshot() is the list of segments alone.
bool IsSegmentList(const PickleValue& root) {
  if (!root.is_sequence() || root.items().empty()) return false;
  const PickleValue& first = root.items()[0];
  return first.is(PickleType::kDict) && first.find("total_size") && first.find("blocks");
}

Result<TorchSnapshot> SnapshotReader::Run(const PickleValue& root) {
  if (IsSegmentList(root)) {
    if (!Segments(root)) return error_;
    return std::move(out_);
  }
  const PickleValue* segments = root.find("segments");
  const PickleValue* devices = root.find("device_traces");
  const PickleValue* settings = root.find("allocator_settings");
  const PickleValue* annotations = root.find("external_annotations");
  if (!segments && !devices) {
    Fail("it has neither 'segments' nor 'device_traces'");
    return error_;
  }
  if (segments && !Segments(*segments)) return error_;
  if (devices && !Devices(*devices)) return error_;
  if (settings && !settings->is(PickleType::kDict)) {
    Fail("'allocator_settings' isn't a dict");
    return error_;
  }
  if (settings) out_.settings = TorchSettingsOf(*settings);
  if (annotations && !Annotations(*annotations)) return error_;
  return std::move(out_);
}

}  // namespace

Result<TorchSnapshot> ParseTorchSnapshot(std::string_view bytes) {
  SnapshotReader reader(bytes.size());
  const Result<PickleDocument> document = ReadPickle(bytes, &reader);
  if (!document) return document.error();
  return reader.Run(document->root);
}

Result<TorchSnapshot> ReadTorchSnapshot(const std::string& path) {
  Result<MappedFile> file = MappedFile::Open(path);
  if (!file) return file.error();
  Result<TorchSnapshot> snapshot = ParseTorchSnapshot(file->bytes());
  if (!snapshot) snapshot.error().file = path;
  return snapshot;
}

}  // namespace graphkit
