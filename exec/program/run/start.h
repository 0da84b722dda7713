#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "exec/core/training/rank_training.h"
#include "exec/io/checkpoint/checkpoint.h"
#include "exec/io/checkpoint/shared_pieces.h"
#include "exec/io/data/batches.h"

/// Where a run begins: random weights, somebody's weights, or where it stopped.
namespace debubble::exec {

/// Setting of a checkpoint that holds the words for the data that its run trained on.
inline constexpr const char* kDataOfRun = "data.fingerprint";

/// Opened once per process; its ranks read it at the same time.
struct Start {
    std::optional<Checkpoint> resume;    ///< its counters; its pieces are beside it
    std::optional<SharedPieces> pieces;  ///< of a resumed training all, else weights only
    std::vector<std::string> notes;      ///< what a person should know
    std::int64_t first_step() const { return resume ? resume->manifest.training.step : 0; }
};

/// `resume`: auto (the latest in the scenario's checkpoint folder, if there is one), never, or
/// a checkpoint or a folder of them; so many `ranks` of this process load it. Throws InputError if
/// what is named is not there, is damaged, or is of another network, seed or batch.
Start open_start(const scenarios::Scenario& scenario, const TrainingOptions& options,
                 const std::string& resume, int ranks);

/// Fills what this rank holds; each rank once. Returns sentences about parameters that were drawn
/// anew: the classifier of a ViT whose weights know other classes.
std::vector<std::string> load_start(const Start& start, const scenarios::Scenario& scenario,
                                    RankTraining& training);

/// Collective over all ranks: saves the state behind `step` steps. Returns the folder.
struct SaveRequest {
    const scenarios::Scenario& scenario;
    const TrainingOptions& options;
    std::string program_hash;
    const Batches& batches;
    std::string data;  ///< in words, for a run that goes on
    std::int64_t step = 0;
    double lr = 0;
    std::chrono::nanoseconds patience{};
};
std::string save_checkpoint(const SaveRequest& request, RankTraining& training,
                            Communicator& world);

}  // namespace debubble::exec
