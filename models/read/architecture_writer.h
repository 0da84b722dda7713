#pragma once

#include <string>

#include "models/network/architecture.h"

namespace debubble::models {

/// The architecture as a JSON object with every field, from which read_own_architecture reads an
/// equal one.
std::string architecture_json(const Architecture& architecture);

}  // namespace debubble::models
