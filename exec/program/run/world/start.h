#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "exec/core/training/rank_training.h"
#include "exec/io/checkpoint/checkpoint.h"
#include "exec/io/checkpoint/piece_source.h"
#include "exec/io/data/batches.h"

/// The start of a run: random weights, given weights, or the point where it stopped.
namespace debubble::exec {

/// The setting of a checkpoint that describes the data of its run.
inline constexpr const char* kDataOfRun = "data.fingerprint";

/// The start of a run. It is opened once per process; the process's ranks read it at the same time.
struct Start {
    std::optional<Checkpoint> resume;    ///< its counters; its tensors are in `pieces`
    std::optional<SharedPieces> pieces;  ///< all tensors of a resumed training, else weights only
    std::vector<std::string> notes;      ///< sentences for the person
    std::int64_t first_step() const { return resume ? resume->manifest.training.step : 0; }
};

/// Opens the start. `resume` is auto (the latest checkpoint in the scenario's folder, if there is
/// one), never, a checkpoint, or a folder of them; `ranks` ranks of this process load it. Throws
/// InputError if the named checkpoint does not exist, is damaged, or has another network, seed or
/// batch.
Start open_start(const scenarios::Scenario& scenario, const TrainingOptions& options,
                 const std::string& resume, int ranks);

/// Fills the tensors of this rank; called once per rank. Returns sentences about parameters that
/// were initialised at random: the classifier of a ViT whose weights know other classes.
std::vector<std::string> load_start(const Start& start, const scenarios::Scenario& scenario,
                                    RankTraining& training);

/// Throws InputError if a checkpoint of this training could not be read back, so that it does not
/// train until its first one and end there.
void check_checkpoints(const scenarios::Scenario& scenario, int ranks);

/// The request to save the state after `step` steps; a collective over all ranks that returns the
/// folder.
struct SaveRequest {
    const scenarios::Scenario& scenario;
    const TrainingOptions& options;
    std::string program_hash;
    const Batches& batches;
    std::string data;  ///< description of the data, for a run that goes on
    std::int64_t step = 0;
    double lr = 0;
    std::chrono::nanoseconds patience{};
    std::vector<int> layers;  ///< of every stage
};
std::string save_checkpoint(const SaveRequest& request, RankTraining& training,
                            Communicator& world);

}  // namespace debubble::exec
