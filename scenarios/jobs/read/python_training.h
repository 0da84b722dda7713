#pragma once

#include "scenarios/jobs/read/reading.h"

/// Settings that jobs leave to the Python script that starts them: the model, the length of
/// samples, recomputation. Private to the folder.
namespace debubble::jobs {

struct PythonDegrees {
    std::int64_t data = 0;  ///< 0: not known
};

/// Asks for model, cluster and GPUs, with the pipeline that the command line may give.
PythonDegrees read_python_degrees(Reading& job, std::int64_t tensor, std::int64_t context);

/// Writes attention and recomputation, and asks for the length of samples.
void read_python_training(Reading& job);

}  // namespace debubble::jobs
