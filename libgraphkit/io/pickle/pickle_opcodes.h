// The pickle opcodes by name, as in CPython's pickletools, protocols 0 to 5.
#pragma once

#include <array>
#include <cstdint>

namespace graphkit {

enum class PickleOp : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinFloat = 'G',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kAppend = 'a',
  kAppends = 'e',
  kList = 'l',
  kEmptyList = ']',
  kTuple = 't',
  kEmptyTuple = ')',
  kDict = 'd',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
};

struct PickleOpName {
  uint8_t op;
  const char* name;
};

// Opcodes that name or run code, or need what isn't in the file.
inline constexpr std::array<PickleOpName, 19> kPickleCodeOps = {{
    {'c', "GLOBAL"},
    {0x93, "STACK_GLOBAL"},
    {'R', "REDUCE"},
    {'b', "BUILD"},
    {'i', "INST"},
    {'o', "OBJ"},
    {0x81, "NEWOBJ"},
    {0x92, "NEWOBJ_EX"},
    {'P', "PERSID"},
    {'Q', "BINPERSID"},
    {0x82, "EXT1"},
    {0x83, "EXT2"},
    {0x84, "EXT4"},
    {0x97, "NEXT_BUFFER"},
    {0x98, "READONLY_BUFFER"},
    {'I', "INT (protocol 0)"},
    {'L', "LONG (protocol 0)"},
    {'V', "UNICODE (protocol 0)"},
    {'S', "STRING (protocol 0)"},
}};

}  // namespace graphkit
