// The allocator's settings in a PyTorch memory snapshot ("allocator_settings", since 2.3: PyTorch
// #119404). Keys that aren't known, and values of another type, are passed over.
#pragma once

#include "libgraphkit/io/pickle/pickle.h"
#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {

TorchSettings TorchSettingsOf(const PickleValue& dict);

}  // namespace graphkit
