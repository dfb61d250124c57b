#include "plugins/cupti_tracer/stacks/python_stack.h"

#include <dlfcn.h>

#include <cstring>
#include <optional>
#include <string_view>

namespace graphkit {
namespace {

// 64 bits, without free threading. What frames and code objects begin with is the same in 3.11 and
// 3.12, and so are byte strings and all strings but for where their characters begin.
constexpr size_t kLength = 16, kBytes = 32, kState = 32;  // PyBytesObject, PyASCIIObject
constexpr size_t kAscii = 40, kWide = 56;                 // of a string's characters, since 3.12
constexpr size_t kUnitBytes = 2;
constexpr uint8_t kOwnedByLoop = 3;  // FRAME_OWNED_BY_CSTACK of 3.12 and 3.13

constexpr PythonLayout k311{.thread_frame = 56,  // PyThreadState::cframe
                            .indirect = true,
                            .loop_frame = 8,  // _PyCFrame::current_frame
                            .code = 32,       // _PyInterpreterFrame
                            .previous = 48,
                            .instruction = 56,
                            .entry = 68,
                            .file = 112,  // PyCodeObject
                            .name = 128,
                            .lines = 136,
                            .first_line = 72,
                            .units = 184,
                            .ascii = 48,  // PyASCIIObject, PyCompactUnicodeObject
                            .wide = 72};
constexpr PythonLayout k312{.thread_frame = 56,
                            .indirect = true,
                            .loop_frame = 0,
                            .code = 0,
                            .previous = 8,
                            .instruction = 56,
                            .owner = 70,
                            .file = 112,
                            .name = 128,
                            .lines = 136,
                            .first_line = 68,
                            .units = 192,
                            .ascii = kAscii,
                            .wide = kWide};

// 3.13's _Py_DebugOffsets: 8 bytes each, by their place in it.
namespace published {
constexpr size_t kVersion = 1, kFreeThreaded = 2, kThreadFrame = 23, kPrevious = 29, kCode = 30,
                 kInstruction = 31, kOwner = 33, kFile = 35, kName = 37, kLines = 38,
                 kFirstLine = 39, kUnits = 43;
}  // namespace published

template <typename T>
T Read(const char* object, size_t offset) {
  T value;
  std::memcpy(&value, object + offset, sizeof value);
  return value;
}

const char* Pointer(const char* object, size_t offset) { return Read<const char*>(object, offset); }

void AppendUtf8(std::string& out, uint32_t c) {
  auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  auto rest = [&](int shift) { put(0x80u | (c >> shift & 0x3fu)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xc0u | c >> 6), rest(0);
  if (c < 0x10000) return put(0xe0u | c >> 12), rest(6), rest(0);
  put(0xf0u | c >> 18), rest(12), rest(6), rest(0);
}

std::string Text(const char* unicode, const PythonLayout& layout) {
  if (unicode == nullptr) return {};
  const auto state = Read<uint32_t>(unicode, kState);
  const uint32_t kind = state >> 2 & 7u;
  const bool compact = (state >> 5 & 1u) != 0, ascii = (state >> 6 & 1u) != 0;
  const auto length = Read<int64_t>(unicode, kLength);
  if (!compact || length < 0) return {};
  if (ascii) return {unicode + layout.ascii, static_cast<size_t>(length)};
  std::string text;
  for (int64_t i = 0; i < length; ++i) {
    const char* character = unicode + layout.wide + static_cast<size_t>(i) * kind;
    AppendUtf8(text, kind == 1   ? Read<uint8_t>(character, 0)
                     : kind == 2 ? Read<uint16_t>(character, 0)
                                 : Read<uint32_t>(character, 0));
  }
  return text;
}

// The table of lines: an entry for each run of code units, with the change of the line before it.
//
//     1 k k k k l l l   l + 1 code units; k: what follows
//                       0 to 9: a byte; the line stays         10 to 12: two bytes; k - 10 lines on
//                       13: lines on (signed)                  14: ditto, and three numbers
//                       15: nothing; no line
class LineTable {
 public:
  LineTable(const char* bytes, uint32_t first)
      : at_(bytes + kBytes), end_(at_ + Read<int64_t>(bytes, kLength)), line_(first) {}

  uint32_t LineOf(uint32_t unit) {
    for (uint32_t begin = 0; at_ < end_;) {
      const uint32_t head = Byte(), kind = head >> 3 & 15u;
      begin += (head & 7u) + 1;
      Advance(kind);
      if (unit < begin) return kind == kNone ? 0 : line_;
    }
    return 0;
  }

 private:
  static constexpr uint32_t kNone = 15;

  uint32_t Byte() { return at_ < end_ ? static_cast<unsigned char>(*at_++) : 0; }
  uint32_t Number() {
    uint32_t number = 0;
    for (int shift = 0; shift < 30; shift += 6) {
      const uint32_t byte = Byte();
      number |= (byte & 0x3fu) << shift;
      if ((byte & 0x40u) == 0) break;
    }
    return number;
  }
  void Advance(uint32_t kind) {
    if (kind < 10) {
      Byte();
    } else if (kind < 13) {
      line_ += kind - 10;
      Byte(), Byte();
    } else if (kind < kNone) {
      const uint32_t lines = Number();
      line_ += (lines & 1u) != 0 ? 0 - (lines >> 1) : lines >> 1;
      if (kind == 14) Number(), Number(), Number();
    }
  }

  const char* at_;
  const char* end_;
  uint32_t line_;
};

// Nothing where the runtime publishes no offsets, or those of another kind of build.
std::optional<PythonLayout> Published(const char* runtime) {
  constexpr size_t kMost = 4096;  // bytes of the structures that are read
  auto at = [runtime](size_t place) { return Read<uint64_t>(runtime, place * 8); };
  if (runtime == nullptr || std::memcmp(runtime, "xdebugpy", 8) != 0) return {};
  if (at(published::kVersion) >> 16 != 0x030d || at(published::kFreeThreaded) != 0) return {};
  PythonLayout layout{.thread_frame = at(published::kThreadFrame),
                      .code = at(published::kCode),
                      .previous = at(published::kPrevious),
                      .instruction = at(published::kInstruction),
                      .owner = at(published::kOwner),
                      .file = at(published::kFile),
                      .name = at(published::kName),
                      .lines = at(published::kLines),
                      .first_line = at(published::kFirstLine),
                      .units = at(published::kUnits),
                      .ascii = kAscii,
                      .wide = kWide};
  for (size_t offset :
       {layout.thread_frame, layout.code, layout.previous, layout.instruction, layout.owner,
        layout.file, layout.name, layout.lines, layout.first_line, layout.units}) {
    if (offset >= kMost) return {};
  }
  return layout;
}

std::optional<PythonLayout> LayoutOf(std::string_view version) {
  if (version.starts_with("3.11.")) return k311;
  if (version.starts_with("3.12.")) return k312;
  if (version.starts_with("3.13."))
    return Published(static_cast<const char*>(dlsym(RTLD_DEFAULT, "_PyRuntime")));
  return {};
}

}  // namespace

void Python::Find() {
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  if (version == nullptr) return;
  const std::string_view text = version();
  const std::optional<PythonLayout> layout = LayoutOf(text);
  if (!layout) {
    unknown_ = text.substr(0, text.find(' '));
    return;
  }
  layout_ = *layout;
  this_thread_ =
      reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
}

// Of what is in the loop's own frames nothing is read.
size_t Python::Take(std::span<PythonFrame> out) const {
  const auto* thread = known() ? static_cast<const char*>(this_thread_()) : nullptr;
  const char* frame = thread != nullptr ? Pointer(thread, layout_.thread_frame) : nullptr;
  if (frame != nullptr && layout_.indirect) frame = Pointer(frame, layout_.loop_frame);
  size_t count = 0;
  for (; frame != nullptr && count < out.size(); frame = Pointer(frame, layout_.previous)) {
    if (layout_.entry == 0 && Read<uint8_t>(frame, layout_.owner) == kOwnedByLoop) {
      if (count != 0) out[count - 1].outermost = true;
      continue;
    }
    const char* code = Pointer(frame, layout_.code);
    const ptrdiff_t offset = Pointer(frame, layout_.instruction) - (code + layout_.units);
    const uint32_t unit = offset < 0 ? 0 : static_cast<uint32_t>(offset) / kUnitBytes;
    out[count++] = {&layout_, code, unit, layout_.entry != 0 && Read<bool>(frame, layout_.entry)};
  }
  return count;
}

PythonPlace Python::PlaceOf(const PythonFrame& frame) {
  const PythonLayout& layout = *frame.layout;
  LineTable lines(Pointer(frame.code, layout.lines), Read<uint32_t>(frame.code, layout.first_line));
  return {Text(Pointer(frame.code, layout.name), layout),
          Text(Pointer(frame.code, layout.file), layout), lines.LineOf(frame.unit)};
}

}  // namespace graphkit
