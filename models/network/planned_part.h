#pragma once

#include <string>
#include <string_view>

#include "models/network/architecture.h"

/// Names of parts of networks that are only simulated.
namespace debubble::models {

/// The first part of the network that is only simulated, neither executed nor written in jobs of
/// other frameworks, in words; empty if there is none.
std::string_view planned_part(const Architecture& network);

/// The effect of several residual streams and of shared key selections on a pipeline, as a sentence
/// without a full stop; empty if the network has none.
std::string stream_words(const Architecture& network);
std::string choice_words(const Architecture& network);
/// Where the network's vision tower stands and what it sees; empty if it has none.
std::string tower_words(const Architecture& network);

}  // namespace debubble::models
