#pragma once

#include "models/network/architecture.h"
#include "scenarios/jobs/read/reading.h"

/// torchtitan's configuration, by its dotted names ("parallelism.tensor_parallel_degree"). Private
/// to the folder.
namespace debubble::jobs {

void read_torchtitan(Reading& job);

/// Adds what a configuration that is named (`--config llama3_70b`) sets, below the job's flags.
/// Returns whether one is named.
bool add_titan_configuration(Reading& job);

/// The parts of read_torchtitan().
struct TitanCut {
    std::int64_t tensor = 1;
    std::int64_t pipeline = 1;
    std::int64_t context = 1;
    std::optional<std::int64_t> data = {};  ///< replicas, if they are known
    std::int64_t layers = 0;
    bool shards = false;
};
std::int64_t read_titan_model(Reading& job);  ///< returns the layers; 0 if they are not known
void read_titan_schedule(Reading& job, const TitanCut& cut);

/// torchtitan's name of a network; empty if it is none that is known here.
struct TitanFlavor {
    std::string model;
    std::string flavor;
};
TitanFlavor titan_flavor_of(const models::Architecture& model);

/// Layers of every stage where embedding and head count as `first` and `last` layers, and the
/// first stages take what does not divide (torchtitan's generate_llm_fqn_per_model_part). Empty if
/// a stage would have less than nothing.
std::vector<std::int64_t> titan_partition(std::int64_t layers, std::int64_t stages,
                                          std::int64_t first, std::int64_t last);

}  // namespace debubble::jobs
