#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "exec/core/training/state_pieces.h"
#include "exec/core/training/training_step.h"
#include "scenarios/plan.h"

namespace debubble::exec {

/// All that a rank needs beside its passes: its stages' parameters, and what the Program does
/// with them. The arena, the kernels and the world must outlive it.
struct RankTraining {
    std::unique_ptr<TrainingGroups> groups;
    std::vector<std::unique_ptr<TrainedStage>> states;
    std::vector<LocalStage> stages;  ///< of states, in the order of their numbers
    std::unique_ptr<TrainingStep> step;
    Kernels* kernels = nullptr;
    mutable std::optional<HostCopies> copies;  ///< the pieces of a device

    TrainedStage& state_of(Stage stage);
    /// Every element of the whole job's state is in one rank's pieces. A device's are copies,
    /// made by the call, that last until the next one of these.
    std::vector<Piece> pieces_to_save() const;
    std::vector<WantedPiece> pieces_to_load(Wanted wanted);
    void loaded();  ///< the pieces to load are filled
};

/// Allocates the state in the arena and draws the first weights from the seed. All ranks of
/// `world`, which are the scenario's, call it together. Throws InputError if the Program steps
/// without the GradNorm that clipping or loss scaling needs.
/// Precondition: `scenario` is as_executed().
RankTraining make_rank_training(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                                const TrainingOptions& options, Communicator& world,
                                Kernels& kernels, Arena& arena, std::chrono::nanoseconds patience);

}  // namespace debubble::exec
