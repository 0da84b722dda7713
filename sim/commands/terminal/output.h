#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace debubble::sim {

/// Writes a result: to standard output if `where` is "-", else to a file, which is then either
/// written whole or left untouched. Throws WorldError.
void write_output(const std::string& where, std::string_view content);

/// True if the stream is a terminal, and NO_COLOR is not set.
bool is_terminal(std::FILE* stream);

/// Throws WorldError if the printed text was not written (a full disk).
void flush_standard_output();

}  // namespace debubble::sim
