#pragma once

#include <string>

#include "models/architecture.h"

namespace debubble::models {

/// The architecture as a JSON object, every field said, that read_own_architecture reads
/// back as an equal one.
std::string architecture_json(const Architecture& architecture);

}  // namespace debubble::models
