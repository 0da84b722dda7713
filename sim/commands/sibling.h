#pragma once

#include <span>
#include <string_view>

/// One name for the user, like git: verbs that need a window, MPI or CUDA live
/// in programs of their own beside this one, so that this one links none of it.
namespace debubble::sim {

struct SiblingVerb {
    std::string_view name;
    std::string_view program;
    std::string_view summary;
};

std::span<const SiblingVerb> sibling_verbs();
const SiblingVerb* find_sibling_verb(std::string_view name);

/// Becomes the program, with the same arguments. Returns only by WorldError,
/// when the program was not built or cannot be started.
[[noreturn]] void become_sibling(const SiblingVerb& verb, char** argv);

}  // namespace debubble::sim
