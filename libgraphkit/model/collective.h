// Work of several processes or devices together: communicators, and the operations on them that a
// node or a work holds, as NCCL's ncclAllReduce.
#pragma once

#include <cstdint>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

// A communicator as this process has it.
struct Communicator {
  uint64_t key = 0;  // the same in the traces of all its ranks; 0: not known
  uint32_t ranks = 0;
  uint32_t rank = 0;  // this process's, or this device's
  Seq created = 0;
  Seq destroyed = kNever;  // ncclCommDestroy, ncclCommAbort
  bool operator==(const Communicator&) const = default;
};

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kSend,
  kReceive,
};

// True for messages from one rank to another, which then wait for each other alone.
constexpr bool IsMessage(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive;
}

// Of the elements that are exchanged; in the order of ncclDataType_t. kByte: the type isn't known,
// and the count is one of bytes.
enum class ElementType : uint8_t {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFp16,
  kFp32,
  kFp64,
  kBf16,
  kFp8E4M3,
  kFp8E5M2,
  kByte,
};

// One operation of a node or a work; a group of calls has several.
struct Collective {
  Seq seq = 0;  // of the node or the work
  CommunicatorId communicator;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  ElementType type = ElementType::kInt8;
  uint64_t count = 0;  // elements, as the call has it: of all_gather what each rank sends
  int32_t peer = -1;   // the root, or the other end of send and receive; -1: none
  bool operator==(const Collective&) const = default;
};

}  // namespace graphkit
