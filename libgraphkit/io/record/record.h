// The records of a trace file. Each type of record is one struct with one list of
// fields (record_process.h, record_stream.h, record_graph.h, record_memory.h), and whatever handles
// records goes through that list: reading, putting into a trace, finding in one, writing, merging,
// the JSON Schema. A record has the row of the trace that it becomes, so there is nothing to copy:
//
//     struct EventRecord : DeclaredRecord<"event", EventId, &Event::created> {  its place
//       void Fields(auto& v) {
//         v.Required("id", id);                                        must be there
//         v.Always("handle", Hex{row.handle});                         always written; may be
//         missing
//       }                                                              Optional: left out at its
//       default
//     };                                                               Present: may be absent or
//     empty
//
// The texts and lists of a row lie elsewhere: in the trace's columns, or in LooseValues.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "libgraphkit/model/names.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Memory for the many small values of one chunk of a file: given out in order, taken back at once.
class Arena {
 public:
  // A value that lives until Reset().
  template <typename T>
  T* New() {
    if constexpr (std::is_trivially_destructible_v<T>) {
      return new (Allocate(sizeof(T), alignof(T))) T();
    } else {
      owned_.push_back(std::make_shared<T>());
      return static_cast<T*>(owned_.back().get());
    }
  }

  std::string_view Copy(std::string_view text) {
    if (text.empty()) return {};
    auto* copy = static_cast<char*>(Allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  template <typename T>
  std::span<const T> Copy(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (values.empty()) return {};
    auto* copy = static_cast<T*>(Allocate(values.size() * sizeof(T), alignof(T)));
    std::memcpy(static_cast<void*>(copy), values.data(), values.size() * sizeof(T));
    return {copy, values.size()};
  }

  // Takes everything back; the memory is kept for the next values.
  void Reset() {
    current_ = 0;
    used_ = 0;
    owned_.clear();
  }

 private:
  static constexpr size_t kBlockSize = 64 * 1024;
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    size_t size = 0;
  };

  void* Allocate(size_t size, size_t alignment) {
    const size_t place = (used_ + alignment - 1) & ~(alignment - 1);
    if (current_ == blocks_.size() || place + size > blocks_[current_].size) {
      return AllocateElsewhere(size);
    }
    used_ = place + size;
    return blocks_[current_].bytes.get() + place;
  }

  void* AllocateElsewhere(size_t size) {
    if (current_ < blocks_.size()) ++current_;  // no room in this one
    while (current_ < blocks_.size() && size > blocks_[current_].size) ++current_;
    if (current_ == blocks_.size()) {
      const size_t block = size > kBlockSize ? size : kBlockSize;
      blocks_.push_back({std::unique_ptr<std::byte[]>(new std::byte[block]), block});
    }
    used_ = size;
    return blocks_[current_].bytes.get();
  }

  std::vector<Block> blocks_;
  std::vector<std::shared_ptr<void>> owned_;  // what has a destructor; rare
  size_t current_ = 0;
  size_t used_ = 0;
};

// Fields that every record may carry, after its own keys.
struct RecordBase {
  Nanoseconds time = 0;
  Source source = Source::kCallback;
};

// The word that a record has as its "type".
template <size_t kSize>
struct TypeName {
  consteval TypeName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
  char text[kSize];
};
template <TypeName kName>
struct NamedRecord : RecordBase {
  static constexpr std::string_view kType{kName.text, sizeof kName.text - 1};
};

// The column of the things that an id counts, and what they are called.
template <typename Column>
struct Things {
  constexpr Things(Column Trace::*column, std::string_view name) : column(column), name(name) {}
  constexpr std::string_view one() const { return name.substr(0, name.size() - 1); }
  Column Trace::*column;
  std::string_view name;
};
template <template <typename...> typename List>
using EachId = List<GraphId, NodeId, EdgeId, CaptureId, StreamId, EventId, BlockId, SegmentId,
                    PoolId, ExecId, KernelId, CommunicatorId, ThreadId, StackId>;
constexpr auto ThingsOf(GraphId) { return Things(&Trace::graphs, "graphs"); }
constexpr auto ThingsOf(NodeId) { return Things(&Trace::nodes, "nodes"); }
constexpr auto ThingsOf(EdgeId) { return Things(&Trace::edges, "edges"); }
constexpr auto ThingsOf(CaptureId) { return Things(&Trace::captures, "captures"); }
constexpr auto ThingsOf(StreamId) { return Things(&Trace::streams, "streams"); }
constexpr auto ThingsOf(EventId) { return Things(&Trace::events, "events"); }
constexpr auto ThingsOf(BlockId) { return Things(&Trace::blocks, "blocks"); }
constexpr auto ThingsOf(SegmentId) { return Things(&Trace::segments, "segments"); }
constexpr auto ThingsOf(PoolId) { return Things(&Trace::pools, "pools"); }
constexpr auto ThingsOf(ExecId) { return Things(&Trace::execs, "execs"); }
constexpr auto ThingsOf(KernelId) { return Things(&Trace::kernels, "kernels"); }
constexpr auto ThingsOf(CommunicatorId) { return Things(&Trace::communicators, "communicators"); }
constexpr auto ThingsOf(ThreadId) { return Things(&Trace::threads, "threads"); }
constexpr auto ThingsOf(StackId) { return Things(&Trace::stacks, "stacks"); }

// Says something of a row of `Column`, and stands at the place that the row has as `Place`.
template <TypeName kName, auto Column, auto Place>
struct PlacedAt : NamedRecord<kName> {
  static constexpr auto kColumn = Column;
  static constexpr auto kPlace = Place;
};

// Becomes a row.
template <TypeName kName, auto Column, auto Place>
struct RowRecord : PlacedAt<kName, Column, Place> {
  template <typename T>
  static typename T::value_type TypeOf(T Trace::*);
  decltype(TypeOf(Column)) row;
};

// Becomes a row that others refer to by its id.
template <TypeName kName, typename IdType, auto Place>
struct DeclaredRecord : RowRecord<kName, ThingsOf(IdType()).column, Place> {
  IdType id;
};

// Ends something's life; the first end counts.
template <TypeName kName, typename IdType, auto Place>
struct EndingRecord : PlacedAt<kName, ThingsOf(IdType()).column, Place> {
  static constexpr std::string_view kKey = ThingsOf(IdType()).one();
  IdType ended;
  void Fields(auto& v) { v.Required(kKey, ended); }
};

// A number written as "0x…"; left out at 0.
template <std::unsigned_integral T>
struct Hex {
  explicit Hex(T& value) : value(value) {}
  T& value;
};

// Three numbers; left out where they are all 1.
struct Extents {
  uint32_t (&value)[3];
};

// A graph whose record may come later.
struct Later {
  GraphId& value;
};

// A kind of StreamOp, by the words of Words::value, which stand for Words::kKinds.
template <typename Words>
struct AsWord {
  StreamOpKind& value;
};

// Entries of a column.
template <typename Column>
struct Listed {
  using Entry = typename Column::value_type;
  Listed(Slice& slice, Column Trace::*column) : value(slice), column(column) {}
  Slice& value;
  Column Trace::*column;
};

// Values of parts of lists: a length that may be unknown (-1), and half of a number.
struct Length {
  Bytes& bytes;
};
struct Half {
  uint64_t& number;
  int shift;
};
// Four parts at the end, which most entries don't have.
struct RowParts {
  AccessRows& rows;
};

// An entry of a list is an array of its parts.
template <template <typename...> typename List>
using EachEntry = List<KernelParam, StackFrame, FrontierEntry, Access, Collective, HostEnd,
                       NodeLabel, Scalar, ToolIdRun>;
// What the parts are, for people, and a visit of them.
constexpr const char* PartsOf(const KernelParam&) { return "[offset,size]"; }
bool Parts(KernelParam& entry, auto visit) { return visit(entry.offset, entry.size); }
constexpr const char* PartsOf(const StackFrame&) { return "[function,file,line]"; }
bool Parts(StackFrame& entry, auto visit) { return visit(entry.function, entry.file, entry.line); }
constexpr const char* PartsOf(const FrontierEntry&) { return "[node,from_port,edge_type]"; }
bool Parts(FrontierEntry& entry, auto visit) {
  return visit(entry.node, entry.from_port, entry.edge_type);
}
constexpr const char* PartsOf(const Access&) {
  return "[block,mode,offset,length], or [block,mode,offset,length,width,pitch,height,layer]";
}
bool Parts(Access& entry, auto visit) {
  return visit(entry.block, entry.mode, entry.offset, Length{entry.length}, RowParts{entry.rows});
}
constexpr const char* PartsOf(const Collective&) { return "[communicator,kind,count,type,peer]"; }
bool Parts(Collective& entry, auto visit) {
  return visit(entry.communicator, entry.kind, entry.count, entry.type, entry.peer);
}
constexpr const char* PartsOf(const HostEnd&) { return "[kind,mode,address,length]"; }
bool Parts(HostEnd& entry, auto visit) {
  return visit(entry.kind, entry.mode, Hex{entry.address}, Length{entry.length});
}
constexpr const char* PartsOf(const NodeLabel&) { return "[text]"; }
bool Parts(NodeLabel& entry, auto visit) { return visit(entry.text); }
constexpr const char* PartsOf(const Scalar&) { return "[argument,offset,value]"; }
bool Parts(Scalar& entry, auto visit) {
  return visit(entry.argument, entry.offset, Hex{entry.bits});
}
constexpr const char* PartsOf(const ToolIdRun&) { return "[node,count,tool_id,number]"; }
bool Parts(ToolIdRun& entry, auto visit) {
  return visit(entry.first, entry.count, Half{entry.tool_id, 32}, Half{entry.tool_id, 0});
}
template <typename T>
concept HasParts = requires(const T& entry) {
  PartsOf(entry);
};

// Texts that lie elsewhere, which must live as long as their ids are used.
class LooseTexts {
 public:
  StringId Add(std::string_view text) {
    if (text.empty()) return {};
    texts_.push_back(text);
    return StringId(texts_.size() - 1);
  }
  std::string_view operator[](StringId id) const {
    return id ? texts_[id.index()] : std::string_view();
  }
  void Clear() { texts_.clear(); }

