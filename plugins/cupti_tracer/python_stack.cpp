#include "plugins/cupti_tracer/python_stack.h"

#include <dlfcn.h>

#include <cstring>

namespace graphkit {
namespace {

// CPython 3.11, 64 bits: offsets in its structures, from its headers.
namespace at {
constexpr size_t kThreadFrame = 56;                     // PyThreadState::cframe
constexpr size_t kCurrent = 8;                          // _PyCFrame::current_frame
constexpr size_t kCode = 32, kPrevious = 48;            // _PyInterpreterFrame
constexpr size_t kInstruction = 56, kIsEntry = 68;      // ditto: prev_instr, is_entry
constexpr size_t kFirstLine = 72, kFile = 112;          // PyCodeObject
constexpr size_t kQualifiedName = 128, kLines = 136;    // ditto
constexpr size_t kUnits = 184;                          // ditto: co_code_adaptive
constexpr size_t kLength = 16, kBytes = 32;             // PyBytesObject
constexpr size_t kState = 32, kAscii = 48, kWide = 72;  // PyASCIIObject, PyCompactUnicodeObject
}  // namespace at
constexpr const char* kVersion = "3.11.";
constexpr size_t kUnitBytes = 2;

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

std::string Text(const char* unicode) {
  if (unicode == nullptr) return {};
  const auto state = Read<uint32_t>(unicode, at::kState);
  const uint32_t kind = state >> 2 & 7u;
  const bool compact = (state >> 5 & 1u) != 0, ascii = (state >> 6 & 1u) != 0;
  const auto length = Read<int64_t>(unicode, at::kLength);
  if (!compact || length < 0) return {};
  if (ascii) return {unicode + at::kAscii, static_cast<size_t>(length)};
  std::string text;
  for (int64_t i = 0; i < length; ++i) {
    const char* character = unicode + at::kWide + static_cast<size_t>(i) * kind;
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
      : at_(bytes + at::kBytes), end_(at_ + Read<int64_t>(bytes, at::kLength)), line_(first) {}

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

}  // namespace

void Python::Find() {
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  if (version == nullptr || std::strncmp(version(), kVersion, std::strlen(kVersion)) != 0) return;
  this_thread_ =
      reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
}

size_t Python::Take(std::span<PythonFrame> out) const {
  const auto* thread = known() ? static_cast<const char*>(this_thread_()) : nullptr;
  const char* loop = thread != nullptr ? Pointer(thread, at::kThreadFrame) : nullptr;
  size_t count = 0;
  for (const char* frame = loop != nullptr ? Pointer(loop, at::kCurrent) : nullptr;
       frame != nullptr && count < out.size(); frame = Pointer(frame, at::kPrevious)) {
    const char* code = Pointer(frame, at::kCode);
    const ptrdiff_t offset = Pointer(frame, at::kInstruction) - (code + at::kUnits);
    const uint32_t unit = offset < 0 ? 0 : static_cast<uint32_t>(offset) / kUnitBytes;
    out[count++] = {code, unit, Read<bool>(frame, at::kIsEntry)};
  }
  return count;
}

PythonPlace Python::PlaceOf(const PythonFrame& frame) {
  LineTable lines(Pointer(frame.code, at::kLines), Read<uint32_t>(frame.code, at::kFirstLine));
  return {Text(Pointer(frame.code, at::kQualifiedName)), Text(Pointer(frame.code, at::kFile)),
          lines.LineOf(frame.unit)};
}

}  // namespace graphkit
