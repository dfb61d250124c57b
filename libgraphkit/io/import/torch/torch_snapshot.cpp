#include "libgraphkit/io/import/torch/torch_snapshot.h"

#include <array>
#include <charconv>
#include <map>
#include <span>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/import/torch/torch_stacks.h"
#include "libgraphkit/io/pickle/pickle.h"

namespace graphkit {
namespace {

// The settings ("allocator_settings", since 2.3: PyTorch #119404). Keys that aren't known, and
// values of another type, are passed over.
bool Truth(const PickleValue* value) {
  return value && (value->is(PickleType::kBool) || value->is(PickleType::kInt)) && value->integer;
}

TorchSettings SettingsOf(const PickleValue& dict) {
  TorchSettings settings;
  settings.known = true;
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    if (const auto conf = TextOf(dict.find(name)); !conf.empty()) settings.conf = conf;
  }
  const PickleValue* split = dict.find("max_split_size");
  if (split && split->is(PickleType::kInt)) settings.max_split_size = split->integer;
  const PickleValue* gc = dict.find("garbage_collection_threshold");
  if (gc && gc->is(PickleType::kFloat)) settings.garbage_collection_threshold = gc->real;
  settings.expandable_segments = Truth(dict.find("expandable_segments"));
  settings.graph_capture_record_stream_reuse =
      Truth(dict.find("graph_capture_record_stream_reuse"));
  const PickleValue* steps = dict.find("roundup_power2_divisions");
  if (!steps || !steps->is(PickleType::kDict)) return settings;
  for (size_t i = 0; i + 1 < steps->items().size(); i += 2) {
    const PickleValue& name = steps->items()[i];
    uint64_t megabytes = 0;
    uint64_t divisions = 0;
    if (!name.is(PickleType::kString) || !Natural(steps->items()[i + 1], &divisions)) continue;
    std::from_chars(name.chars, name.chars + name.length, megabytes);
    settings.roundup_power2_divisions.emplace_back(megabytes, Saturate<uint32_t>(divisions));
  }
  return settings;
}

// The keys of one kind of dict, as a table.

// A key, and what takes its value: false when it isn't as expected.
template <typename Reader, typename T>
struct TorchKey {
  std::string_view name;
  bool (Reader::*take)(T& to, const PickleValue& value);
};

// Dicts of one kind mostly have the same keys in the same order, and the pickle shares the key
// strings: the key at a place is known by its address before its text is looked at.
template <typename Key>
class TorchKeys {
 public:
  explicit TorchKeys(std::span<const Key> keys) : keys_(keys) {}

  // Null: a key that isn't known, or isn't needed.
  const Key* At(size_t place, const PickleValue& key) {
    if (place >= known_.size()) return Find(key);
    auto& [chars, found] = known_[place];
    if (chars != key.chars) {
      found = Find(key);
      chars = key.chars;
    }
    return found;
  }

 private:
  const Key* Find(const PickleValue& key) const {
    const auto at = std::ranges::find(keys_, key.text(), &Key::name);
    return at == keys_.end() ? nullptr : &*at;
  }

  std::span<const Key> keys_;
  std::array<std::pair<const char*, const Key*>, 64> known_{};
};

constexpr std::pair<std::string_view, TorchAction> kActions[] = {
    {"alloc", TorchAction::kAlloc},
    {"free_requested", TorchAction::kFreeRequested},
    {"free_completed", TorchAction::kFreeCompleted},
    {"segment_alloc", TorchAction::kSegmentAlloc},
    {"segment_free", TorchAction::kSegmentFree},
    {"segment_map", TorchAction::kSegmentMap},
    {"segment_unmap", TorchAction::kSegmentUnmap},
    {"snapshot", TorchAction::kSnapshot},
    {"oom", TorchAction::kOom},
    {"annotate", TorchAction::kAnnotate},
};

// A pickle of torch.cuda.memory_snapshot() is the list of segments alone.
bool IsSegmentList(const PickleValue& root) {
  if (!root.is_sequence() || root.items().empty()) return false;
  const PickleValue& first = root.items()[0];
  return first.is(PickleType::kDict) && first.find("total_size") && first.find("blocks");
}

// Events are taken out of the pickle while it is read: kept as dicts they would need several times
// the file's size.
class SnapshotReader final : public PickleTaker {
 public:
  explicit SnapshotReader(size_t file_size);

