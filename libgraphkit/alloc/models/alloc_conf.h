// PYTORCH_ALLOC_CONF, as people write it.
#pragma once

#include <string_view>

#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/result.h"

namespace graphkit {

// `base` with the settings of `conf`: "expandable_segments:True,max_split_size_mb:128". A name
// alone switches it on. Known are expandable_segments, max_split_size_mb, roundup_power2_divisions
// (a number, or [256:1,512:2,>:8]), garbage_collection_threshold and large_segment_size_mb; any
// other, and a value that isn't one, is an error that names it.
Result<CachingConfig> WithAllocConf(CachingConfig base, std::string_view conf);

}  // namespace graphkit
