#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/graph/graph.h"
#include "models/graph/turns.h"
#include "sim/memory/layer_fold.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/sharded_units.h"

/// The memory of a forward and a backward whose layers run side by side (pairs_layers): while the
/// one keeps a layer's tensors, the other frees those of a layer, so that hardly more than one
/// microbatch is held (Megatron-LM d98e8a6, core/models/common/model_chunk_schedule_plan.py).
namespace debubble::sim {

/// What comes before a pass's layers, one of them, or what comes after them. Bytes are beyond those
/// at the beginning of the pass.
struct PassPiece {
    MemoryByClass at_peak{};
    MemoryByClass unsharded{};  ///< the part of the peak that is gathered or not reduced yet
    MemoryByClass after{};
    std::optional<std::string> op_at_peak;  ///< unset if the piece only frees
};

/// A part of a layer (models/graph/turns.h).
struct LayerPiece {
    models::TurnPart part{};
    PassPiece piece;
};

struct PassPieces {
    PassPiece before;
    std::vector<std::vector<LayerPiece>> layers;  ///< in the order in which the pass runs them
    PassPiece after;
};

/// The folded layer is as many pieces as it stands for. `bytes` as for play() of pass_memory.h.
PassPieces pieces_of(const models::StageGraph& graph, const models::PassSteps& pass,
                     LayerFold fold = {}, const HeldByPlace& held = {},
                     const std::vector<Bytes>* bytes = nullptr);

/// The forward's i-th layer beside the backward's i-th, part by part in the order in which the
/// executor and Megatron-Core issue them: while a part runs, the other pass holds what it holds
/// between two of its parts.
PassMemory pair_memory(const PassPieces& forward, const PassPieces& backward);

}  // namespace debubble::sim
