#pragma once

#include <string>
#include <string_view>

#include "models/network/architecture.h"

/// What networks have that is planned alone, in words.
namespace debubble::models {

/// The first part of the network that is planned and that nothing executes and no job of another
/// framework says, in words; empty if there is none.
std::string_view planned_part(const Architecture& network);

/// What several residual streams, and choices of keys that layers share, do to a pipeline, as a
/// sentence without its full stop; empty if the network has none.
std::string stream_words(const Architecture& network);
std::string choice_words(const Architecture& network);
/// Where the network's vision tower stands and what it sees; empty if it has none.
std::string tower_words(const Architecture& network);

}  // namespace debubble::models
