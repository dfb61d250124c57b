#include "libgraphkit/analysis/launches/launch_order.h"

#include <algorithm>

namespace graphkit {
namespace {

constexpr uint32_t kNoRow = 0xffffffffu;

}  // namespace

LaunchOrder::LaunchOrder(const Trace& trace) : LaunchOrder(trace, false) {
  if (trace.threads.size() > 1) by_threads_.reset(new LaunchOrder(trace, true));
}

LaunchOrder::LaunchOrder(const Trace& trace, bool by_threads)
    : trace_(trace),
      streams_(trace.streams.size(), Clock(trace.streams.size())),
      stream_row_(trace.streams.size(), kNoRow),
      events_(trace.events.size()),
      hosts_(by_threads ? 1 : trace.threads.size() + 1, Clock(trace.streams.size())) {
  size_t op = 0;
  const auto place_at = [&](const auto& submitted) {
    for (; op < trace.stream_ops.size() && trace.stream_ops[op].seq < submitted.seq; ++op) {
      Apply(trace.stream_ops[op]);
    }
    return PlaceOn(submitted.stream, submitted.thread);
  };
  for (const Launch& launch : trace.launches) {
    for (size_t i = works_.size(); i < trace.works.size() && trace.works[i].seq < launch.seq; ++i) {
      works_.push_back(place_at(trace.works[i]));
    }
    launches_.push_back(place_at(launch));
  }
}

LaunchOrder::Clock& LaunchOrder::HostOf(ThreadId thread) {
  return hosts_[std::min(thread.index(), hosts_.size() - 1)];
}

void LaunchOrder::Absorb(Clock* into, const Clock& from) {
  for (size_t i = 0; i < from.size(); ++i) (*into)[i] = std::max((*into)[i], from[i]);
}

// Work submitted to a stream comes after all that the thread has waited for; on the legacy stream,
// after all blocking streams; and on a blocking stream, after the legacy stream.
void LaunchOrder::Submit(uint32_t stream, ThreadId thread) {
  const Clock before = streams_[stream];
  Absorb(&streams_[stream], HostOf(thread));
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
      Submit(op.stream.value, op.thread);
      events_[op.event.index()] = streams_[op.stream.index()];
      return;
    case StreamOpKind::kEventWait:
      if (!has_stream || !has_event) return;
      Absorb(&streams_[op.stream.index()], events_[op.event.index()]);
      stream_row_[op.stream.index()] = kNoRow;
      return;
    case StreamOpKind::kStreamSync:
      if (has_stream) Absorb(&HostOf(op.thread), streams_[op.stream.index()]);
      return;
    case StreamOpKind::kEventSync:
      if (has_event) Absorb(&HostOf(op.thread), events_[op.event.index()]);
      return;
    case StreamOpKind::kDeviceSync:
      for (const Clock& stream : streams_) Absorb(&HostOf(op.thread), stream);
      return;
    default:
      return;
  }
}

// Of what is submitted to a stream here.
LaunchOrder::Place LaunchOrder::PlaceOn(StreamId id, ThreadId thread) {
  if (id.index() >= streams_.size()) return {};
  const uint32_t stream = id.value;
  Submit(stream, thread);
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
