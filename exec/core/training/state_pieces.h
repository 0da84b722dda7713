#pragma once

#include <vector>

#include "exec/core/pieces/piece.h"
#include "exec/core/training/host_copies.h"
#include "exec/core/training/trained_stage.h"

/// A rank's part of the training state as boxes of global tensors, which checkpoints keep.
namespace debubble::exec {

/// What this rank alone has to save: over all ranks every element comes once. The main parameters
/// stand for the parameters where there are both, since these are those, rounded.
/// Those of a device are in `copies`.
std::vector<Piece> pieces_to_save(const TrainedStage& state, bool first_holder, HostCopies& copies);

enum class Wanted : std::uint8_t {
    Weights,    ///< parameters and main parameters: to start from Hugging Face's or others'
    Everything  ///< and the optimizer's moments: to go on
};
/// All that this rank holds, to be filled. Where parameters are cut and gathered for a pass,
/// nothing may be gathered.
std::vector<WantedPiece> pieces_to_load(TrainedStage& state, Wanted wanted, HostCopies& copies);

}  // namespace debubble::exec
