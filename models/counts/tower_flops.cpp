#include "models/counts/counts.h"

#include "models/build/graph_builder.h"
#include "models/graph/graph.h"

namespace debubble::models {

double tower_flops_per_sample(const VisionTower& tower, bool adapters) {
    constexpr double kTrained = 6;  // per weight: 2 forward, 2 for each of both gradients
    const auto number = [](std::int64_t value) { return static_cast<double>(value); };
    const auto counted = [&](double flops, bool frozen) {
        return frozen || adapters ? flops / 3 : flops;
    };
    Architecture layers = network_of_tower(tower);
    layers.vocab = 0;
    const double seen =
        model_flops_per_sample(layers, tower.rows()) +
        kTrained * number(tower.patch_values * tower.hidden) * number(tower.patches());
    double weights = 0;
    for (const VisionTower::Product& product : tower.projector)
        weights += number(product.inputs) * number(product.outputs);
    const auto projectors = static_cast<double>(1 + tower.deepstack.size());
    const double projected = kTrained * weights * number(tower.image_tokens) * projectors;
    return number(tower.images) *
           (counted(seen, tower.frozen) + counted(projected, tower.frozen_projector));
}

}  // namespace debubble::models
