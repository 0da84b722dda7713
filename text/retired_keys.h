#pragma once

#include <string_view>

/// Keys of earlier releases that have been removed, with their replacements.
namespace debubble::text {

/// The replacement of a removed key of the map with this name, as a sentence; empty for unknown
/// keys.
std::string_view instead_of_retired(std::string_view map, std::string_view key);

}  // namespace debubble::text
