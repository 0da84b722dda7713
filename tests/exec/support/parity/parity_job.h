#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "exec/core/rank/rank_job.h"
#include "schedule/validate.h"
#include "tests/exec/support/global_tensors.h"

/// Small networks trained for a few steps by whole jobs, whose every number can be compared
/// with the same training on one rank.
namespace debubble::exec::parity {

struct Case {
    std::string name;  ///< name of the test
    std::string model = "gpt2";
    std::string schedule = "1f1b";  ///< a name or an inline map
    std::string parallel = "{}";
    int micro_batches = 4;        ///< those of the whole job: every layout sees the same samples
    int micro_batch = 1;          ///< samples of each
    int seq_length = 8;           ///< for a ViT its five patches and class token
    int vocabulary_multiple = 8;  ///< one rank's is this
    std::string optimizer = "{name: sgd, lr: 0.1}";
    std::string training = {};   ///< more keys, a line each
    std::string framework = {};  ///< more keys, each after a comma
    /// The schedule is a file that lists an OFFLOAD and a RELOAD for every microbatch that can.
    bool offloads = false;
    Transport transport = Transport::Buffered;  ///< transport of a local job
    std::chrono::seconds patience{60};          ///< patience of every wait
    /// For a rank, on its thread; without one the processor computes.
    std::unique_ptr<Device> (*device)(int rank, int ranks) = nullptr;
    friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

Case offloaded(Case c);

/// A case as every rank of its job sees it.
struct Job {
    explicit Job(const Case& c);
    scenarios::Scenario scenario;
    scenarios::Plan plan;
    TrainingOptions options;
    int steps = 2;
    std::chrono::seconds patience;
    std::unique_ptr<Device> (*device)(int rank, int ranks) = nullptr;
};

/// The results of one rank. Elements of tensors that it does not hold are NaN.
struct RankResult {
    std::vector<double> loss_shares;    ///< they add up to the job's losses
    std::vector<double> router_shares;  ///< likewise, of what is added to the losses
    double evaluated_share = 0;         ///< likewise
    std::vector<double> norms;
    GlobalTensors gradients;
    GlobalTensors weights;
    StepRecord record;
    MemoryByClass static_memory{};
    ExpertLoad expert_load;                             ///< of the last step
    std::map<Stage, std::vector<ReceivedTokens>> rows;  ///< of the last step
};

struct Result {
    std::vector<double> losses;         ///< mean of each step, before its update
    std::vector<double> router_losses;  ///< what routers and multi-token prediction add to them
    double evaluated = 0;       ///< mean loss of the last step's samples after it, without dropout
    std::vector<double> norms;  ///< norms of the gradient
    GlobalTensors gradients;    ///< gradients of the first step
    GlobalTensors weights;      ///< after the last one
    std::vector<StepRecord> records;  ///< records of the last step, by global rank
    scenarios::Plan plan;
    std::vector<MemoryByClass> static_memory;  ///< held between steps, by global rank
    std::vector<ExpertLoad> expert_load;       ///< of the last step, by global rank
    std::vector<std::map<Stage, std::vector<ReceivedTokens>>> rows;  ///< likewise
    ClockError clock_error;  ///< error of the records' clock
};

scenarios::Scenario scenario_of(const Case& c);

/// One step of the job on a rank of it.
StepRecord train_step(RankJob& rank, const Job& job, int step);

/// The number of targets in the job's step that count.
std::int64_t counted_targets(const Job& job, int step);

/// The part of the rank whose end of the job `world` is.
RankResult train_on(Communicator& world, const Job& job);

/// Joins the results of all ranks, in their order. An element that no rank holds is NaN; one that
/// two hold with different bits is infinite.
Result join(const Job& job, std::vector<RankResult> ranks);

/// By ranks that are threads of this process.
Result train(const Case& c, int steps);

}  // namespace debubble::exec::parity
