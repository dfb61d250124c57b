#include "libgraphkit/io/pickle/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

namespace graphkit {
namespace {

// The values that a pickle's opcodes make, and the stack they lie on. Only pickle.cpp needs them.
PickleValue Integer(int64_t v) { return {.type = PickleType::kInt, .integer = v}; }

PickleValue Text(PickleType type, std::string_view text) {
  return {.type = type, .length = static_cast<uint32_t>(text.size()), .chars = text.data()};
}

// Two's complement, little-endian, of any length: pickle's LONG.
PickleValue LongInteger(std::string_view bytes) {
  const bool negative = !bytes.empty() && (static_cast<uint8_t>(bytes.back()) & 0x80u);
  const auto byte = [&](size_t i) { return uint64_t{static_cast<uint8_t>(bytes[i])}; };
  uint64_t low = negative ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 8); ++i) {
    low = (low & ~(uint64_t{0xff} << (8 * i))) | (byte(i) << (8 * i));
  }
  if (bytes.size() <= 8) return Integer(static_cast<int64_t>(low));
  if (bytes.size() == 9 && bytes[8] == 0) return {.type = PickleType::kUint, .natural = low};
  return Text(PickleType::kBigInt, bytes);
}

// A stack whose values stay readable after they were taken off, until the next push.
class ValueStack {
 public:
  size_t size() const { return size_; }
  const PickleValue& back() const { return slots_[size_ - 1]; }
  std::span<const PickleValue> from(size_t first) const {
    return std::span(slots_).subspan(first, size_ - first);
  }
  void push(PickleValue value) {
    if (size_ == slots_.size()) slots_.resize(std::max<size_t>(256, 2 * size_));
    slots_[size_++] = value;
  }
  void cut(size_t size) { size_ = size; }

 private:
  std::vector<PickleValue> slots_;
  size_t size_ = 0;
};

static_assert(std::endian::native == std::endian::little, "numbers are copied as they stand");

using T = PickleType;

