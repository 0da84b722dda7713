#pragma once

#include <array>
#include <optional>
#include <vector>

#include "schedule/generators/search/order_search.h"

/// Pipeline Parallelism with Controllable Memory (Qi et al., 2024,
/// arXiv:2405.15362): a V schedule is one microbatch's passes, laid over the
/// ranks so that they can be repeated every six units without collision, and
/// then squeezed. How long the block holds an activation decides the memory.
namespace debubble {

/// The times at which a rank starts the passes of microbatch 0, in units of one pass of one chunk:
/// forward of chunk 0 and 1, backward of chunk 0 and 1. Microbatch k follows kPeriod x k later; the
/// weight passes take the units left over.
struct BuildingBlock {
    static constexpr int kPeriod = 6;
    std::vector<std::array<int, 4>> start;  ///< by rank
    friend bool operator==(const BuildingBlock&, const BuildingBlock&) = default;
};

/// The least number of units from rank to rank on each of the four ways through the V (down and up
/// forward, down and up backward), and at the two turns between ways where waiting pays.
struct BlockStrides {
    std::array<int, 4> way{1, 1, 1, 1};
    int before_backward = 1;  ///< from the last forward to the first backward, on rank 0
    int before_return = 1;    ///< from backward of chunk 1 to that of chunk 0, on rank p-1
    friend bool operator==(const BlockStrides&, const BlockStrides&) = default;
};

/// Places every pass at the first free unit of the period that the strides allow. `backward_units`
/// is 1 for a split backward, 2 for a fused one. Returns nothing if a rank's period is full.
std::optional<BuildingBlock> lay_block(int ranks, const BlockStrides& strides, int backward_units);

/// Repeats the block for every microbatch, then moves each pass, in order of
/// time, to the earliest free unit that its inputs and `live_limit` allow: the
/// paper's squeeze. Returns the forwards and backwards of every rank, without
/// the weight passes.
std::vector<StepOrder> squeeze(const OrderProblem& problem, const BuildingBlock& block,
                               int live_limit, bool places_weights);

}  // namespace debubble
