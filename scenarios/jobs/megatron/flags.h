#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "scenarios/jobs/read/reading.h"

/// Every flag of Megatron-LM at d98e8a64dd and every field of its TransformerConfig, by what
/// becomes of it in a plan; those of launchers, of Megatron-Bridge, Primus and slime as well. Names
/// have underscores and no leading dashes. Private to the folder.
namespace debubble::jobs {

enum class FlagFate : std::uint8_t {
    Planned,    ///< a reader asks for it
    Harmless,   ///< it changes no plan, for the group's reason
    Noted,      ///< it changes times or memory, which the plan does not have
    NotedOnly,  ///< it costs next to nothing, and is worth a word
    Refused,    ///< it makes another network or another step
};

/// Flags with the same fate for the same reason: a sentence for those who read the list where they
/// are harmless, the end of a message otherwise.
struct FlagGroup {
    FlagFate fate;
    std::string_view reason;
    std::string_view names;  ///< separated by a blank
};

std::span<const FlagGroup> planned_flags();
std::span<const FlagGroup> harmless_flags();
std::span<const FlagGroup> noted_flags();
std::span<const FlagGroup> refused_flags();

struct FlagFact {
    FlagFate fate = FlagFate::Harmless;
    std::string_view reason;
};

/// Nothing for a flag that nobody knows.
std::optional<FlagFact> flag_fact(std::string_view name);

/// True if the value is the framework's own, so that a note would say nothing.
bool is_default_of_flag(std::string_view name, std::string_view value);

/// The part of an unknown flag's name, between underscores, that speaks of a network's layers:
/// "attention" of "use_gated_attention". Empty if there is none.
std::string_view network_word_in(std::string_view name);

// Flags that slime adds to Megatron-LM's.

/// True for a job of slime's training: it has rollouts.
bool is_slime(Settings& in);

/// Counts, notes or refuses a flag of slime's own; false for one that is none.
bool sort_slime_flag(Reading& job, const Setting& setting);

}  // namespace debubble::jobs
