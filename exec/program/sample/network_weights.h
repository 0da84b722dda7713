#pragma once

#include <map>
#include <string>

#include "exec/core/arena.h"
#include "exec/core/kernels.h"
#include "exec/core/tensor.h"
#include "exec/io/checkpoint/piece_source.h"
#include "models/graph/graph.h"

namespace debubble::exec {

/// The weights of a whole network on one rank, in fp32 and at first on the host, by their stored
/// names. Those of an operator lie side by side, as StageParameters requires.
class NetworkWeights {
public:
    /// `whole`: a stage with embedding, all layers and head. Throws InputError as load() does.
    NetworkWeights(const models::StageGraph& whole, const PieceSource& source);
    static Bytes size(const models::StageGraph& whole);

    /// Moves the weights into the memory in which these kernels compute. Earlier views become
    /// invalid.
    void move_to(Kernels& kernels, Arena& arena);

    const TensorView& of(const models::Parameter& parameter) const;
    const TensorView& of(const models::Buffer& buffer) const;

private:
    Tensor memory_;
    ArenaTensor on_device_;
    std::map<std::string, TensorView> views_;
};

}  // namespace debubble::exec
