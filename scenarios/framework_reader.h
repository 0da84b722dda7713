#pragma once

#include "models/shelf.h"
#include "scenarios/framework.h"

namespace debubble::scenarios {

/// The value of a `framework:` key: the name of a shipped profile, a path, or a map
/// that overrides keys of another ({base: megatron-2024, loss: unfused}). Keys are
/// the fields of Framework. Nothing is promised of the result if it adds a mistake.
Framework read_framework(const models::NodePtr& value, models::Shelf& shelf,
                         models::Mistakes& mistakes);

}  // namespace debubble::scenarios
