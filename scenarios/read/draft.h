#pragma once

#include <optional>

#include "models/partition/partition.h"
#include "scenarios/plan/scenario.h"
#include "text/fields.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"

/// A scenario while it is read: the values that were given, before they are known to agree. Private
/// to the folder: users see read_scenario.h.
namespace debubble::scenarios {

/// A limit far beyond any machine, and small enough that no product overflows.
inline constexpr int kMostGpus = 4'000'000;
inline constexpr int kMostRanks = 4096;
inline constexpr int kMostChunks = 1024;
inline constexpr int kMostSamples = 100'000'000;
inline constexpr int kMostMicroBatches = 1'000'000;
inline constexpr std::int64_t kLongestSequence = 100'000'000;
inline constexpr std::int64_t kMostSteps = 1'000'000'000'000;
inline constexpr double kHuge = 1e18;

struct Draft {
    Draft(const text::NodePtr& root, text::ShippedFiles& shipped, text::Mistakes& mistakes);

    Scenario scenario;
    std::optional<int> gpus;
    std::optional<int> nodes;
    std::optional<int> data;  ///< unset for `auto`
    std::optional<int> expert_tensor;
    std::optional<int> stages_per_rank;  ///< the value given under `parallel`
    std::optional<int> stages_per_rank_of_schedule;
    std::optional<int> global_batch;
    std::optional<int> micro_batch;
    std::optional<int> micro_batches;
    std::optional<std::int64_t> seq_length;
    std::optional<bool> overlap_communication;
    std::optional<int> bucket_mb;            ///< bucket size of gradients
    std::vector<models::StageUnits> layout;  ///< of parallel.layout, if it is given

    text::ShippedFiles* shipped;
    text::MappingReader top;
    text::MappingReader parallel;
    text::MappingReader training;

    text::Mistakes& mistakes() const { return top.mistakes(); }
};

/// The tables of the scenario's parts, and their descriptions; `fresh` is a draft of an empty map.
const text::Fields<Draft>& run_fields();
std::vector<text::Key> parallel_keys(Draft& fresh);
std::vector<text::Key> schedule_keys(Draft& fresh);
std::vector<text::Key> training_keys(Draft& fresh);

/// The rows of `training` for what the backward computes again, what is offloaded, routers and
/// adapters.
const text::Fields<Draft>& activation_fields();

/// The rows of `training` for the optimizer and its learning rate.
std::vector<text::Form> optimizer_forms();
std::vector<text::Form> lr_schedule_forms();
void read_optimizer(text::MappingReader& training, std::string_view key, Draft& draft);
/// Precondition: `steps` and the optimizer have been read.
void read_lr_schedule(text::MappingReader& training, std::string_view key, Draft& draft);

/// The key `published` of the scenario.
std::vector<text::Form> published_forms();
void read_published(text::MappingReader& scenario, std::string_view key, Draft& draft);

/// The key `imbalance` of the scenario.
std::vector<text::Form> imbalance_forms();
void read_imbalance(text::MappingReader& scenario, std::string_view key, Draft& draft);
/// Precondition: the schedule and the batch are settled.
void check_imbalance(Draft& draft);
/// Precondition: the same, and imbalance is right.
void check_packing(Draft& draft);

/// The keys `reliability`, `price` and `energy` of the scenario.
std::vector<text::Form> price_forms();
std::vector<text::Form> energy_forms();
/// Precondition: the cluster has been read, which may have its own.
void read_reliability(Draft& draft);
void read_price(text::MappingReader& scenario, std::string_view key, Draft& draft);
void read_energy(text::MappingReader& scenario, std::string_view key, Draft& draft);
/// Precondition: GPUs are settled, and shards are right.
void check_reliability(Draft& draft);

void read_parallel(Draft& draft);
void read_training(Draft& draft);
/// Precondition: parallel has been read, since a schedule may set stages_per_rank.
void read_schedule(Draft& draft);

/// Makes the numbers agree, or reports which do not. Preconditions: everything has been read
/// without a mistake; batches come after GPUs.
void settle_gpus(Draft& draft);
void settle_batches(Draft& draft);
/// Precondition: GPUs are settled.
void check_shards(Draft& draft);
void check_cuts(Draft& draft);
void check_schedule(Draft& draft);
void add_notes(Draft& draft);

}  // namespace debubble::scenarios