 private:
  std::vector<std::string_view> texts_;
};

// Texts and lists of records that belong to no trace: they were read, or are about to be written.
class LooseValues : public LooseTexts {
 public:
  Arena arena;

  template <typename Column, typename T = typename Column::value_type>
  std::vector<T>& Entries(Column Trace::*) {
    return std::get<std::vector<T>>(lists_);
  }
  template <typename Column, typename T = typename Column::value_type>
  std::span<const T> Of(Slice slice, Column Trace::*) const {
    return std::span(std::get<std::vector<T>>(lists_)).subspan(slice.first, slice.count);
  }

  void Clear() {
    arena.Reset();
    LooseTexts::Clear();
    std::apply([](auto&... lists) { (lists.clear(), ...); }, lists_);
  }

 private:
  template <typename... Ts>
  using Lists = std::tuple<std::vector<Ts>...>;
  EachEntry<Lists> lists_;
};

// Texts and lists that one record refers to where they are, to be written.
class BorrowedValues : public LooseTexts {
 public:
  using LooseTexts::Add;
  template <typename T>
  Slice Add(const std::vector<T>& list) {
    std::get<std::span<const T>>(lists_) = list;
    return {0, static_cast<uint32_t>(list.size())};
  }
  template <typename Column, typename T = typename Column::value_type>
  std::span<const T> Of(Slice slice, Column Trace::*) const {
    return std::get<std::span<const T>>(lists_).first(slice.count);
  }

