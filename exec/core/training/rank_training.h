#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "exec/core/training/state_pieces.h"
#include "exec/core/training/training_step.h"
#include "scenarios/plan/plan.h"

namespace debubble::exec {

/// Everything that a rank needs apart from its passes: its stages' parameters, and the steps that
/// the Program takes with them. The arena, the kernels and the world must outlive it.
struct RankTraining {
    std::unique_ptr<TrainingGroups> groups;
    std::vector<std::unique_ptr<TrainedStage>> states;
    std::vector<LocalStage> stages;  ///< the stages of `states`, in the order of their numbers
    std::unique_ptr<TrainingStep> step;
    Kernels* kernels = nullptr;
    mutable std::optional<HostCopies> copies;  ///< host copies of a device's pieces

    TrainedStage& state_of(Stage stage);
    /// The pieces of this rank. Every element of the whole job's state is in exactly one rank's
    /// pieces. The pieces of a device are copies made by this call, valid until the next call of
    /// either function.
    std::vector<Piece> pieces_to_save() const;
    std::vector<WantedPiece> pieces_to_load(Wanted wanted);
    void loaded();  ///< called once the pieces to load are filled
};

/// The ranks of a scenario's job.
RankGrid grid_of(const scenarios::Scenario& scenario);

/// Allocates the state in the arena and draws the initial weights from the seed. All ranks of
/// `world`, which are the scenario's, call it together. Throws InputError if the Program steps
/// without the GradNorm that clipping or loss scaling needs. Precondition: `scenario` is
/// as_executed().
RankTraining make_rank_training(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                                const TrainingOptions& options, Communicator& world,
                                Kernels& kernels, Arena& arena, std::chrono::nanoseconds patience);

}  // namespace debubble::exec
