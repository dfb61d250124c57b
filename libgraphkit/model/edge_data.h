// Since which driver, as cuDriverGetVersion, edges have data; before, each is a full dependency.
#pragma once

namespace graphkit {
inline constexpr int kEdgeDataSince = 12030;
}