  // An event's first key is its action. One that isn't as expected is left for Event, which says
  // so.
  bool Take(std::span<const PickleValue> entries) override {
    if (entries.size() < 4 || !entries[0].is(PickleType::kString) ||
        entries[0].text() != "action") {
      return false;
    }
    TorchEvent event;
    if (FirstBad(entries, event_keys_, event)) {
      error_ = {};
      return false;
    }
    taken_.push_back(event);
    return true;
  }

  Result<TorchSnapshot> Run(const PickleValue& root) {
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
    if (settings) out_.settings = SettingsOf(*settings);
    out_.settings.version = TextOf(root.find("torch_version"));  // graphkit's hook adds it
    if (annotations && !Annotations(*annotations)) return error_;
    return std::move(out_);
  }

 private:
  template <typename T>
  using Key = TorchKey<SnapshotReader, T>;
  template <typename T>
  using Keys = TorchKeys<Key<T>>;

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

  bool Each(const PickleValue& list, const char* name, auto take) {
    std::span<const PickleValue> items;
    return Items(list, name, &items) && std::ranges::all_of(items, take);
  }

  // Returns the key whose value isn't as expected; null: all are.
  template <typename T>
  const Key<T>* FirstBad(std::span<const PickleValue> entries, Keys<T>& keys, T& to) {
    for (size_t i = 0; i + 1 < entries.size(); i += 2) {
      if (!entries[i].is(PickleType::kString)) continue;
      const Key<T>* key = keys.At(i / 2, entries[i]);
      if (key && !(this->*key->take)(to, entries[i + 1])) return key;
    }
    return nullptr;
  }
  // Reads a dict, called `what` in errors.
  template <typename T>
  bool Read(const PickleValue& dict, Keys<T>& keys, const char* what, T& to) {
    if (!dict.is(PickleType::kDict)) return Fail(std::string(what) + " isn't a dict");
    if (!Spend(dict.items().size())) return false;
    const Key<T>* bad = FirstBad(dict.items(), keys, to);
    if (!bad || !error_.message.empty()) return !bad;
    return Fail(std::string(what) + ": '" + std::string(bad->name) + "' has an unexpected value");
  }

  // Functions that take values.
  template <auto Member, typename T>
  bool Number(T& to, const PickleValue& value) {
    return Natural(value, &(to.*Member));
  }
  template <typename T>
  bool Stack(T& to, const PickleValue& value) {
    to.stack = stacks_.Stack(value);
    return true;
  }
  template <typename T>
  bool Pool(T& to, const PickleValue& value) {
    return Pool(value, &to.pool);
  }

  bool Pool(const PickleValue& value, uint16_t* out) {
    TorchPoolId id;
    if (!value.is_sequence() || value.items().size() != 2) return false;
    if (!Natural(value.items()[0], &id.first) || !Natural(value.items()[1], &id.second))
      return false;
    *out = 0;
    if (id == TorchPoolId{}) return true;
    const auto [at, is_new] = pools_.try_emplace(id, out_.pools.size());
    if (at->second >= TorchEvent::kNoPool) return Fail("it has more than 65 534 pools");
    if (is_new) out_.pools.push_back(id);
    *out = static_cast<uint16_t>(at->second);
    return true;
  }

  bool Action(TorchEvent& event, const PickleValue& value) {
    if (!value.is(PickleType::kString)) return false;
    if (value.chars != last_action_text_) {
      const auto* known =
          std::ranges::find(kActions, value.text(), [](const auto& row) { return row.first; });
      last_action_text_ = value.chars;
      last_action_ = known == std::end(kActions) ? TorchAction::kOther : known->second;
    }
    event.action = last_action_;
    return true;
  }

