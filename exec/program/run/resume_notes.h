#pragma once

#include <string>
#include <vector>

#include "exec/program/run/run_job.h"

namespace debubble::exec {

/// "124 samples with the fingerprint 2b6f...". Reads some of the data.
std::string data_in_words(const Batches& batches);

/// What a resumed run does otherwise than the one before, and a person may not mean: sentences
/// about a learning rate that ends elsewhere and about other data. None if the run is not resumed,
/// or the checkpoint does not say what was.
std::vector<std::string> notes_on_changes(const RunJob& job);

}  // namespace debubble::exec
