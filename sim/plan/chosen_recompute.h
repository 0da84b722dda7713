#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace debubble::sim {

/// Told after each choice of `training.recompute: auto` how many of all are done; from any thread,
/// one call at a time.
using ChoicesDone = std::function<void(std::size_t done, std::size_t all)>;

/// The words "recompute auto: 312 of 2481 choices".
std::string choices_words(std::size_t done, std::size_t all);

/// What `training.recompute: auto` comes to.
struct ChosenRecompute {
    /// As it is written: "{modules: [moe_act], layers: 3, method: block}", and where offload is
    /// chosen too, "none; offload {modules: [core_attn]}".
    std::string words;
    std::size_t choices = 0;  ///< scenarios::recompute_choices()
    std::size_t played = 0;   ///< the others cannot have a step as short as the chosen one
    std::size_t fitting = 0;  ///< of those that were played
};

}  // namespace debubble::sim
