#include "sim/commands/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble::sim {

void write_output(const std::string& where, std::string_view content) {
    if (where != "-") return write_file(where, content);
    std::fwrite(content.data(), 1, content.size(), stdout);
    flush_standard_output();
}

void flush_standard_output() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    throw WorldError(fmt::format("standard output cannot be written: {}", std::strerror(errno)));
}

}  // namespace debubble::sim
