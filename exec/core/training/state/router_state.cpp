#include "exec/core/training/state/router_state.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/check.h"

namespace debubble::exec {

RouterState::RouterState(const models::StageGraph& graph, Kernels& kernels, Arena& arena)
    : kernels_(&kernels) {
    std::int64_t experts = 0;
    bool corrects = false;
    for (const models::Operator& op : graph.operators) {
        const auto* router = op.as<models::op::Router>();
        if (router == nullptr) continue;
        const int layer = op.layer.value();
        const auto& of = std::get<models::Experts>(graph.architecture.layer_at(layer).mlp);
        layers_.push_back({layer, of.count, experts, router->correction});
        experts += of.count;
        corrects = corrects || router->correction;
    }
    const auto zeros = [&](const char* name) {
        ArenaTensor made = arena.allocate({experts}, DataType::Fp32, MemoryClass::Buffers, name);
        kernels.fill_zero(made.view());
        return made;
    };
    if (experts > 0) loads_ = zeros("loads of experts");
    if (corrects) corrections_ = zeros("corrections of routers");
}

TensorView RouterState::part(const ArenaTensor& of, const Layer& layer) const {
    return {
        of.view().data + layer.first * size_of(DataType::Fp32), {layer.experts}, DataType::Fp32};
}

TensorView RouterState::loads(int layer) const {
    const auto found = std::ranges::find(layers_, layer, &Layer::layer);
    DEBUBBLE_CHECK(found != layers_.end(), "the layer of a router belongs to the stage");
    return part(loads_, *found);
}

TensorView RouterState::correction(int buffer) const {
    const auto found = std::ranges::find(layers_, std::optional(buffer), &Layer::correction);
    DEBUBBLE_CHECK(found != layers_.end(), "the buffers of a stage are those of routers");
    return part(corrections_, *found);
}

void RouterState::begin_step() {
    if (loads_) kernels_->fill_zero(loads_.view());
}

void RouterState::end_step(double rate) {
    if (!loads_) return;
    const Tensor host(loads_.view().shape);
    kernels_->download(loads_.view(), host.view());
    const View<float> all = host.as<float>();
    counted_.assign(all.begin(), all.end());
    for (const Layer& layer : layers_)
        if (layer.correction && rate > 0) correct(layer, static_cast<float>(rate));
}

void RouterState::correct(const Layer& layer, float rate) {
    const TensorView there = part(corrections_, layer);
    const Tensor host(there.shape);
    kernels_->download(there, host.view());
    const std::size_t count = layer.experts;
    const std::span loads(counted_.data() + layer.first, count);
    const double mean =
        std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(count);
    for (std::size_t e = 0; e < count; ++e) {
        float& correction = host.as<float>()[static_cast<std::int64_t>(e)];
        if (loads[e] < mean) correction += rate;
        if (loads[e] > mean) correction -= rate;
    }
    kernels_->upload(host.view(), there);
}

}  // namespace debubble::exec
