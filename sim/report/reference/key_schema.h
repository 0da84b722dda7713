#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/key.h"

/// JSON Schemas (draft 2020-12) of the files that a person writes, for editors.
namespace debubble::sim {

/// The documents that have a schema: "scenario", "cluster", "framework", "model".
std::vector<std::string> schema_names();

/// Precondition: `name` is one of schema_names(). `keys` are those of a scenario.
std::string key_schema(std::string_view name, std::span<const text::Key> keys);

}  // namespace debubble::sim