// The pickle virtual machine, reduced to what builds data. What can fail returns false after
// setting error_.
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
  struct Opcode {
    uint8_t op;
    const char* name;
    bool (Unpickler::*run)();  // none: it names or runs code, or needs what isn't in the file
  };
  static const Opcode kOpcodes[];

  bool Cut() {
    error_ = {.message = "the pickle ends in the middle",
              .hint = "the file was cut off: dump the snapshot again",
              .offset = bytes_.size(),
              .kind = Error::Kind::kIncomplete};
    return false;
  }
  bool Fail(std::string what) {
    error_ = {.message = "not a sound pickle: the opcode " + std::move(what), .offset = op_};
    return false;
  }
  bool Refuse();

  // Reading.
  bool Take(uint64_t count, std::string_view* out) {
    if (count > bytes_.size() - pos_) return Cut();
    *out = bytes_.substr(pos_, count);
    pos_ += count;
    return true;
  }
  template <typename Number>
  bool Read(Number* out) {
    std::string_view raw;
    if (!Take(sizeof(Number), &raw)) return false;
    std::memcpy(out, raw.data(), sizeof(Number));
    return true;
  }

  // The stack. Values above the last mark belong to it.
  bool Push(PickleValue value) {
    stack_.push(value);
    return true;
  }
  bool Push(PickleType type, PickleContainer* container) {
    return Push({.type = type, .container = container});
  }
  size_t fence() const { return marks_.empty() ? 0 : marks_.back(); }
  bool Need(size_t count) {
    return stack_.size() - fence() >= count || Fail("takes more values than there are");
  }
  // Takes the values from the `first`-th on off the stack; they stay readable until the next push.
  std::span<const PickleValue> TakeFrom(size_t first) {
    const std::span<const PickleValue> taken = stack_.from(first);
    stack_.cut(first);
    return taken;
  }
  // The same of those above the last mark.
  bool TakeMarked(std::span<const PickleValue>* out) {
    if (marks_.empty()) return Fail("needs a mark that isn't there");
    *out = TakeFrom(marks_.back());
    marks_.pop_back();
    return true;
  }

  PickleContainer* NewContainer(std::span<const PickleValue> items) {
    auto* container = static_cast<PickleContainer*>(
        arena_->allocate(sizeof(PickleContainer), alignof(PickleContainer)));
    *container = {};
    if (!items.empty()) Extend(container, items);
    return container;
  }

  bool Extend(PickleContainer* container, std::span<const PickleValue> items) {
    constexpr uint64_t kMost = 0xffffffffu;
    const uint64_t wanted = uint64_t{container->size} + items.size();
    if (wanted > kMost) return Fail("makes a container of more than 2^32 values");
    if (wanted > container->capacity) {
      const uint64_t doubled = std::min(uint64_t{container->capacity} * 2, kMost);
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

  bool ExtendTop(PickleType type, std::span<const PickleValue> items) {
    if (!Need(1)) return false;
    if (!stack_.back().is(type)) return Fail("adds to a value of another type");
    PickleContainer* container = stack_.back().container;
    if (container->taken()) return Fail("adds to a dict that was finished");
    if (type == T::kDict && items.size() % 2) return Fail("has a key without a value");
    if (type == T::kDict && taker_ && TakeDict(items)) return true;
    if (type == T::kList && taken_ > 0) items = JoinTaken(container, items);
    return Extend(container, items);
  }

  // Offers what fills the empty dict on top of the stack.
  bool TakeDict(std::span<const PickleValue> entries) {
    PickleContainer* dict = stack_.back().container;
    constexpr uint32_t kMost = 0xfffffffeu;
    if (dict->size > 0 || taken_ == kMost || !taker_->Take(entries)) return false;
    dict->capacity = ++taken_;
    return true;
  }

  // Makes one value of dicts that were taken one after the other.
  std::span<const PickleValue> JoinTaken(PickleContainer* list,
                                         std::span<const PickleValue> items) {
    joined_.clear();
    for (const PickleValue& item : items) {
      const bool taken = item.is(T::kDict) && item.container->taken();
      if (!taken) {
        joined_.push_back(item);
        continue;
      }
      const uint64_t place = item.container->capacity - 1;
      PickleValue* last = !joined_.empty() ? &joined_.back()
                          : list->size > 0 ? &list->data[list->size - 1]
                                           : nullptr;
      if (last && last->is(T::kTaken) && last->natural + last->length == place) {
        ++last->length;
        continue;
      }
      joined_.push_back({.type = T::kTaken, .length = 1, .natural = place});
    }
    return joined_;
  }

  bool Remember(uint64_t index) {
    if (!Need(1)) return false;
    if (index > bytes_.size()) return Fail("uses a memo place beyond the file's size");
    if (index >= memo_.size()) memo_.resize(index + 1, {.type = kUnset});
    memo_[index] = stack_.back();
    return true;
  }

  // The opcodes.
  bool Mark() {
    marks_.push_back(stack_.size());
    return true;
  }
  bool Stop() {
    if (!Need(1)) return false;
    if (!marks_.empty()) return Fail("ends the pickle inside a container");
    return done_ = true;
  }
  bool Pop() {
    if (stack_.size() == fence() && !marks_.empty()) {
      marks_.pop_back();
      return true;
    }
    if (!Need(1)) return false;
    stack_.cut(stack_.size() - 1);
    return true;
  }
  bool PopMark() {
    std::span<const PickleValue> dropped;
    return TakeMarked(&dropped);
  }
  bool Dup() { return Need(1) && Push(stack_.back()); }
  bool Proto() {
    uint8_t version;
    if (!Read(&version)) return false;
    return (version >= 2 && version <= 5) || Fail("says protocol " + std::to_string(version));
  }
  // A frame only says how much to read ahead.
  bool Frame() {
    uint64_t size;
    return Read(&size) && (size <= bytes_.size() - pos_ || Cut());
  }
  bool PushNone() { return Push(PickleValue{}); }
  template <bool value>
  bool PushBool() {
    PickleValue v = Integer(value);
    v.type = T::kBool;
    return Push(v);
  }
  template <typename Number>
  bool PushInteger() {
    Number number;
    return Read(&number) && Push(Integer(number));
  }
  template <typename Length>
  bool PushLong() {
    Length length;
    std::string_view raw;
    return Read(&length) && Take(length, &raw) && Push(LongInteger(raw));
  }
  bool PushFloat() {
    uint64_t bits;
    if (!Read(&bits)) return false;
    return Push({.type = T::kFloat, .real = std::bit_cast<double>(__builtin_bswap64(bits))});
  }
  template <PickleType type, typename Length>
  bool PushText() {
    constexpr uint64_t kMost = 0xffffffffu;
    Length length;
    std::string_view text;
    if (!Read(&length) || !Take(length, &text)) return false;
    if (text.size() > kMost) return Fail("makes a string of over 4 GiB");
    return Push(Text(type, text));
  }
  template <PickleType type>
  bool PushEmpty() {
    return Push(type, NewContainer({}));
  }
  template <PickleType type>
  bool PushMarked() {
    std::span<const PickleValue> items;
    if (!TakeMarked(&items)) return false;
    if (type == T::kDict && items.size() % 2) return Fail("has a key without a value");
    if (type != T::kList || taken_ == 0) return Push(type, NewContainer(items));
    PickleContainer* list = NewContainer({});
    Extend(list, JoinTaken(list, items));
    return Push(type, list);
  }
  template <size_t count>
  bool PushTuple() {
    return Need(count) && Push(T::kTuple, NewContainer(TakeFrom(stack_.size() - count)));
  }
  template <PickleType type, size_t count>
  bool AddOne() {
    return Need(count + 1) && ExtendTop(type, TakeFrom(stack_.size() - count));
  }
  template <PickleType type>
  bool AddMarked() {
    std::span<const PickleValue> items;
    return TakeMarked(&items) && ExtendTop(type, items);
  }
  template <typename Index>
  bool Get() {
    Index index;
    if (!Read(&index)) return false;
    if (index >= memo_.size() || memo_[index].is(kUnset)) return Fail("reads an empty memo place");
    return Push(memo_[index]);
  }
  template <typename Index>
  bool Put() {
    Index index;
    return Read(&index) && Remember(index);
  }
  bool Memoize() { return Remember(memo_.size()); }

  static constexpr PickleType kUnset = T::kTaken;  // in the memo, which holds none

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
  bool done_ = false;
  Error error_;
};

using U = Unpickler;

// By name, as in CPython's pickletools, protocols 0 to 5.
constexpr U::Opcode U::kOpcodes[] = {
    {'(', "MARK", &U::Mark},
    {'.', "STOP", &U::Stop},
    {'0', "POP", &U::Pop},
    {'1', "POP_MARK", &U::PopMark},
    {'2', "DUP", &U::Dup},
    {0x80, "PROTO", &U::Proto},
    {0x95, "FRAME", &U::Frame},
    {'N', "NONE", &U::PushNone},
    {0x88, "NEWTRUE", &U::PushBool<true>},
    {0x89, "NEWFALSE", &U::PushBool<false>},
    {'J', "BININT", &U::PushInteger<int32_t>},
    {'K', "BININT1", &U::PushInteger<uint8_t>},
    {'M', "BININT2", &U::PushInteger<uint16_t>},
    {0x8a, "LONG1", &U::PushLong<uint8_t>},
    {0x8b, "LONG4", &U::PushLong<uint32_t>},
    {'G', "BINFLOAT", &U::PushFloat},
    {'U', "SHORT_BINSTRING", &U::PushText<T::kString, uint8_t>},
    {'T', "BINSTRING", &U::PushText<T::kString, uint32_t>},
    {0x8c, "SHORT_BINUNICODE", &U::PushText<T::kString, uint8_t>},
    {'X', "BINUNICODE", &U::PushText<T::kString, uint32_t>},
    {0x8d, "BINUNICODE8", &U::PushText<T::kString, uint64_t>},
    {'C', "SHORT_BINBYTES", &U::PushText<T::kBytes, uint8_t>},
    {'B', "BINBYTES", &U::PushText<T::kBytes, uint32_t>},
    {0x8e, "BINBYTES8", &U::PushText<T::kBytes, uint64_t>},
    {0x96, "BYTEARRAY8", &U::PushText<T::kBytes, uint64_t>},
    {']', "EMPTY_LIST", &U::PushEmpty<T::kList>},
    {')', "EMPTY_TUPLE", &U::PushEmpty<T::kTuple>},
    {'}', "EMPTY_DICT", &U::PushEmpty<T::kDict>},
    {0x8f, "EMPTY_SET", &U::PushEmpty<T::kSet>},
    {'l', "LIST", &U::PushMarked<T::kList>},
    {'t', "TUPLE", &U::PushMarked<T::kTuple>},
    {'d', "DICT", &U::PushMarked<T::kDict>},
    {0x91, "FROZENSET", &U::PushMarked<T::kSet>},
    {0x85, "TUPLE1", &U::PushTuple<1>},
    {0x86, "TUPLE2", &U::PushTuple<2>},
    {0x87, "TUPLE3", &U::PushTuple<3>},
    {'a', "APPEND", &U::AddOne<T::kList, 1>},
    {'s', "SETITEM", &U::AddOne<T::kDict, 2>},
    {'e', "APPENDS", &U::AddMarked<T::kList>},
    {'u', "SETITEMS", &U::AddMarked<T::kDict>},
    {0x90, "ADDITEMS", &U::AddMarked<T::kSet>},
    {'h', "BINGET", &U::Get<uint8_t>},
    {'j', "LONG_BINGET", &U::Get<uint32_t>},
    {'q', "BINPUT", &U::Put<uint8_t>},
    {'r', "LONG_BINPUT", &U::Put<uint32_t>},
    {0x94, "MEMOIZE", &U::Memoize},
    {'c', "GLOBAL", nullptr},
    {0x93, "STACK_GLOBAL", nullptr},
    {'R', "REDUCE", nullptr},
    {'b', "BUILD", nullptr},
    {'i', "INST", nullptr},
    {'o', "OBJ", nullptr},
    {0x81, "NEWOBJ", nullptr},
    {0x92, "NEWOBJ_EX", nullptr},
    {'P', "PERSID", nullptr},
    {'Q', "BINPERSID", nullptr},
    {0x82, "EXT1", nullptr},
    {0x83, "EXT2", nullptr},
    {0x84, "EXT4", nullptr},
    {0x97, "NEXT_BUFFER", nullptr},
    {0x98, "READONLY_BUFFER", nullptr},
    {'I', "INT (protocol 0)", nullptr},
    {'L', "LONG (protocol 0)", nullptr},
    {'V', "UNICODE (protocol 0)", nullptr},
    {'S', "STRING (protocol 0)", nullptr},
};

bool Unpickler::Refuse() {
  const auto op = static_cast<uint8_t>(bytes_[op_]);
  const auto* known = std::ranges::find(kOpcodes, op, &Opcode::op);
  if (known != std::end(kOpcodes)) {
    error_ = {
        .message = std::string("the pickle holds more than plain data: opcode ") + known->name,
        .hint = "only dicts, lists, numbers and strings are read; nothing in it is run",
        .offset = op_};
    return false;
  }
  constexpr char kHex[] = "0123456789abcdef";
  const std::string hex = {kHex[op >> 4], kHex[op & 15]};
  error_ = {.message = "not a pickle of protocol 2 to 5: unknown opcode 0x" + hex, .offset = op_};
  return false;
}

Result<PickleDocument> Unpickler::Run() {
  static const auto kRun = [] {
    std::array<bool (Unpickler::*)(), 256> run{};
    run.fill(&U::Refuse);
    for (const Opcode& opcode : kOpcodes) {
      if (opcode.run) run[opcode.op] = opcode.run;
    }
    return run;
  }();
  while (!done_) {
    op_ = pos_;
    uint8_t op;
    if (!Read(&op) || !(this->*kRun[op])()) return error_;
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
