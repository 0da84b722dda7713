#include "sim/commands/terminal/output.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble::sim {

void write_output(const std::string& where, std::string_view content) {
    if (where != "-") return write_file(where, content);
    std::fwrite(content.data(), 1, content.size(), stdout);
    flush_standard_output();
}

bool is_terminal(std::FILE* stream) {
    const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org
    return (no_color == nullptr || *no_color == '\0') && ::isatty(::fileno(stream)) != 0;
}

void flush_standard_output() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    throw WorldError(fmt::format("standard output cannot be written: {}", std::strerror(errno)));
}

}  // namespace debubble::sim
