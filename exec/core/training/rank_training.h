#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "exec/core/kernels.h"
#include "exec/core/pieces/pieces.h"
#include "exec/core/training/trained_stage.h"
#include "exec/core/training/training_step.h"
#include "scenarios/plan/plan.h"

/// A rank's part of the training state, and its form in checkpoints: boxes of global tensors.
namespace debubble::exec {

/// Tensors of a device in a form that checkpoints can read and fill: copies in the host's memory.
/// Where the kernels' memory is the host's, a tensor is its own copy.
class HostCopies {
public:
    explicit HostCopies(Kernels& kernels) : kernels_(&kernels) {}

    /// The copy of a tensor, which lives as long as this object.
    TensorView of(const TensorView& tensor) {
        if (kernels_->on_host()) return tensor;
        copies_.push_back({tensor, Tensor(tensor.shape, tensor.type)});
        const TensorView host = copies_.back().host.view();
        kernels_->download(tensor, host);
        return host;
    }
    /// Writes the content of the copies back to the tensors.
    void write_back() const {
        for (const Copy& copy : copies_) kernels_->upload(copy.host.view(), copy.device);
    }

private:
    struct Copy {
        TensorView device;
        Tensor host;
    };
    Kernels* kernels_;
    std::vector<Copy> copies_;
};

// A rank's part of the training state as boxes of global tensors, the form of checkpoints.

/// The pieces that this rank saves: over all ranks, every element is in exactly one piece. Where
/// there are main parameters, they are saved instead of the parameters, which are the same values
/// rounded. The pieces of a device are in `copies`.
std::vector<Piece> pieces_to_save(const TrainedStage& state, bool first_holder, HostCopies& copies);

enum class Wanted : std::uint8_t {
    /// Parameters and main parameters: to start from other weights, such as Hugging Face's.
    Weights,
    Everything  ///< also the optimizer's moments: to go on
};
/// All pieces that this rank holds, to be filled. Precondition: where parameters are sharded and
/// gathered for a pass, none are gathered.
std::vector<WantedPiece> pieces_to_load(TrainedStage& state, Wanted wanted, HostCopies& copies);

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
/// executor_scenario().
RankTraining make_rank_training(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                                const TrainingOptions& options, Communicator& world,
                                Kernels& kernels, Arena& arena, std::chrono::nanoseconds patience);

}  // namespace debubble::exec
