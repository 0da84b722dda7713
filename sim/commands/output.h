#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace debubble::sim {

/// Where a result goes: "-" is standard output, anything else a file, which is
/// then either written whole or not touched. Throws WorldError.
void write_output(const std::string& where, std::string_view content);

/// Does a person look at it, one who has not set NO_COLOR?
bool is_terminal(std::FILE* stream);

/// Throws WorldError if what was printed did not arrive (a full disk).
void flush_standard_output();

}  // namespace debubble::sim
