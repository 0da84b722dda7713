#pragma once

#include <string>
#include <vector>

#include "exec/program/run/run_job.h"

namespace debubble::exec {

/// A text such as "124 samples with the fingerprint 2b6f...". Reads some of the data.
std::string data_in_words(const Batches& batches);

/// Sentences about changes of a resumed run against the one before that may not be meant: a
/// learning rate that ends elsewhere, and other data. None if the run is not resumed, or the
/// checkpoint does not state the old values.
std::vector<std::string> notes_on_changes(const RunJob& job);

}  // namespace debubble::exec
