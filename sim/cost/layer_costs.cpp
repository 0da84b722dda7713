#include "sim/cost/schedule_prices.h"

#include <algorithm>
#include <map>
#include <utility>

#include "models/network/layers.h"
#include "scenarios/plan/derived.h"

namespace debubble::sim {
namespace {

class LayerTimes {
public:
    LayerTimes(const SchedulePrices& prices, int stages)
        : prices_(prices),
          layers_(prices.scenario().model.layers),
          low_precision_(scenarios::execution_of(prices.scenario()).low_precision),
          of_stage_(
              std::min(layers_.count(), std::max({2, features_of(prices.scenario().model),
                                                  (layers_.count() + stages - 1) / stages}))) {}

    models::LayerCosts costs() const {
        // Layers of a kind have the same cost; the last of each kind represents all, so that most
        // have as many layers before them as in a stage.
        using Kind = std::pair<std::size_t, bool>;
        const auto kind_of = [&](int layer) {
            return Kind{layers_.kind_of(layer), low_precision_.quantises(layer)};
        };
        std::map<Kind, int> last;
        for (int layer = 0; layer < layers_.count(); ++layer) last[kind_of(layer)] = layer;
        std::map<Kind, double> cost;
        for (const auto& [kind, layer] : last) cost[kind] = added_by(layer);
        models::LayerCosts all;
        for (int layer = 0; layer < layers_.count(); ++layer)
            all.layers.push_back(cost.at(kind_of(layer)));
        const int end = begun(layers_.count() - of_stage_);
        const int last_layers = layers_.count() - end;
        all.embedding = more(of({0, of_stage_, true, false}), of({0, of_stage_, false, false}));
        all.head = more(of({end, last_layers, false, true}), of({end, last_layers, false, false}));
        return all;
    }

private:
    double of(const models::StageContent& content) const {
        return seconds(prices_.time_of(content));
    }
    static double more(double with, double without) { return std::max(0.0, with - without); }

    /// Layers whose input receives features of a vision tower in the first stage.
    static int features_of(const models::Architecture& model) {
        return model.tower ? static_cast<int>(model.tower->deepstack.size()) : 0;
    }
    int begun(int layer) const { return models::beginning_at(layers_, layer); }

    double added_by(int layer) const {
        if (layers_.count() == 1) return of({0, 1, false, false});
        if (layer == 0 && begun(1) == 1)
            return more(of({0, 2, false, false}), of({1, 1, false, false}));
        if (layer == 0) return of({0, 1, false, false});
        const int first = begun(std::max(0, layer - of_stage_ + 1));
        const int before = layer - first;
        return more(of({first, before + 1, false, false}), of({first, before, false, false}));
    }

    const SchedulePrices& prices_;
    const models::Layers& layers_;
    models::LowPrecision low_precision_;
    int of_stage_;  ///< layers of the stages that are priced
};

}  // namespace

models::LayerCosts layer_costs(const SchedulePrices& prices, int stages) {
    return LayerTimes(prices, stages).costs();
}

}  // namespace debubble::sim
