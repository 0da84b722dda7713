#pragma once

#include <string_view>

/// The keys of earlier releases that are gone, and what says the same now.
namespace debubble::text {

/// What replaced a key of a map of that name, as a sentence; empty for a key that never was.
std::string_view instead_of_retired(std::string_view map, std::string_view key);

}  // namespace debubble::text
