#pragma once

#include <span>
#include <string>
#include <string_view>

/// One name for the user, as with git: verbs that need a window, MPI or CUDA are in programs of
/// their own in the same folder, so that this program links none of these.
namespace debubble::sim {

struct SiblingVerb {
    std::string_view name;
    std::string_view program;
    std::string_view summary;
};

std::span<const SiblingVerb> sibling_verbs();
const SiblingVerb* find_sibling_verb(std::string_view name);

/// The verb that writes checkpoints; this program's `export` hands them to it.
const SiblingVerb& checkpoint_exporter();

/// The output of `VERB --help`; empty if the program was not built.
std::string help_of(const SiblingVerb& verb);

/// Replaces this process by the program, with the same arguments. Does not return; throws
/// WorldError if the program was not built or cannot be started.
[[noreturn]] void become_sibling(const SiblingVerb& verb, char** argv);

}  // namespace debubble::sim
