#pragma once

#include <map>
#include <string>
#include <vector>

#include "exec/rank/rank_job.h"
#include "schedule/validate.h"

/// Small networks trained for a few steps by whole jobs, whose every number can be compared
/// with the same training on one rank.
namespace debubble::exec::parity {

struct Case {
    std::string name;  ///< of the test
    std::string model = "gpt2";
    std::string schedule = "1f1b";  ///< a name or an inline map
    std::string parallel = "{}";
    int micro_batches = 4;  ///< of the whole job: every layout sees the same samples
    int seq_length = 8;     ///< of a ViT: its five patches and class token
    std::string optimizer = "{name: sgd, lr: 0.1}";
    std::string training = {};  ///< more keys, a line each
    Transport transport = Transport::Buffered;
    friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

using GlobalTensors = std::map<std::string, std::vector<float>>;  ///< by canonical name

struct Result {
    std::vector<double> losses;  ///< mean of each step, before its update
    double evaluated = 0;        ///< mean loss of the last step's samples after it, without dropout
    std::vector<double> norms;   ///< of the gradient
    GlobalTensors gradients;     ///< of the first step
    GlobalTensors weights;       ///< after the last one
    std::vector<StepRecord> records;  ///< of the last step, by global rank
    scenarios::Plan plan;
    std::vector<MemoryByClass> static_memory;  ///< held between steps, by global rank
};

scenarios::Scenario scenario_of(const Case& c);
Result train(const Case& c, int steps);

}  // namespace debubble::exec::parity
