#pragma once

#include <string>
#include <vector>

namespace debubble::jobs {

/// A job as a scenario.
struct Imported {
    std::string format;              ///< one of job_formats()
    std::string text;                ///< the scenario's YAML, with comments that say whence
    std::vector<std::string> notes;  ///< what the scenario does not say, the most harmful first
    int silent = 0;                  ///< settings that change no plan
};

}  // namespace debubble::jobs
