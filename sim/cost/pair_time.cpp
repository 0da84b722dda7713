#include "sim/cost/pair_time.h"

#include <algorithm>
#include <cmath>

namespace debubble::sim {
namespace {

int count_of(const PassWork& work, const scenarios::Exchanges& hides) {
    int count = 0;
    for (std::size_t kind = 0; kind < hides.size(); ++kind)
        if (hides[kind]) count += work.exchanges[kind].count;
    return count;
}

/// Seconds of the first pass's exchanges that kernels of the other pass hide.
double hidden_by_kernels(const PassWork& one, const PassWork& other,
                         const scenarios::Exchanges& hides) {
    const int blocks = std::max({count_of(one, hides), count_of(other, hides), other.layers, 1});
    const double block = other.free / blocks;
    double hidden = 0;
    for (std::size_t kind = 0; kind < hides.size(); ++kind) {
        const ExposedExchanges& exchanges = one.exchanges[kind];
        if (hides[kind]) hidden += std::min(exchanges.seconds, exchanges.count * block);
    }
    return hidden;
}

}  // namespace

/// The longer of device and host time decides; the other still contributes where both are nearly
/// equal.
double length_of(const PassWork& work) {
    return std::pow(std::pow(work.kernels + work.exposed, 4) + std::pow(work.host, 4), 0.25) +
           work.added;
}

PassWork pair_of(const PassWork& one, const PassWork& other, const scenarios::Exchanges& hides) {
    PassWork both;
    both.kernels = one.kernels + other.kernels;
    both.exposed = one.exposed + other.exposed - hidden_by_kernels(one, other, hides) -
                   hidden_by_kernels(other, one, hides);
    both.host = one.host + other.host;
    both.added = one.added + other.added;
    return both;
}

std::vector<LayerParts> without_waits(std::vector<LayerParts> layers) {
    for (LayerParts& layer : layers) {
        layer.dispatch /= 1 + kWaitsForRanks;
        layer.combine /= 1 + kWaitsForRanks;
    }
    return layers;
}

PassWork pair_of(const PassWork& forward, const PassWork& backward, const PairParts& of_forward,
                 const PairParts& of_backward, const PairCosts& costs) {
    double alone = 0;
    for (const LayerParts& layer : of_forward.forward) alone += sum_of(layer);
    for (const LayerParts& layer : of_backward.backward) alone += sum_of(layer);
    const double beside =
        pair_seconds(without_waits(of_forward.forward), without_waits(of_backward.backward));
    const double saved = std::max(0.0, alone - beside) * (1 - costs.slowed);
    PassWork both;
    const double length = forward.kernels + forward.exposed + backward.kernels + backward.exposed;
    // What follows an exchange runs in its stream, so that kernels run beside kernels too.
    both.kernels = std::min(forward.kernels + backward.kernels, length - saved);
    both.exposed = length - saved - both.kernels;
    both.host = costs.host * (forward.host + backward.host);
    both.added = forward.added + backward.added;
    return both;
}

}  // namespace debubble::sim
