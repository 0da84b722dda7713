#pragma once

#include <vector>

#include "text/key.h"

/// Every key of a scenario and of the files that it names, from the tables by which they are read.
namespace debubble::scenarios {

/// The keys of a scenario; those of clusters, frameworks and models lie under the keys that name
/// them, those of a run under `training`.
std::vector<text::Key> scenario_keys();

/// The same without the keys inside of models, clusters and frameworks, whose tables are long.
std::vector<text::Key> keys_of_plan();

}  // namespace debubble::scenarios
