#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/read/read_scenario.h"

/// Whole scenarios drawn at random, over all that is shipped: what properties of predictions are
/// tried on. Every one is consistent, and no test takes the first that comes to mind.
namespace debubble::sim {

/// What a property needs of its scenarios. Everything else is drawn.
struct RandomWish {
    bool experts = false;           ///< the model has experts, which several ranks share
    bool pipeline = false;          ///< at least two stages
    bool orders_are_fixed = false;  ///< the schedule's order depends on no costs
};

/// A scenario that was read without a mistake, and the text that it was read from: one line of
/// JSON, which `debubble simulate` takes as a file.
struct RandomScenario {
    std::uint64_t seed = 0;
    std::string text;
    scenarios::Scenario scenario;

    /// The same with these keys set; unset where such a scenario is refused.
    std::optional<scenarios::Scenario> with(const std::vector<scenarios::Override>& keys) const;
};

/// The scenario of a seed. Precondition of the wish: none, every combination has scenarios.
RandomScenario random_scenario(std::uint64_t seed, const RandomWish& wish = {});

/// How many scenarios a property is tried on: 300, or what the environment variable
/// DEBUBBLE_RANDOM_SCENARIOS says (`./dev check-all` asks for 3000).
int number_of_random_scenarios();

/// Calls `property` for the scenarios of the seeds from 0 on, each within a trace that says its
/// text, so that a failure can be repeated on the command line. Scenarios that are consistent and
/// yet have no plan (scenarios::make_plan throws) are passed over; returns how many had one.
int for_random_scenarios(const std::function<void(const RandomScenario&)>& property,
                         const RandomWish& wish = {}, int scenarios = number_of_random_scenarios());

}  // namespace debubble::sim
