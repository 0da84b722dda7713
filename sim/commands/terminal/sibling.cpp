#include "sim/commands/terminal/sibling.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::array kVerbs{
    SiblingVerb{"run", "debubble-exec", "train: execute a scenario on this machine's devices"},
    SiblingVerb{"data", "debubble-exec", "make small data to try a scenario with"},
    SiblingVerb{"calibrate", "debubble-exec", "measure this machine and write its cluster file"},
    SiblingVerb{"sample", "debubble-exec", "continue a text with a trained checkpoint"},
    SiblingVerb{"gui", "debubble-gui", "look at schedules, predictions and traces in a window"},
};

constexpr SiblingVerb kExporter{"export", "debubble-exec",
                                "write a checkpoint in Hugging Face layout"};

/// The program in this program's folder; empty if that folder is unknown.
fs::path path_of(const SiblingVerb& verb) {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : self.parent_path() / verb.program;
}

}  // namespace

std::span<const SiblingVerb> sibling_verbs() {
    return kVerbs;
}

const SiblingVerb* find_sibling_verb(std::string_view name) {
    const auto* verb = std::ranges::find(kVerbs, name, &SiblingVerb::name);
    return verb == kVerbs.end() ? nullptr : verb;
}

const SiblingVerb& checkpoint_exporter() {
    return kExporter;
}

std::string help_of(const SiblingVerb& verb) {
    std::error_code error;
    const fs::path program = path_of(verb);
    std::string help;
    if (!fs::exists(program, error)) return help;
    const std::string command =
        fmt::format("'{}' {} --help 2> /dev/null", program.string(), verb.name);
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return help;
    char buffer[4096];
    for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        help.append(buffer, got);
    ::pclose(pipe);
    return help;
}

void become_sibling(const SiblingVerb& verb, char** argv) {
    std::error_code error;
    const fs::path program = path_of(verb);
    if (!fs::exists(program, error))
        throw WorldError(
            fmt::format("'{}' needs the program {}, which is not in the folder of this one: it "
                        "was not built or not installed",
                        verb.name, verb.program));
    ::execv(program.c_str(), argv);
    throw WorldError(
        fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
}

}  // namespace debubble::sim
