#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/plan/scenario.h"

/// A plan as keys and words, so that two plans can be compared key by key. Private to the folder
/// and its tests.
namespace debubble::jobs {

/// The keys of a scenario that say what is planned, settled: defaults and what follows from others
/// too. Keys that only a run reads (data, learning rate, seeds, checkpoints) is not among them, and
/// of the framework's profile only what jobs can say.
std::map<std::string, std::string> plan_keys(const scenarios::Scenario& scenario);

/// Words of values, as scenarios spell them.
std::string_view word_of(models::DataType type);
std::string_view word_of(models::LossKernel loss);
std::string_view word_of(models::Dispatcher dispatcher);
std::string_view word_of(models::ContextCommunication communication);
std::string precision_text(const scenarios::Precision& precision);
std::vector<std::string> graph_words(const scenarios::CudaGraphs& graphs);

/// The layers of every stage, by the scenario's partition; empty if a stage also has a layer of
/// multi-token prediction or the partition cannot be made.
std::vector<int> layers_of_stages(const scenarios::Scenario& scenario);
/// True if all stages have equally many layers.
bool is_even(const std::vector<int>& layers);

}  // namespace debubble::jobs
