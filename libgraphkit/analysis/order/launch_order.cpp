#include "libgraphkit/analysis/order/launch_order.h"

#include <algorithm>

namespace graphkit {
namespace {

constexpr uint32_t kNoRow = 0xffffffffu;

}  // namespace

LaunchOrder::LaunchOrder(const Trace& trace)
    : trace_(trace),
      streams_(trace.streams.size(), Clock(trace.streams.size())),
      stream_row_(trace.streams.size(), kNoRow),
      events_(trace.events.size()),
      host_(trace.streams.size()) {
  size_t op = 0;
  const auto place_at = [&](Seq seq, StreamId stream) {
    for (; op < trace.stream_ops.size() && trace.stream_ops[op].seq < seq; ++op) {
      Apply(trace.stream_ops[op]);
    }
    return PlaceOn(stream);
  };
  for (const Launch& launch : trace.launches) {
    for (size_t i = works_.size(); i < trace.works.size() && trace.works[i].seq < launch.seq; ++i) {
      works_.push_back(place_at(trace.works[i].seq, trace.works[i].stream));
    }
    launches_.push_back(place_at(launch.seq, launch.stream));
  }
}

void LaunchOrder::Absorb(Clock* into, const Clock& from) {
  for (size_t i = 0; i < from.size(); ++i) (*into)[i] = std::max((*into)[i], from[i]);
}

// What is submitted to a stream comes after what the host has waited for; on the legacy stream,
// after all blocking streams; and on a blocking stream, after the legacy stream.
void LaunchOrder::Submit(uint32_t stream) {
  const Clock before = streams_[stream];
  Absorb(&streams_[stream], host_);
  const Stream& own = trace_.streams[stream];
  for (uint32_t i = 0; i < streams_.size() && !own.non_blocking; ++i) {
    const Stream& other = trace_.streams[i];
    const bool legacy =
        own.kind == StreamKind::kLegacyDefault || other.kind == StreamKind::kLegacyDefault;
    if (i != stream && legacy && !other.non_blocking && other.device == own.device) {
      Absorb(&streams_[stream], streams_[i]);
    }
  }
  if (streams_[stream] != before) stream_row_[stream] = kNoRow;
}

void LaunchOrder::Apply(const StreamOp& op) {
  if (op.capturing) return;
  const bool has_stream = op.stream.index() < streams_.size();
  const bool has_event = op.event.index() < events_.size();
  switch (op.kind) {
    case StreamOpKind::kEventRecord:
      if (!has_stream || !has_event) return;
      Submit(op.stream.value);
      events_[op.event.index()] = streams_[op.stream.index()];
      return;
    case StreamOpKind::kEventWait:
      if (!has_stream || !has_event) return;
      Absorb(&streams_[op.stream.index()], events_[op.event.index()]);
      stream_row_[op.stream.index()] = kNoRow;
      return;
    case StreamOpKind::kStreamSync:
      if (has_stream) Absorb(&host_, streams_[op.stream.index()]);
      return;
    case StreamOpKind::kEventSync:
      if (has_event) Absorb(&host_, events_[op.event.index()]);
      return;
    case StreamOpKind::kDeviceSync:
      for (const Clock& stream : streams_) Absorb(&host_, stream);
      return;
    default:
      return;
  }
}

// Of what is submitted to a stream here.
LaunchOrder::Place LaunchOrder::PlaceOn(StreamId id) {
  if (id.index() >= streams_.size()) return {};
  const uint32_t stream = id.value;
  Submit(stream);
  if (stream_row_[stream] == kNoRow) {
    stream_row_[stream] = static_cast<uint32_t>(rows_.size());
    rows_.push_back(streams_[stream]);
  }
  const uint32_t seq = streams_[stream][stream]++;
  return {stream, seq, stream_row_[stream]};
}

bool LaunchOrder::Before(const Place& from, const Place& to) const {
  if (from.stream >= streams_.size() || to.stream >= streams_.size()) return true;
  if (from.stream == to.stream) return from.seq < to.seq;
  return rows_[to.row][from.stream] > from.seq;
}

}  // namespace graphkit
