#pragma once

#include <span>
#include <string>

#include "text/key.h"

/// The reference of a scenario's keys, for the terminal and as a page.
namespace debubble::sim {

/// Meaning, value, default and example of one key, and its subkeys, one per line.
std::string key_text(const text::KeyAt& at);

/// The keys alone, one per line; `prefix` is written before their names.
std::string key_list(std::span<const text::Key> keys, const std::string& prefix);

/// The page docs/reference/keys.md: a table for every map.
std::string key_page(std::span<const text::Key> keys);

}  // namespace debubble::sim
