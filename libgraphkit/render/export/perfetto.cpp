#include "libgraphkit/render/export/perfetto.h"

#include <algorithm>

#include "libgraphkit/render/export/protobuf_writer.h"

namespace graphkit {

namespace {

// Field numbers of perfetto's protos/perfetto/trace: trace.proto, trace_packet.proto,
// track_event/{track_descriptor,track_event,counter_descriptor,process_descriptor,
// debug_annotation}.proto.
namespace field {
constexpr uint32_t kTracePacket = 1;
constexpr uint32_t kPacketTimestamp = 8, kPacketSequence = 10, kPacketTrackEvent = 11,
                   kPacketSequenceFlags = 13, kPacketTrackDescriptor = 60;
constexpr uint32_t kTrackUuid = 1, kTrackName = 2, kTrackProcess = 3, kTrackParent = 5,
                   kTrackCounter = 8;
constexpr uint32_t kProcessPid = 1, kProcessName = 6;
constexpr uint32_t kCounterUnit = 3;
constexpr uint32_t kEventAnnotation = 4, kEventType = 9, kEventTrack = 11, kEventCategory = 22,
                   kEventName = 23, kEventCounterValue = 30, kEventFlow = 47,
                   kEventTerminatingFlow = 48;
constexpr uint32_t kAnnotationUint = 3, kAnnotationString = 6, kAnnotationName = 10;
}  // namespace field

constexpr uint64_t kSliceBegin = 1, kSliceEnd = 2, kCounterEvent = 4;  // TrackEvent.Type
constexpr uint64_t kUnitBytes = 3;                                     // UNIT_SIZE_BYTES
constexpr uint64_t kStateCleared = 1;  // SEQ_INCREMENTAL_STATE_CLEARED
constexpr uint64_t kSequence = 1;      // of the first timeline
constexpr uint64_t kProcessTrack = 1;  // uuids: the process, then tracks, then counters
constexpr int kRankBits = 32;          // ids of a timeline; above them, which one it is

class PerfettoWriter {
 public:
  PerfettoWriter(const Timeline& timeline, std::ostream& out, uint32_t rank)
      : timeline_(timeline), out_(out), rank_(rank) {}

  void Write() {
    DescribeTracks();
    for (const TimelineSlice& slice : timeline_.slices) WriteSlice(slice);
    for (size_t i = 0; i < timeline_.counters.size(); ++i) {
      for (const TimelineSample& sample : timeline_.counters[i].samples) {
        ProtobufWriter event;
        event.Varint(field::kEventType, kCounterEvent);
        event.Varint(field::kEventTrack, CounterUuid(i));
        event.Varint(field::kEventCounterValue, static_cast<uint64_t>(sample.bytes));
        WriteEvent(sample.time, event);
      }
    }
  }

 private:
  uint64_t ProcessUuid() const { return (rank_ << kRankBits) + kProcessTrack; }
  uint64_t TrackUuid(size_t track) const { return ProcessUuid() + 1 + track; }
  // Its edge's id, counted from 1: 0 is no flow.
  uint64_t Flow(EdgeId edge) const { return (rank_ << kRankBits) + edge.value + 1; }
  uint64_t CounterUuid(size_t counter) const {
    return TrackUuid(timeline_.tracks.size() + counter);
  }

  void WritePacket(ProtobufWriter& packet) {
    packet.Varint(field::kPacketSequence, kSequence + rank_);
    if (first_) packet.Varint(field::kPacketSequenceFlags, kStateCleared);
    first_ = false;
    ProtobufWriter trace;
    trace.Message(field::kTracePacket, packet);
    out_ << trace.bytes();
  }

  void WriteEvent(Nanoseconds time, const ProtobufWriter& event) {
    ProtobufWriter packet;
    packet.Varint(field::kPacketTimestamp, time);
    packet.Message(field::kPacketTrackEvent, event);
    WritePacket(packet);
  }

  void DescribeTracks() {
    ProtobufWriter process;
    process.Varint(field::kProcessPid, static_cast<uint64_t>(timeline_.pid));
    process.String(field::kProcessName, timeline_.process);
    ProtobufWriter track;
    track.Varint(field::kTrackUuid, ProcessUuid());
    track.Message(field::kTrackProcess, process);
    WriteDescriptor(track);
    for (size_t i = 0; i < timeline_.tracks.size(); ++i) {
      WriteDescriptor(NamedTrack(TrackUuid(i), timeline_.tracks[i]));
    }
    for (size_t i = 0; i < timeline_.counters.size(); ++i) {
      ProtobufWriter counter;
      counter.Varint(field::kCounterUnit, kUnitBytes);
      ProtobufWriter named = NamedTrack(CounterUuid(i), timeline_.counters[i].name);
      named.Message(field::kTrackCounter, counter);
      WriteDescriptor(named);
    }
  }

  ProtobufWriter NamedTrack(uint64_t uuid, const std::string& name) const {
    ProtobufWriter track;
    track.Varint(field::kTrackUuid, uuid);
    track.String(field::kTrackName, name);
    track.Varint(field::kTrackParent, ProcessUuid());
    return track;
  }

  void WriteDescriptor(const ProtobufWriter& track) {
    ProtobufWriter packet;
    packet.Message(field::kPacketTrackDescriptor, track);
    WritePacket(packet);
  }

  void WriteSlice(const TimelineSlice& slice) {
    ProtobufWriter begin;
    begin.Varint(field::kEventType, kSliceBegin);
    begin.Varint(field::kEventTrack, TrackUuid(slice.track));
    begin.String(field::kEventCategory, slice.category);
    begin.String(field::kEventName, slice.name);
    for (const TimelineArg& arg : slice.args) {
      ProtobufWriter annotation;
      annotation.String(field::kAnnotationName, arg.key);
      if (const auto* number = std::get_if<uint64_t>(&arg.value)) {
        annotation.Varint(field::kAnnotationUint, *number);
      } else {
        annotation.String(field::kAnnotationString, std::get<std::string>(arg.value));
      }
      begin.Message(field::kEventAnnotation, annotation);
    }
    for (const EdgeId edge : slice.out) begin.Fixed64(field::kEventFlow, Flow(edge));
    for (const EdgeId edge : slice.in) begin.Fixed64(field::kEventTerminatingFlow, Flow(edge));
    WriteEvent(slice.begin, begin);
    ProtobufWriter end;
    end.Varint(field::kEventType, kSliceEnd);
    end.Varint(field::kEventTrack, TrackUuid(slice.track));
    WriteEvent(slice.begin + slice.length, end);
  }

  const Timeline& timeline_;
  std::ostream& out_;
  uint64_t rank_ = 0;
  bool first_ = true;
};

}  // namespace

void RenderPerfetto(const Timeline& timeline, std::ostream& out, uint32_t rank) {
  PerfettoWriter(timeline, out, rank).Write();
}

}  // namespace graphkit
