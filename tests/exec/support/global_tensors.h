#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "exec/core/pieces/pieces.h"

/// The tensors of a whole job, put together from what its ranks hold.
namespace debubble::exec {

/// Tensors by canonical name, row-major, in fp32. Elements that no rank has put are NaN.
using GlobalTensors = std::map<std::string, std::vector<float>>;

/// Puts a rank's box where it belongs.
void put(const Piece& piece, GlobalTensors& tensors);

/// Parameters and main parameters among the pieces.
void put_weights(std::span<const Piece> pieces, GlobalTensors& weights);

/// Adds the elements that a rank has put. One that two ranks put with different bits becomes
/// infinite.
void join(const GlobalTensors& of_rank, GlobalTensors& all);

}  // namespace debubble::exec
