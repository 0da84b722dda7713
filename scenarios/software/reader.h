#pragma once

#include <string>
#include <vector>

#include "scenarios/software/framework.h"
#include "text/key.h"
#include "text/shipped_files.h"

namespace debubble::scenarios {

/// The framework that the value of a `framework:` key describes: the name of a shipped profile, a
/// path, or a map that overrides keys of another ({base: megatron-2024, loss: unfused}). Keys are
/// the fields of Framework. If it adds a mistake, the result has no meaning.
Framework read_framework(const text::NodePtr& value, text::ShippedFiles& shipped,
                         text::Mistakes& mistakes);

/// A profile of scenarios/frameworks/ by its name. Throws InputError if it cannot be read.
Framework shipped_framework(const std::string& name);

/// The description of a framework's keys.
std::vector<text::Key> framework_keys();

}  // namespace debubble::scenarios
