#pragma once

#include <array>
#include <string>

namespace debubble {

/// What tells the running program from every other build of it, the same in each copy: up
/// to 40 hexadecimal digits, and zeros behind them. The linker's build id (the note
/// NT_GNU_BUILD_ID), or a hash of the program's file where it has none. Fixed in size, so that two
/// programs of different builds can still read each other's.
using BuildId = std::array<char, 64>;

const BuildId& build_id();

/// Its first digits, for sentences. Whoever sent it may have sent anything: what is no digit is
/// shown as a question mark.
std::string short_form(const BuildId& id);

}  // namespace debubble