 private:
  template <typename... Ts>
  using Lists = std::tuple<std::span<const Ts>...>;
  EachEntry<Lists> lists_;
};

// The texts and lists of a trace.
struct TraceValues {
  const Trace& trace;
  std::string_view operator[](StringId id) const { return trace[id]; }
  template <typename T>
  std::span<const T> Of(Slice slice, std::vector<T> Trace::*column) const {
    return std::span(trace.*column).subspan(slice.first, slice.count);
  }
  AccessColumn::Range Of(Slice slice, AccessColumn Trace::*column) const {
    return (trace.*column).Of(slice);
  }
};

// Visits the values of a record's fields, whatever their rule, with Self::Field(key, value).
template <typename Self>
struct EachField {
  void Required(std::string_view key, auto&& value) { self().Field(key, value); }
  void Always(std::string_view key, auto&& value) { self().Field(key, value); }
  void Optional(std::string_view key, auto&& value) { self().Field(key, value); }
  void Optional(std::string_view key, auto& value, const auto&) { self().Field(key, value); }
  void Present(std::string_view key, bool&, auto&& value) { self().Field(key, value); }

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

// Copies what a record's fields say into another one, and nothing else of its row: other records
// say how it ended. `WhereSet`: values at their default stay behind.
template <typename Record, bool WhereSet = false>
class FieldCopier : public EachField<FieldCopier<Record, WhereSet>> {
 public:
  explicit FieldCopier(const Record& from, Record into = {}) : to(std::move(into)), from_(from) {
    to.Fields(*this);
    to.time = from.time;
    to.source = from.source;
  }
  Record to;

  void Present(std::string_view key, bool& present, auto&& value) {
    Field(key, present);
    Field(key, value);
  }
  template <typename T>
  void Field(std::string_view key, T& value) {
    if constexpr (requires { value.value = value.value; }) {
      Field(key, value.value);  // Hex, Listed, …
    } else {
      const auto place = reinterpret_cast<const char*>(&value) - reinterpret_cast<const char*>(&to);
      const T& said = *reinterpret_cast<const T*>(reinterpret_cast<const char*>(&from_) + place);
      if constexpr (WhereSet) {
        if (said == T()) return;
      }
      value = said;
    }
  }
  void Field(std::string_view key, Extents& extents) {
    for (uint32_t& extent : extents.value) Field(key, extent);
  }

 private:
  const Record& from_;
};

}  // namespace graphkit
