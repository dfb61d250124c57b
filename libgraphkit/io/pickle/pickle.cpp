#include "libgraphkit/io/pickle/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "libgraphkit/io/pickle/pickle_opcodes.h"
#include "libgraphkit/io/pickle/pickle_values.h"

namespace graphkit {
namespace {

constexpr uint64_t kMaxText = 0xffffffffu;

// The pickle virtual machine, reduced to what builds data.
class Unpickler {
 public:
  Unpickler(std::string_view bytes, PickleTaker* taker)
      : bytes_(bytes),
        taker_(taker),
        arena_(std::make_unique<std::pmr::monotonic_buffer_resource>(1 << 16)) {
    // Grows without being copied; what isn't used isn't backed by memory.
    if (taker) memo_.reserve(bytes.size() / sizeof(PickleValue));
  }

  Result<PickleDocument> Run();

 private:
  using Handler = bool (Unpickler::*)();
  struct Table {
    std::array<Handler, 256> at{};
    Table();
    void Set(PickleOp op, Handler handler) { at[static_cast<uint8_t>(op)] = handler; }
  };

  // Reading. Each returns false after setting error_.
  bool Take(uint64_t count, std::string_view* out) {
    if (count > bytes_.size() - pos_) return Cut();
    *out = bytes_.substr(pos_, count);
    pos_ += count;
    return true;
  }
  template <typename T>
  bool Number(T* out) {
    std::string_view raw;
    if (!Take(sizeof(T), &raw)) return false;
    std::memcpy(out, raw.data(), sizeof(T));
    if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) {
      auto* bytes = reinterpret_cast<unsigned char*>(out);
      std::reverse(bytes, bytes + sizeof(T));
    }
    return true;
  }
  bool Cut();
  bool Fail(std::string what);
  bool Refuse(uint8_t op);

  // The stack. Values above the last mark belong to it.
  bool Push(PickleValue value) {
    stack_.push(value);
    return true;
  }
  bool Push(PickleType type, PickleContainer* container) {
    PickleValue value;
    value.type = type;
    value.container = container;
    return Push(value);
  }
  size_t fence() const { return marks_.empty() ? 0 : marks_.back(); }
  bool Need(size_t count) {
    return stack_.size() - fence() >= count || Fail("takes more values than there are");
  }
  // Takes the values above the last mark off the stack; they stay readable until the next push.
  bool TakeMarked(std::span<const PickleValue>* out);

  PickleContainer* NewContainer(std::span<const PickleValue> items);
  bool Extend(PickleContainer* container, std::span<const PickleValue> items);
  bool ExtendTop(PickleType type, std::span<const PickleValue> items);
  bool Remember(uint64_t index);
  bool Recall(uint64_t index);

  // The opcodes.
  bool Unknown() { return Refuse(static_cast<uint8_t>(bytes_[op_])); }
  bool Mark() {
    marks_.push_back(stack_.size());
    return true;
  }
  bool Stop();
  bool Pop();
  bool PopMark();
  bool Dup() { return Need(1) && Push(stack_.back()); }
  bool Proto();
  bool Frame();
  bool PushNone() { return Push(PickleValue{}); }
  template <bool value>
  bool PushBool();
  template <typename T>
  bool PushInteger() {
    T number;
    return Number(&number) && Push(Integer(number));
  }
  template <typename Length>
  bool PushLong();
  bool PushFloat();
  template <PickleType type, typename Length>
  bool PushText();
  template <PickleType type>
  bool PushEmpty() {
    return Push(type, NewContainer({}));
  }
  template <PickleType type>
  bool PushMarked();
  template <size_t count>
  bool PushTuple();
  template <PickleType type, size_t count>
  bool AddOne();
  template <PickleType type>
  bool AddMarked();
  template <typename Index>
  bool Get() {
    Index index;
    return Number(&index) && Recall(index);
  }
  template <typename Index>
  bool Put() {
    Index index;
    return Number(&index) && Remember(index);
  }
  bool Memoize() { return Remember(memo_.size()); }

  bool TakeDict(std::span<const PickleValue> entries);
  std::span<const PickleValue> JoinTaken(PickleContainer* list, std::span<const PickleValue> items);

