#pragma once

#include <optional>
#include <string>

#include "exec/io/checkpoint/piece_source.h"
#include "models/network/architecture.h"

namespace debubble::exec {

/// A sentence that names the tensors of a Hugging Face file that are not parameters of the model.
/// Nothing if there are none but those whose absence changes nothing: a head tied to the embedding,
/// and the masks and frequencies that older versions of transformers saved with the weights.
std::optional<std::string> note_of_untaken(const PieceSource& weights,
                                           const models::Architecture& model);

}  // namespace debubble::exec
