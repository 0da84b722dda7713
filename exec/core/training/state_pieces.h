#pragma once

#include <vector>

#include "exec/core/pieces/piece.h"
#include "exec/core/training/state/host_copies.h"
#include "exec/core/training/trained_stage.h"

/// A rank's part of the training state as boxes of global tensors, the form of checkpoints.
namespace debubble::exec {

/// The pieces that this rank saves: over all ranks every element comes once. Where there are main
/// parameters, they are saved instead of the parameters, which are the same values rounded. The
/// pieces of a device are in `copies`.
std::vector<Piece> pieces_to_save(const TrainedStage& state, bool first_holder, HostCopies& copies);

enum class Wanted : std::uint8_t {
    /// Parameters and main parameters: to start from other weights, such as Hugging Face's.
    Weights,
    Everything  ///< also the optimizer's moments: to go on
};
/// All pieces that this rank holds, to be filled. Precondition: where parameters are sharded and
/// gathered for a pass, none are gathered.
std::vector<WantedPiece> pieces_to_load(TrainedStage& state, Wanted wanted, HostCopies& copies);

}  // namespace debubble::exec
