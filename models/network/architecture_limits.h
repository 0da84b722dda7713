#pragma once

#include <cstdint>

#include "models/network/architecture.h"
#include "text/mapping_reader.h"

/// The largest networks that are accepted, and the checks that hold for every source of an
/// architecture. The limits are far beyond any network built, and small enough that no product of
/// their sizes in the project exceeds 2^63.
namespace debubble::models {

inline constexpr int kMostLayers = 10'000;
inline constexpr std::int64_t kWidest = 1'000'000;
inline constexpr std::int64_t kMostHeads = 10'000;
inline constexpr std::int64_t kWidestMlp = 10'000'000;
inline constexpr std::int64_t kMostExperts = 4096;
inline constexpr std::int64_t kMostExpertsOfAll = 200'000;  ///< experts of all layers together
inline constexpr std::int64_t kLargestVocabulary = 10'000'000;
inline constexpr std::int64_t kMostPositions = 100'000'000;
inline constexpr double kMostParameters = 1e16;
inline constexpr double kLeastCap = 1e-3;  ///< of soft-caps and of what scores are divided by
inline constexpr double kMostCap = 1e6;
inline constexpr int kMostMtpLayers = 16;
inline constexpr std::int64_t kMostStreams = 64;
inline constexpr std::int64_t kLargestImage = 8192;  ///< pixels per side

/// The number of patches of the image, and one for the class token.
std::int64_t vit_positions(const Architecture& architecture);

/// Complains about a layer that cannot be, at the keys that say so.
void check_layer(const Layer& layer, text::MappingReader& map);

/// Checks that hold for every source of an architecture ("25 heads do not divide 1601"); each
/// mistake is reported at the key of `map` that it names first.
void check_architecture(const Architecture& architecture, text::MappingReader& map);

}  // namespace debubble::models
