#include "sim/commands/sibling.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::sim {
namespace {

constexpr std::array kVerbs{
    SiblingVerb{"run", "debubble-exec", "train: execute a scenario on this machine's devices"},
    SiblingVerb{"calibrate", "debubble-exec", "measure this machine and write its cluster file"},
    SiblingVerb{"sample", "debubble-exec", "continue a text with a trained checkpoint"},
    SiblingVerb{"export", "debubble-exec", "write a checkpoint in Hugging Face layout"},
    SiblingVerb{"gui", "debubble-gui", "look at schedules, predictions and traces in a window"},
};

}  // namespace

std::span<const SiblingVerb> sibling_verbs() {
    return kVerbs;
}

const SiblingVerb* find_sibling_verb(std::string_view name) {
    const auto* verb = std::ranges::find(kVerbs, name, &SiblingVerb::name);
    return verb == kVerbs.end() ? nullptr : verb;
}

void become_sibling(const SiblingVerb& verb, char** argv) {
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto program = self.parent_path() / verb.program;
    if (error || !std::filesystem::exists(program, error))
        throw WorldError(
            fmt::format("'{}' needs the program {}, which is not in the folder of this one: it "
                        "was not built or not installed",
                        verb.name, verb.program));
    ::execv(program.c_str(), argv);
    throw WorldError(
        fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
}

}  // namespace debubble::sim