  bool Time(TorchEvent& event, const PickleValue& value) {
    event.time_us = value.integer;
    return value.is(PickleType::kInt);
  }
  template <auto Member>
  bool Metadata(TorchEvent& event, const PickleValue& value) {
    const std::string_view text = TextOf(&value);
    if (!text.empty()) event.*Member = out_.strings.Intern(text);
    return true;
  }

  // Before 2.1: what lay in the block, the last first, with its size as asked for and its stack.
  bool History(TorchBlock& block, const PickleValue& list) {
    std::span<const PickleValue> entries;
    if (!Items(list, "history", &entries)) return false;
    if (entries.empty()) return true;
    if (!entries[0].is(PickleType::kDict)) return false;
    const PickleValue* size = entries[0].find("real_size");
    const PickleValue* frames = entries[0].find("frames");
    if (size && block.requested_size == 0 && !Natural(*size, &block.requested_size)) return false;
    if (frames && !block.stack.valid()) block.stack = stacks_.Stack(*frames);
    return true;
  }

  bool State(TorchBlock& block, const PickleValue& value) {
    const std::string_view state = TextOf(&value);
    block.state = state == "active_allocated" ? TorchBlockState::kActive
                  : state == "inactive"       ? TorchBlockState::kInactive
                                              : TorchBlockState::kPendingFree;
    return value.is(PickleType::kString);
  }
  bool Device(TorchSegment& segment, const PickleValue& value) {
    segment.device = static_cast<int32_t>(std::clamp<int64_t>(value.integer, -1, 0x7fffffff));
    return value.is(PickleType::kInt);
  }
  bool SegmentType(TorchSegment& segment, const PickleValue& value) {
    segment.small = TextOf(&value) == "small";
    return true;
  }
  bool Expandable(TorchSegment& segment, const PickleValue& value) {
    segment.expandable = Truth(&value);
    return true;
  }

  bool Blocks(TorchSegment& segment, const PickleValue& list) {
    segment.blocks.first = static_cast<uint32_t>(out_.blocks.size());
    const bool read = Each(list, "blocks", [&](const PickleValue& block) { return Block(block); });
    segment.blocks.count = static_cast<uint32_t>(out_.blocks.size()) - segment.blocks.first;
    return read;
  }

  static const Key<TorchEvent> kEventKeys[];
  static const Key<TorchBlock> kBlockKeys[];
  static const Key<TorchSegment> kSegmentKeys[];

  bool Block(const PickleValue& dict) {
    TorchBlock block;
    if (!Read(dict, block_keys_, "a block", block)) return false;
    // Where only the rounded size is known, it counts, as in torch.cuda._memory_viz.
    if (block.state == TorchBlockState::kActive && block.requested_size == 0) {
      block.requested_size = block.size;
    }
    out_.blocks.push_back(block);
    return true;
  }

  // Old snapshots leave the blocks' addresses out: they lie one after the other from the segment's
  // start.
  bool Segment(const PickleValue& dict) {
    TorchSegment segment;
    if (!Read(dict, segment_keys_, "a segment", segment)) return false;
    Address next = segment.address;
    for (uint32_t i = 0; i < segment.blocks.count; ++i) {
      TorchBlock& block = out_.blocks[segment.blocks.first + i];
      if (block.address == 0) block.address = next;
      next = block.address + block.size;
    }
    out_.segments.push_back(segment);
    return true;
  }

  bool Segments(const PickleValue& list) {
    return Each(list, "segments", [&](const PickleValue& segment) { return Segment(segment); });
  }

