#include "exec/core/communicator/rank_grid.h"

namespace debubble::exec {

using scenarios::Dimension;
using scenarios::DimensionSizes;

namespace {

/// The position of a rank in its group along a dimension.
int position_along(Dimension dimension, int global_rank, const scenarios::RankOrder& order,
                   const DimensionSizes& sizes) {
    return global_rank / stride_of(dimension, order, sizes) % sizes[dimension];
}

/// The ranks of `at` with every value of one of its positions.
std::vector<int> along(const RankGrid& grid, GridPlace at, int GridPlace::*position, int size) {
    std::vector<int> ranks;
    for (at.*position = 0; at.*position < size; ++(at.*position))
        ranks.push_back(grid.global_rank(at));
    return ranks;
}

}  // namespace

int RankGrid::global_rank(const GridPlace& at) const {
    const DimensionSizes sizes = layer_sizes();
    const auto stride = [&](Dimension dimension) { return stride_of(dimension, order, sizes); };
    return at.tensor * stride(Dimension::Tensor) + at.context * stride(Dimension::Context) +
           at.data * stride(Dimension::Data) + at.pipeline * stride(Dimension::Pipeline);
}

GridPlace RankGrid::place_of(int global_rank) const {
    const DimensionSizes sizes = layer_sizes();
    const auto position = [&](Dimension dimension) {
        return position_along(dimension, global_rank, order, sizes);
    };
    return {position(Dimension::Tensor), position(Dimension::Context), position(Dimension::Data),
            position(Dimension::Pipeline)};
}

ExpertPlace RankGrid::expert_place_of(int global_rank) const {
    const DimensionSizes sizes = expert_sizes();
    const auto position = [&](Dimension dimension) {
        return position_along(dimension, global_rank, order, sizes);
    };
    return {position(Dimension::Tensor), position(Dimension::Expert), position(Dimension::Data)};
}

int RankGrid::replica_of(int global_rank) const {
    const GridPlace at = place_of(global_rank);
    return at.tensor + tensor * (at.context + context * at.data);
}

std::vector<int> RankGrid::pipeline_group(GridPlace at) const {
    return along(*this, at, &GridPlace::pipeline, pipeline);
}

std::vector<int> RankGrid::tensor_group(GridPlace at) const {
    return along(*this, at, &GridPlace::tensor, tensor);
}

std::vector<int> RankGrid::context_group(GridPlace at) const {
    return along(*this, at, &GridPlace::context, context);
}

std::vector<int> RankGrid::gradient_group(GridPlace at) const {
    std::vector<int> ranks;
    for (at.data = 0; at.data < data; ++at.data)
        for (const int rank : context_group(at)) ranks.push_back(rank);
    return ranks;
}

std::vector<int> RankGrid::along_experts(const GridPlace& at, Dimension dimension) const {
    const DimensionSizes sizes = expert_sizes();
    const int stride = stride_of(dimension, order, sizes);
    const int rank = global_rank(at);
    const int first = rank - position_along(dimension, rank, order, sizes) * stride;
    std::vector<int> ranks;
    for (int i = 0; i < sizes[dimension]; ++i) ranks.push_back(first + i * stride);
    return ranks;
}

std::vector<int> RankGrid::expert_group(const GridPlace& at) const {
    return along_experts(at, Dimension::Expert);
}

std::vector<int> RankGrid::expert_tensor_group(const GridPlace& at) const {
    return along_experts(at, Dimension::Tensor);
}

std::vector<int> RankGrid::expert_block_group(const GridPlace& at) const {
    std::vector<int> ranks;
    for (const int sharing : expert_group(at))
        for (const int cutting : expert_tensor_group(place_of(sharing))) ranks.push_back(cutting);
    return ranks;
}

std::vector<int> RankGrid::expert_gradient_group(const GridPlace& at) const {
    return along_experts(at, Dimension::Data);
}

}  // namespace debubble::exec
