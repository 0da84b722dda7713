#pragma once

#include <vector>

#include "tests/exec/support/parity/parity_job.h"

/// The trainings that are run in every layout.
namespace debubble::exec::parity {

/// A layout `parallel` of the training of `model`; `training`: more keys of it.
Case layout(std::string name, std::string parallel, std::string schedule = "1f1b",
            std::string model = "gpt2", std::string training = {});

/// Every generator, on 2 and 4 ranks, with p, 2p and 2p + 1 microbatches where it can.
std::vector<Case> generator_cases();

/// Every kind of parallelism and their combinations, on 2 to 8 ranks.
std::vector<Case> layout_cases();
/// Layouts of networks whose attention has gates, or scores that fall with the distance.
std::vector<Case> attention_cases();
/// Layouts of networks that predict several tokens.
std::vector<Case> prediction_cases();
/// Parts of layers that the backward computes again, or whose activations travel.
std::vector<Case> module_cases();
/// Layouts whose ranks share experts, or cut them.
std::vector<Case> expert_cases();

}  // namespace debubble::exec::parity
