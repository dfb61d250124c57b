#include "libgraphkit/io/import/kineto_events.h"

#include <cstring>

#include <simdjson.h>

#include "libgraphkit/checked_number.h"

namespace graphkit {
namespace {

namespace ondemand = simdjson::ondemand;

// Numbers may be written as numbers or as strings.
uint64_t Natural(ondemand::value value) {
  uint64_t number = 0;
  int64_t integer = 0;
  double real = 0;
  if (value.get_uint64().get(number) == simdjson::SUCCESS) return number;
  if (value.get_int64().get(integer) == simdjson::SUCCESS) return 0;
  if (value.get_uint64_in_string().get(number) == simdjson::SUCCESS) return number;
  if (value.get_double().get(real) != simdjson::SUCCESS) return 0;
  return real >= 0 && real < 1e18 ? static_cast<uint64_t>(real) : 0;
}

void ReadDimensions(ondemand::value value, uint32_t out[3]) {
  ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return;
  size_t i = 0;
  for (auto item : array) {
    ondemand::value number;
    if (item.get(number) != simdjson::SUCCESS || i == 3) return;
    out[i++] = Saturate<uint32_t>(Natural(number));
  }
}

// Calls take(key, value) for each field; its error ends that.
simdjson::error_code ForEachField(ondemand::object object, auto take) {
  for (auto field : object) {
    std::string_view key;
    ondemand::value value;
    if (const auto error = field.unescaped_key().get(key)) return error;
    if (const auto error = field.value().get(value)) return error;
    if (const simdjson::error_code error = take(key, value)) return error;
  }
  return simdjson::SUCCESS;
}

void TakeText(ondemand::value value, std::string_view* out) {
  if (value.get_string().get(*out) != simdjson::SUCCESS) *out = {};
}
void TakeJson(ondemand::value value, std::string_view* out) {
  if (simdjson::to_json_string(value).get(*out) != simdjson::SUCCESS) *out = {};
}

simdjson::error_code TakeArguments(ondemand::object object, KinetoEvent* out) {
  return ForEachField(object, [out](std::string_view key, ondemand::value value) {
    if (key == "graph id") {
      out->graph = Natural(value);
    } else if (key == "graph node id") {
      out->node = Natural(value);
      out->has_node = true;
    } else if (key == "correlation") {
      out->correlation = Natural(value);
    } else if (key == "stream") {
      out->stream = Natural(value);
    } else if (key == "device") {
      out->device = Saturate<uint32_t>(Natural(value));
    } else if (key == "grid") {
      ReadDimensions(value, out->shape.grid);
    } else if (key == "block") {
      ReadDimensions(value, out->shape.block);
    } else if (key == "shared memory") {
      out->shape.shared_bytes = Saturate<uint32_t>(Natural(value));
    } else if (key == "kernel") {
      TakeText(value, &out->kernel);
    } else if (key == "Input Dims") {
      TakeJson(value, &out->dims);
    } else if (key == "Input type") {
      TakeJson(value, &out->types);
    } else if (key == "Collective name") {
      TakeText(value, &out->collective);
    }
    return simdjson::SUCCESS;
  });
}

simdjson::error_code TakeEvent(ondemand::object object, const char* text, KinetoEvent* out) {
  return ForEachField(object, [=](std::string_view key, ondemand::value value) {
    ondemand::object arguments;
    if (key == "cat") {
      TakeText(value, &out->category);
    } else if (key == "name") {
      TakeText(value, &out->name);
    } else if (key == "dur") {
      if (value.get_double().get(out->duration_us) != simdjson::SUCCESS) out->duration_us = 0;
    } else if (key == "ts") {
      if (value.get_double().get(out->begin_us) != simdjson::SUCCESS) out->begin_us = 0;
    } else if (key == "tid") {
      out->thread = Natural(value);
    } else if (key == "args" && value.get_object().get(arguments) == simdjson::SUCCESS) {
      out->args_at = static_cast<uint64_t>(value.raw_json_token().data() - text) + 1;
      return TakeArguments(arguments, out);
    }
    return simdjson::SUCCESS;
  });
}

Error NotKineto(std::string_view what, bool cut = false) {
  return {.message = "not a profile of PyTorch: " + std::string(what),
          .hint = "give the file that torch.profiler's export_chrome_trace wrote",
          .kind = cut ? Error::Kind::kIncomplete : Error::Kind::kInput};
}

// An event as it stands in the file, from offset `at` on.
struct EventText {
  std::string_view text;
  uint64_t at = 0;
};

// Cuts the array of events into its objects. Its buffer holds the object that isn't whole yet.
class EventScanner {
 public:
  explicit EventScanner(ByteSource& source) : source_(source) {}

