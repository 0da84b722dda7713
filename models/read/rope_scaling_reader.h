#pragma once

#include <optional>
#include <string_view>

#include "models/network/layer.h"
#include "text/key.h"
#include "text/mapping_reader.h"

namespace debubble::models {

/// Reads the map of `key`, if there is one, and complains about factors that do not fit its kind.
void read_rope_scaling(text::MappingReader& in, std::string_view key,
                       std::optional<RopeScaling>& scaling);
/// The map's form for descriptions.
text::Form rope_scaling_form();

/// The least and the most factor of an angle, and of a longer text.
inline constexpr double kLeastRopeFactor = 1e-6;
inline constexpr double kMostRopeFactor = 1e6;

}  // namespace debubble::models
