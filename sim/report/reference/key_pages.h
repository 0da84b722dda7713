#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/key.h"

/// The reference of a scenario's keys: for the terminal, as a page, as JSON Schema and as manual
/// pages.
namespace debubble::sim {

/// Meaning, value, default and example of one key, and its subkeys, one per line.
std::string key_text(const text::KeyAt& at);

/// The keys alone, one per line; `prefix` is written before their names.
std::string key_list(std::span<const text::Key> keys, const std::string& prefix);

/// The page docs/reference/keys.md: a table for every map.
std::string key_page(std::span<const text::Key> keys);

/// The documents that have a schema: "scenario", "cluster", "framework", "model".
std::vector<std::string> schema_names();

/// Precondition: `name` is one of schema_names(). `keys` are those of a scenario.
std::string key_schema(std::string_view name, std::span<const text::Key> keys);

/// The text of a verb's help, as `--help` prints it, under a title.
std::string verb_man_page(std::string_view verb, std::string_view summary, std::string_view help,
                          std::string_view version);

/// debubble-scenario(5): every key.
std::string keys_man_page(std::span<const text::Key> keys, std::string_view version);

}  // namespace debubble::sim