  bool TakenEvents(const PickleValue& run) {
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

  // From here on events are copied.
  void LeaveOrder() {
    if (!in_order_) return;
    in_order_ = false;
    out_.events.assign(taken_.begin(), taken_.begin() + events_);
  }

  bool Event(const PickleValue& dict) {
    if (dict.is(PickleType::kDict) && dict.container->taken()) {
      return TakenEvents({.length = 1, .natural = dict.container->capacity - 1});
    }
    TorchEvent event;
    if (!Read(dict, event_keys_, "an event", event)) return false;
    LeaveOrder();
    out_.events.push_back(event);
    return true;
  }

  bool Devices(const PickleValue& list) {
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

  // Others than ranges are passed over.
  bool Annotations(const PickleValue& list) {
    const auto take = [&](const PickleValue& entry) {
      const PickleValue* name = entry.find("name");
      const std::string_view stage = TextOf(entry.find("stage"));
      const PickleValue* time = entry.find("time_us");
      const bool whole =
          name && name->is(PickleType::kString) && time && time->is(PickleType::kInt);
      if (whole && (stage == "START" || stage == "END")) {
        out_.annotations.push_back(
            {out_.strings.Intern(name->text()), time->integer, stage == "END"});
      }
      return true;
    };
    if (!Each(list, "external_annotations", take)) return false;
    std::ranges::stable_sort(out_.annotations, {}, &TorchAnnotation::time_us);
    return true;
  }

  size_t budget_;
  TorchSnapshot out_;
  std::vector<TorchEvent> taken_;  // events of the pickle, in its order
  bool in_order_ = true;           // all events so far are taken_, from its beginning on
  uint32_t events_ = 0;            // when in_order_: how many
  TorchStacks stacks_;
  std::map<TorchPoolId, size_t> pools_;
  Keys<TorchEvent> event_keys_;
  Keys<TorchBlock> block_keys_;
  Keys<TorchSegment> segment_keys_;
  const char* last_action_text_ = nullptr;
  TorchAction last_action_ = TorchAction::kOther;
  Error error_;
};

using R = SnapshotReader;

// pool_id came with PyTorch #177717.
constexpr R::Key<TorchEvent> R::kEventKeys[] = {
    {"action", &R::Action},
    {"addr", &R::Number<&TorchEvent::address>},
    {"device_free", &R::Number<&TorchEvent::address>},
    {"size", &R::Number<&TorchEvent::size>},
    {"stream", &R::Number<&TorchEvent::stream>},
    {"time_us", &R::Time},
    {"frames", &R::Stack},
    {"pool_id", &R::Pool},
    {"segment_pool_id", &R::Pool},
    {"user_metadata", &R::Metadata<&TorchEvent::metadata>},
    {"internal_metadata", &R::Metadata<&TorchEvent::internal>},
};

// history went with PyTorch #106079 (2.1).
constexpr R::Key<TorchBlock> R::kBlockKeys[] = {
    {"address", &R::Number<&TorchBlock::address>},
    {"size", &R::Number<&TorchBlock::size>},
    {"requested_size", &R::Number<&TorchBlock::requested_size>},
    {"frames", &R::Stack},
    {"history", &R::History},
    {"state", &R::State},
};

constexpr R::Key<TorchSegment> R::kSegmentKeys[] = {
    {"address", &R::Number<&TorchSegment::address>},
    {"total_size", &R::Number<&TorchSegment::total_size>},
    {"requested_size", &R::Number<&TorchSegment::requested_size>},
    {"stream", &R::Number<&TorchSegment::stream>},
    {"device", &R::Device},
    {"pool_id", &R::Pool},
    {"segment_pool_id", &R::Pool},
    {"segment_type", &R::SegmentType},
    {"is_expandable", &R::Expandable},
    {"frames", &R::Stack},
    {"blocks", &R::Blocks},
};

SnapshotReader::SnapshotReader(size_t file_size)
    : budget_(file_size),
      stacks_(&out_),
      event_keys_(kEventKeys),
      block_keys_(kBlockKeys),
      segment_keys_(kSegmentKeys) {
  out_.pools.push_back({});
  constexpr size_t kSmallestEvent = 56;  // bytes in the file, about; what isn't used isn't backed
  taken_.reserve(file_size / kSmallestEvent);
}

}  // namespace

Result<TorchSnapshot> ParseTorchSnapshot(std::string_view bytes) {
  SnapshotReader reader(bytes.size());
  const Result<PickleDocument> document = ReadPickle(bytes, &reader);
  if (!document) return document.error();
  return reader.Run(document->root);
}

}  // namespace graphkit
