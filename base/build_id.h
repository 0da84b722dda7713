#pragma once

#include <array>
#include <string>

namespace debubble {

/// Identifies the running program among all its builds, the same in each copy: up to 40 hexadecimal
/// digits, followed by zeros. It is the linker's build id (the note NT_GNU_BUILD_ID), or a hash of
/// the program's file where the program has none. Its size is fixed, so that two programs of
/// different builds can still read each other's.
using BuildId = std::array<char, 64>;

const BuildId& build_id();

/// The first digits of `id`, for sentences. The id may come from another process and hold anything:
/// every character that is not a digit is shown as a question mark.
std::string short_form(const BuildId& id);

}  // namespace debubble
