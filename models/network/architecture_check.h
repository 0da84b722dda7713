#pragma once

#include "models/network/architecture.h"
#include "text/mapping_reader.h"

namespace debubble::models {

/// Complains about a layer that cannot be, at the keys that say so.
void check_layer(const Layer& layer, text::MappingReader& map);

/// Checks that hold for every source of an architecture ("25 heads do not divide 1601"); each
/// mistake is reported at the key of `map` that it names first.
void check_architecture(const Architecture& architecture, text::MappingReader& map);

}  // namespace debubble::models
