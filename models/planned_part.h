#pragma once

#include <string_view>

#include "models/architecture.h"

namespace debubble::models {

/// The first part of the network that is planned and that nothing executes and no job of another
/// framework says, in words; empty if there is none.
std::string_view planned_part(const Architecture& network);

}  // namespace debubble::models
