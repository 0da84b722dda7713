#include "sim/cost/passes/pair_time.h"

#include <algorithm>
#include <cmath>

#include "models/execution/laws.h"

namespace debubble::sim {
namespace {

int count_of(const PassWork& work, const scenarios::Exchanges& hides) {
    int count = 0;
    for (std::size_t kind = 0; kind < hides.size(); ++kind)
        if (hides[kind]) count += work.exchanges[kind].count;
    return count;
}

/// Seconds of the first pass's all-to-alls that kernels of the other pass hide.
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

double sharding_of(const PassWork& work) {
    return work.exchanges[scenarios::Exchange::ShardedParameters].seconds;
}

}  // namespace

/// The longer of device and host time decides; the other still contributes where both are nearly
/// equal.
double length_of(const PassWork& work) {
    const double norm = models::laws().host_norm;
    return std::pow(std::pow(work.kernels + work.exposed, norm) + std::pow(work.host, norm),
                    1 / norm) +
           work.idle + work.added;
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

PassWork pair_of(const PassWork& forward, const PassWork& backward, const PairParts& of_forward,
                 const PairParts& of_backward, const PairLanes& lanes) {
    PassWork outside;  // of the layers
    outside.kernels = forward.kernels + backward.kernels;
    // The waits of a pair's all-to-alls are added by its lanes.
    outside.exposed = forward.exposed + backward.exposed - forward.waits - backward.waits;
    outside.host = forward.host + backward.host;
    double exposed_in_layers = 0;  // on the lane of the kernels
    const auto leave = [&](const std::vector<LayerParts>& layers) {
        for (const LayerParts& layer : layers) {
            outside.kernels -= sum_of(layer) - sum_of(layer.exposed);
            outside.exposed -= sum_of(layer.exposed);
            outside.host -= sum_of(layer.host);
            exposed_in_layers +=
                sum_of(layer.exposed) - layer.exposed.dispatch - layer.exposed.combine;
        }
    };
    leave(of_forward.forward);
    leave(of_backward.backward);
    // While the device waits for gathers and reductions of sharded parameters, the host runs ahead,
    // in whichever layer it lags.
    const double sharding = sharding_of(forward) + sharding_of(backward);
    outside.kernels = std::max(0.0, outside.kernels);
    outside.exposed = std::max(0.0, outside.exposed - sharding);
    outside.host = std::max(0.0, outside.host);
    const PlayedPair layers = played(of_forward.forward, of_backward.backward, lanes);
    PassWork both;
    both.kernels =
        layers.seconds - layers.exposed - layers.idle - exposed_in_layers + outside.kernels;
    both.exposed = layers.exposed + exposed_in_layers + outside.exposed + sharding;
    both.added = forward.added + backward.added;
    const double host_late = layers.idle + length_of(outside) - outside.kernels - outside.exposed;
    both.idle = std::max(0.0, host_late - sharding);
    return both;
}

}  // namespace debubble::sim
