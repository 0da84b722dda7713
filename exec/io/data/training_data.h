#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/io/data/batches.h"
#include "scenarios/plan/scenario.h"

namespace debubble::exec {

/// The data that a scenario trains on, by its keys `training.data.*` and `training.seed`.
struct TrainingData {
    Batches train;
    std::optional<Batches> eval;  ///< `data.eval`, each sample once and in order
    std::int32_t ignore_index = -100;
    std::vector<std::string> classes = {};  ///< names of the classes of images, by target
};

/// Throws InputError if the scenario names no data of the kind that its model learns from.
void check_source(const scenarios::Scenario& scenario);

/// Opens the data, and tokenises it if that was never done. Throws InputError if a key is missing,
/// a file is bad, or the data does not fit the model.
TrainingData open_training_data(const scenarios::Scenario& scenario);

}  // namespace debubble::exec
