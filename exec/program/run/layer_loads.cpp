#include "exec/program/run/training_loop.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace debubble::exec {

namespace {

/// Writes the loads of the layers that this rank has.
void put_loads(const RankTraining& training, std::span<double> loads) {
    for (const LocalStage& local : training.stages) {
        const RouterState& routers = local.state->routers();
        for (const RouterState::Layer& layer : routers.layers()) {
            const std::span counts(routers.counted().data() + layer.first, layer.experts);
            const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
            const double most = *std::ranges::max_element(counts);
            loads[layer.layer] = all > 0 ? most * static_cast<double>(layer.experts) / all : 1;
        }
    }
}

}  // namespace

LayerLoads::LayerLoads(const scenarios::Scenario& scenario, Communicator& world)
    : world_(world),
      sequence_parallel_(scenario.parallel.sequence && scenario.parallel.tensor > 1),
      sums_(scenario.model.layers.count() + scenario.model.mtp_layers),
      largest_(sums_.size()) {}

RouterMetrics LayerLoads::step(RankJob& rank, std::chrono::nanoseconds patience) {
    std::vector<double> loads(sums_.size());
    put_loads(rank.state(), loads);
    world_.all_reduce(buffer_of(std::span(loads)), Reduction::Max, "LOADS")->wait(within(patience));
    // Tensor-parallel ranks have the same tokens, or parts of them.
    const bool counts = sequence_parallel_ || rank.groups().place.tensor == 0;
    const RouterTotals totals = counts ? rank.router_totals() : RouterTotals{};
    double terms[2] = {totals.balance, totals.z};
    world_.all_reduce(buffer_of(std::span<double>(terms)), Reduction::Sum, "ROUTERS")
        ->wait(within(patience));
    ++steps_;
    for (std::size_t layer = 0; layer < loads.size(); ++layer) {
        if (loads[layer] > 0) sums_[layer] = sums_[layer].value_or(0) + loads[layer];
        largest_[layer] = std::max(largest_[layer], loads[layer]);
    }
    const double scale = rank.training().outcome().loss_scale;
    return {terms[0] / scale, terms[1] / scale, *std::ranges::max_element(loads)};
}

std::vector<LayerLoad> LayerLoads::of_layers() const {
    std::vector<LayerLoad> layers;
    for (std::size_t layer = 0; layer < sums_.size(); ++layer)
        if (sums_[layer])
            layers.push_back({static_cast<int>(layer), *sums_[layer] / static_cast<double>(steps_),
                              largest_[layer]});
    return layers;
}

}  // namespace debubble::exec
