#include "libgraphkit/io/import/torch/torch_settings.h"

#include <charconv>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/import/torch/torch_keys.h"

namespace graphkit {

TorchSettings TorchSettingsOf(const PickleValue& dict) {
  TorchSettings settings;
  settings.known = true;
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    const PickleValue* conf = dict.find(name);
    if (conf && conf->is(PickleType::kString) && conf->length) settings.conf = conf->text();
  }
  const PickleValue* split = dict.find("max_split_size");
  if (split && split->is(PickleType::kInt)) settings.max_split_size = split->integer;
  const PickleValue* gc = dict.find("garbage_collection_threshold");
  if (gc && gc->is(PickleType::kFloat)) settings.garbage_collection_threshold = gc->real;
  settings.expandable_segments = Truth(dict.find("expandable_segments"));
  settings.graph_capture_record_stream_reuse =
      Truth(dict.find("graph_capture_record_stream_reuse"));
  const PickleValue* steps = dict.find("roundup_power2_divisions");
  if (!steps || !steps->is(PickleType::kDict)) return settings;
  for (size_t i = 0; i + 1 < steps->items().size(); i += 2) {
    const PickleValue& name = steps->items()[i];
    uint64_t megabytes = 0;
    uint64_t divisions = 0;
    if (!name.is(PickleType::kString) || !Natural(steps->items()[i + 1], &divisions)) continue;
    std::from_chars(name.chars, name.chars + name.length, megabytes);
    settings.roundup_power2_divisions.emplace_back(megabytes, Saturate<uint32_t>(divisions));
  }
  return settings;
}

}  // namespace graphkit
