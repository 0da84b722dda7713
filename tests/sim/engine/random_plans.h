#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/read/read_scenario.h"

/// Jobs drawn at random, and the same jobs with a little less to do: what properties of whole
/// predictions are tried on.
namespace debubble::sim {

/// SplitMix64: the same numbers whatever the library.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next();
    /// From 0 to `sides` - 1.
    int roll(int sides) { return static_cast<int>(next() % static_cast<std::uint64_t>(sides)); }
    bool chance(int percent) { return roll(100) < percent; }
    template <class T>
    const T& one_of(const std::vector<T>& values) {
        return values[static_cast<std::size_t>(roll(static_cast<int>(values.size())))];
    }

private:
    std::uint64_t state_;
};

/// A job as the numbers that its scenario is written of.
struct RandomJob {
    std::string model;
    bool experts = false;
    int layers_per_stage = 1;
    int seq_length = 1024;
    std::string cluster;
    int gpus = 8;
    int tensor = 1;
    int pipeline = 1;
    int context = 1;
    int expert = 1;
    int expert_tensor = 0;  ///< 0: as the scenario has it when it does not say
    int zero_stage = 0;
    bool wrap_stage = false;
    bool sequence = false;
    std::string schedule = "1f1b";
    int chunks = 1;
    int micro_batches = 8;
    int data = 1;
    std::string framework;
    std::string recompute;
    double network_gb_per_s = 0;  ///< of all cards of a node; 0: the cluster's own
    bool leaves = false;
    std::string csv;  ///< an order instead of the schedule
    std::string placement;
    bool nothing_hidden = false;  ///< of reductions and gathers between replicas

    double faster_products = 1;
    double faster_memory = 1;
    double wider_network = 1;
    double wider_node_link = 1;

    int layers() const { return layers_per_stage * chunks * pipeline; }
};

RandomJob random_job(Dice& dice);
scenarios::Scenario scenario_of(const RandomJob& job);
std::string to_text(const RandomJob& job);

/// A way of giving the job less to do, or better machines.
struct Easier {
    std::string_view what;
    RandomJob job;
};
std::vector<Easier> easier_jobs(const RandomJob& job);

/// Does the schedule look at costs, so that its order must be held?
bool searches_its_order(const RandomJob& job);

}  // namespace debubble::sim