  std::string_view bytes_;
  PickleTaker* taker_;
  uint32_t taken_ = 0;  // dicts
  std::vector<PickleValue> joined_;
  size_t pos_ = 0;
  size_t op_ = 0;  // where the current opcode begins
  std::unique_ptr<std::pmr::monotonic_buffer_resource> arena_;
  ValueStack stack_;
  std::vector<size_t> marks_;
  std::vector<PickleValue> memo_;
  std::vector<bool> memo_set_;
  bool done_ = false;
  Error error_;
};

bool Unpickler::Cut() {
  error_ = {.message = "the pickle ends in the middle",
            .hint = "the file was cut off: dump the snapshot again",
            .offset = bytes_.size(),
            .kind = Error::Kind::kIncomplete};
  return false;
}

bool Unpickler::Fail(std::string what) {
  error_ = {.message = "not a sound pickle: the opcode " + std::move(what), .offset = op_};
  return false;
}

bool Unpickler::Refuse(uint8_t op) {
  for (const PickleOpName& known : kPickleCodeOps) {
    if (known.op != op) continue;
    error_ = {.message = std::string("the pickle holds more than plain data: opcode ") + known.name,
              .hint = "only dicts, lists, numbers and strings are read; nothing in it is run",
              .offset = op_};
    return false;
  }
  constexpr char kHex[] = "0123456789abcdef";
  const std::string hex = {kHex[op >> 4], kHex[op & 15]};
  error_ = {.message = "not a pickle of protocol 2 to 5: unknown opcode 0x" + hex, .offset = op_};
  return false;
}

bool Unpickler::TakeMarked(std::span<const PickleValue>* out) {
  if (marks_.empty()) return Fail("needs a mark that isn't there");
  const size_t first = marks_.back();
  marks_.pop_back();
  *out = stack_.from(first);
  stack_.cut(first);
  return true;
}

PickleContainer* Unpickler::NewContainer(std::span<const PickleValue> items) {
  auto* container = static_cast<PickleContainer*>(
      arena_->allocate(sizeof(PickleContainer), alignof(PickleContainer)));
  *container = {};
  if (!items.empty()) Extend(container, items);
  return container;
}

bool Unpickler::Extend(PickleContainer* container, std::span<const PickleValue> items) {
  const uint64_t wanted = uint64_t{container->size} + items.size();
  if (wanted > 0xffffffffu) return Fail("makes a container of more than 2^32 values");
  if (wanted > container->capacity) {
    const uint64_t doubled = std::min<uint64_t>(uint64_t{container->capacity} * 2, 0xffffffffu);
    const auto capacity = static_cast<uint32_t>(std::max(wanted, doubled));
    auto* data = static_cast<PickleValue*>(
        arena_->allocate(capacity * sizeof(PickleValue), alignof(PickleValue)));
    std::copy_n(container->data, container->size, data);
    container->data = data;
    container->capacity = capacity;
  }
  std::copy(items.begin(), items.end(), container->data + container->size);
  container->size = static_cast<uint32_t>(wanted);
  return true;
}

bool Unpickler::ExtendTop(PickleType type, std::span<const PickleValue> items) {
  if (!Need(1)) return false;
  if (!stack_.back().is(type)) return Fail("adds to a value of another type");
  PickleContainer* container = stack_.back().container;
  if (container->taken()) return Fail("adds to a dict that was finished");
  if (type == PickleType::kDict && items.size() % 2) return Fail("has a key without a value");
  if (type == PickleType::kDict && taker_ && TakeDict(items)) return true;
  if (type == PickleType::kList && taken_ > 0) items = JoinTaken(container, items);
  return Extend(container, items);
}

// Offers what fills the empty dict on top of the stack.
bool Unpickler::TakeDict(std::span<const PickleValue> entries) {
  PickleContainer* dict = stack_.back().container;
  constexpr uint32_t kMost = 0xfffffffeu;
  if (dict->size > 0 || taken_ == kMost || !taker_->Take(entries)) return false;
  dict->capacity = ++taken_;
  return true;
}

// Makes one value of dicts that were taken one after the other.
std::span<const PickleValue> Unpickler::JoinTaken(PickleContainer* list,
                                                  std::span<const PickleValue> items) {
  joined_.clear();
  for (const PickleValue& item : items) {
    const bool taken = item.is(PickleType::kDict) && item.container->taken();
    if (!taken) {
      joined_.push_back(item);
      continue;
    }
    const uint64_t place = item.container->capacity - 1;
    PickleValue* last = !joined_.empty() ? &joined_.back()
                        : list->size > 0 ? &list->data[list->size - 1]
                                         : nullptr;
    if (last && last->is(PickleType::kTaken) && last->natural + last->length == place) {
      ++last->length;
      continue;
    }
    PickleValue run;
    run.type = PickleType::kTaken;
    run.length = 1;
    run.natural = place;
    joined_.push_back(run);
  }
  return joined_;
}

bool Unpickler::Remember(uint64_t index) {
  if (!Need(1)) return false;
  if (index > bytes_.size()) return Fail("uses a memo place beyond the file's size");
  if (index >= memo_.size()) {
    memo_.resize(index + 1);
    memo_set_.resize(index + 1);
  }
  memo_[index] = stack_.back();
  memo_set_[index] = true;
  return true;
}

bool Unpickler::Recall(uint64_t index) {
  if (index >= memo_.size() || !memo_set_[index]) return Fail("reads an empty memo place");
  return Push(memo_[index]);
}

bool Unpickler::Stop() {
  if (!Need(1)) return false;
  if (!marks_.empty()) return Fail("ends the pickle inside a container");
  done_ = true;
  return true;
}

bool Unpickler::Pop() {
  if (stack_.size() == fence() && !marks_.empty()) {
    marks_.pop_back();
    return true;
  }
  if (!Need(1)) return false;
  stack_.cut(stack_.size() - 1);
  return true;
}

bool Unpickler::PopMark() {
  std::span<const PickleValue> dropped;
  return TakeMarked(&dropped);
}

bool Unpickler::Proto() {
  uint8_t version;
  if (!Number(&version)) return false;
  if (version < 2 || version > 5) return Fail("says protocol " + std::to_string(version));
  return true;
}

// A frame only says how much to read ahead.
bool Unpickler::Frame() {
  uint64_t size;
  return Number(&size) && (size <= bytes_.size() - pos_ || Cut());
}

template <bool value>
bool Unpickler::PushBool() {
  PickleValue v = Integer(value);
  v.type = PickleType::kBool;
  return Push(v);
}

template <typename Length>
bool Unpickler::PushLong() {
  Length length;
  std::string_view raw;
  return Number(&length) && Take(length, &raw) && Push(LongInteger(raw));
}

bool Unpickler::PushFloat() {
  std::string_view raw;
  if (!Take(8, &raw)) return false;
  uint64_t bits = 0;
  for (const char c : raw) bits = bits << 8 | static_cast<uint8_t>(c);
  PickleValue value;
  value.type = PickleType::kFloat;
  value.real = std::bit_cast<double>(bits);
  return Push(value);
}

template <PickleType type, typename Length>
bool Unpickler::PushText() {
  Length length;
  std::string_view text;
  if (!Number(&length) || !Take(length, &text)) return false;
  if (text.size() > kMaxText) return Fail("makes a string of over 4 GiB");
  return Push(Text(type, text));
}

template <PickleType type>
bool Unpickler::PushMarked() {
  std::span<const PickleValue> items;
  if (!TakeMarked(&items)) return false;
  if (type == PickleType::kDict && items.size() % 2) return Fail("has a key without a value");
  if (type != PickleType::kList || taken_ == 0) return Push(type, NewContainer(items));
  PickleContainer* list = NewContainer({});
  Extend(list, JoinTaken(list, items));
  return Push(type, list);
}

template <size_t count>
bool Unpickler::PushTuple() {
  if (!Need(count)) return false;
  PickleContainer* container = NewContainer(stack_.from(stack_.size() - count));
  stack_.cut(stack_.size() - count);
  return Push(PickleType::kTuple, container);
}

template <PickleType type, size_t count>
bool Unpickler::AddOne() {
  if (!Need(count + 1)) return false;
  const std::span<const PickleValue> items = stack_.from(stack_.size() - count);
  stack_.cut(stack_.size() - count);
  return ExtendTop(type, items);
}

template <PickleType type>
bool Unpickler::AddMarked() {
  std::span<const PickleValue> items;
  return TakeMarked(&items) && ExtendTop(type, items);
}

Unpickler::Table::Table() {
  using T = PickleType;
  using U = Unpickler;
  at.fill(&U::Unknown);
  Set(PickleOp::kMark, &U::Mark);
  Set(PickleOp::kStop, &U::Stop);
  Set(PickleOp::kPop, &U::Pop);
  Set(PickleOp::kPopMark, &U::PopMark);
  Set(PickleOp::kDup, &U::Dup);
  Set(PickleOp::kProto, &U::Proto);
  Set(PickleOp::kFrame, &U::Frame);
  Set(PickleOp::kNone, &U::PushNone);
  Set(PickleOp::kNewTrue, &U::PushBool<true>);
  Set(PickleOp::kNewFalse, &U::PushBool<false>);
  Set(PickleOp::kBinInt, &U::PushInteger<int32_t>);
  Set(PickleOp::kBinInt1, &U::PushInteger<uint8_t>);
  Set(PickleOp::kBinInt2, &U::PushInteger<uint16_t>);
  Set(PickleOp::kLong1, &U::PushLong<uint8_t>);
  Set(PickleOp::kLong4, &U::PushLong<uint32_t>);
  Set(PickleOp::kBinFloat, &U::PushFloat);
  Set(PickleOp::kShortBinString, &U::PushText<T::kString, uint8_t>);
  Set(PickleOp::kBinString, &U::PushText<T::kString, uint32_t>);
  Set(PickleOp::kShortBinUnicode, &U::PushText<T::kString, uint8_t>);
  Set(PickleOp::kBinUnicode, &U::PushText<T::kString, uint32_t>);
  Set(PickleOp::kBinUnicode8, &U::PushText<T::kString, uint64_t>);
  Set(PickleOp::kShortBinBytes, &U::PushText<T::kBytes, uint8_t>);
  Set(PickleOp::kBinBytes, &U::PushText<T::kBytes, uint32_t>);
  Set(PickleOp::kBinBytes8, &U::PushText<T::kBytes, uint64_t>);
  Set(PickleOp::kByteArray8, &U::PushText<T::kBytes, uint64_t>);
  Set(PickleOp::kEmptyList, &U::PushEmpty<T::kList>);
  Set(PickleOp::kEmptyTuple, &U::PushEmpty<T::kTuple>);
  Set(PickleOp::kEmptyDict, &U::PushEmpty<T::kDict>);
  Set(PickleOp::kEmptySet, &U::PushEmpty<T::kSet>);
  Set(PickleOp::kList, &U::PushMarked<T::kList>);
  Set(PickleOp::kTuple, &U::PushMarked<T::kTuple>);
  Set(PickleOp::kDict, &U::PushMarked<T::kDict>);
  Set(PickleOp::kFrozenSet, &U::PushMarked<T::kSet>);
  Set(PickleOp::kTuple1, &U::PushTuple<1>);
  Set(PickleOp::kTuple2, &U::PushTuple<2>);
  Set(PickleOp::kTuple3, &U::PushTuple<3>);
  Set(PickleOp::kAppend, &U::AddOne<T::kList, 1>);
  Set(PickleOp::kSetItem, &U::AddOne<T::kDict, 2>);
  Set(PickleOp::kAppends, &U::AddMarked<T::kList>);
  Set(PickleOp::kSetItems, &U::AddMarked<T::kDict>);
  Set(PickleOp::kAddItems, &U::AddMarked<T::kSet>);
  Set(PickleOp::kBinGet, &U::Get<uint8_t>);
  Set(PickleOp::kLongBinGet, &U::Get<uint32_t>);
  Set(PickleOp::kBinPut, &U::Put<uint8_t>);
  Set(PickleOp::kLongBinPut, &U::Put<uint32_t>);
  Set(PickleOp::kMemoize, &U::Memoize);
}

Result<PickleDocument> Unpickler::Run() {
  static const Table table;
  while (!done_) {
    if (pos_ >= bytes_.size()) {
      Cut();
      return error_;
    }
    op_ = pos_;
    const auto op = static_cast<uint8_t>(bytes_[pos_++]);
    if (!(this->*table.at[op])()) return error_;
  }
  return PickleDocument{std::move(arena_), stack_.back()};
}

}  // namespace

const PickleValue* PickleValue::find(std::string_view key) const {
  if (type != PickleType::kDict) return nullptr;
  const std::span<const PickleValue> all = items();
  for (size_t i = all.size(); i >= 2; i -= 2) {
    const PickleValue& k = all[i - 2];
    if (k.is(PickleType::kString) && k.text() == key) return &all[i - 1];
  }
  return nullptr;
}

Result<PickleDocument> ReadPickle(std::string_view bytes, PickleTaker* taker) {
  return Unpickler(bytes, taker).Run();
}

}  // namespace graphkit
