#pragma once

#include <span>
#include <string>
#include <string_view>

#include "text/key.h"

/// Manual pages, as troff reads them (man(7)).
namespace debubble::sim {

/// The text of a verb's help, as `--help` prints it, under a title.
std::string verb_man_page(std::string_view verb, std::string_view summary, std::string_view help,
                          std::string_view version);

/// debubble-scenario(5): every key.
std::string keys_man_page(std::span<const text::Key> keys, std::string_view version);

}  // namespace debubble::sim