  // The next event; empty: there is none. Bytes behind it may be read.
  Result<EventText> Next() {
    while (!done_) {
      if (const std::optional<size_t> end = Scan()) {
        const size_t begin = std::exchange(kept_, at_);
        return EventText{std::string_view(buffer_).substr(begin, *end - begin), base_ + begin};
      }
      if (done_) break;
      const Result<bool> more = Fill();
      if (!more) return more.error();
      if (!*more)
        return NotKineto(
            found_ ? "its array of events ends in the middle" : "it has no array of traceEvents",
            depth_ > 0);
    }
    if (!found_) return NotKineto("it has no array of traceEvents");
    return EventText{};
  }

 private:
  static constexpr size_t kChunk = size_t{1} << 20;

  Result<bool> Fill() {
    buffer_.resize(end_);
    buffer_.erase(0, kept_);
    base_ += kept_;
    at_ -= kept_;
    end_ = buffer_.size();
    kept_ = 0;
    buffer_.resize(end_ + kChunk + kReadPadding);
    const Result<size_t> got = source_.Read(std::span(buffer_.data() + end_, kChunk));
    if (!got) return got.error();
    end_ += *got;
    return *got > 0;
  }

  // From the quote at `at_` behind the string, or nothing when that isn't there yet.
  bool SkipString() {
    size_t quote = at_ + 1;
    while (true) {
      const void* found = std::memchr(buffer_.data() + quote, '"', end_ - quote);
      if (!found) return false;
      quote = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data());
      size_t slashes = 0;
      while (buffer_[quote - 1 - slashes] == '\\') ++slashes;
      if (slashes % 2 == 0) break;
      ++quote;
    }
    if (!found_ && depth_ == 1)
      named_ = std::string_view(buffer_).substr(at_ + 1, quote - at_ - 1) == "traceEvents";
    at_ = quote + 1;
    return true;
  }

  void Open(char bracket) {
    if (!found_ && bracket == '[' && (depth_ == 0 || (depth_ == 1 && named_))) {
      found_ = true;
      events_depth_ = depth_ + 1;
    } else if (found_ && depth_ == events_depth_) {
      kept_ = at_;
    }
    ++depth_;
  }

  // True: an event ends here.
  bool Close() {
    --depth_;
    if (found_ && depth_ == events_depth_) return true;
    done_ = depth_ == 0 || (found_ && depth_ < events_depth_);
    return false;
  }

  // Goes on to the end of an event.
  std::optional<size_t> Scan() {
    for (; at_ < end_; ++at_) {
      const char c = buffer_[at_];
      if (c == '"') {
        if (!SkipString()) return std::nullopt;
        --at_;
      } else if (c == '{' || c == '[') {
        Open(c);
      } else if (c == '}' || c == ']') {
        if (depth_ == 0) return std::nullopt;
        if (Close()) return ++at_;
        if (done_) return std::nullopt;
      } else if (c == ',' && depth_ == 1) {
        named_ = false;
      }
    }
    if (found_ && depth_ == events_depth_) kept_ = at_;
    return std::nullopt;
  }

  ByteSource& source_;
  std::string buffer_;
  size_t at_ = 0, end_ = 0;  // what is scanned, and filled
  size_t kept_ = 0;          // from here on the bytes are still needed
  uint64_t base_ = 0;        // of the buffer, in the file
  size_t depth_ = 0;
  size_t events_depth_ = 0;
  bool found_ = false;  // the array
  bool named_ = false;  // the last name was its
  bool done_ = false;
};

}  // namespace

Result<void> ForEachKinetoEvent(ByteSource& source, const TakeKinetoEvent& take) {
  EventScanner scanner(source);
  ondemand::parser parser;
  while (true) {
    const Result<EventText> event = scanner.Next();
    if (!event) return event.error();
    if (event->text.empty()) return {};
    ondemand::document document;
    ondemand::object object;
    const std::string_view text = event->text;
    simdjson::error_code error =
        parser.iterate(text.data(), text.size(), text.size() + kReadPadding).get(document);
    KinetoEvent read;
    if (!error) error = document.get_object().get(object);
    if (!error) error = TakeEvent(object, text.data(), &read);
    if (error) return NotKineto(simdjson::error_message(error));
    if (read.args_at != 0) read.args_at += event->at;
    take(read);
  }
}

}  // namespace graphkit
