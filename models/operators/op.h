#pragma once

#include <variant>

#include "models/operators/attention.h"
#include "models/operators/ends.h"
#include "models/operators/experts.h"
#include "models/operators/heads.h"
#include "models/operators/planned.h"
#include "models/operators/products.h"
#include "models/operators/recurrent.h"
#include "models/operators/stream.h"
#include "models/operators/value.h"

/// The kinds of operators. An alternative of `Roles` gives by name the part that each tensor or
/// parameter plays in the operator's passes: indices into StageGraph::tensors, or where it says so
/// StageGraph::parameters. A role that only some executions have is optional. Shapes are those of
/// one rank: [T] tokens of the pass, [Ts] tokens of the residual stream (T / t with sequence
/// parallelism), [h] hidden, [q] columns of all queries, [kv] columns of all keys, [V] its entries
/// of the vocabulary. Elements are of the compute type where no other is named.
namespace debubble::models {

using Roles =
    std::variant<op::TokenEmbedding, op::PositionEmbedding, op::PatchEmbedding, op::ClassToken,
                 op::Norm, op::Linear, op::ExpertProducts, op::SplitHeads, op::OpenBranch,
                 op::HeadNorm, op::WidthNorm, op::HeadL2Norm, op::LatentHeads, op::Rope,
                 op::Attention, op::AddBranches, op::Activation, op::Residual, op::GatherColumns,
                 op::SliceColumns, op::ExchangeHeads, op::CopyContext, op::PickClassToken,
                 op::Router, op::OutputGate, op::SharedGate, op::Convolution, op::StateSpaceScan,
                 op::DeltaRule, op::GroupedNorm, op::Permute, op::Dispatch, op::Combine, op::Concat,
                 op::ScatterTokens, op::StackStreams, op::SplitStreams, op::SoftCap, op::Cast,
                 op::Loss, op::ChunkedLoss, op::Planned>;

}  // namespace debubble::models
