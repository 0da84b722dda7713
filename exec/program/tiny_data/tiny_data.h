#pragma once

#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"

namespace debubble::exec {

/// Makes small data where a scenario looks for its own (`training.data`): text in a made-up
/// language and a tokenizer for it, token files or images, of the lengths, vocabulary and classes
/// of the scenario. Returns a sentence for each file or folder. Throws InputError, before anything
/// is written, if the scenario names no data, or data that is there already or lies outside the
/// folder where the program runs.
std::vector<std::string> make_tiny_data(const scenarios::Scenario& scenario);

}  // namespace debubble::exec
