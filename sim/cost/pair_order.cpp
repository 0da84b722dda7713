#include "sim/cost/pair_order.h"

#include <algorithm>

#include "sim/cost/pair_time.h"

namespace debubble::sim {
namespace {

/// The two streams, and when each microbatch may go on.
class Streams {
public:
    /// One of the passes, at one of its layers.
    struct Pass {
        bool forward = true;
        int layer = 0;
        double ready = 0;
    };
    void compute(PairStep step, double seconds, Pass& of) {
        run({step, of.forward, false, of.layer}, seconds, of, compute_);
    }
    void exchange(PairStep step, double seconds, Pass& of) {
        run({step, of.forward, true, of.layer}, seconds, of, exchange_);
    }
    /// A delayed weight gradient: nothing waits for it but its stream.
    void weights(PairStep step, double seconds, const Pass& of) {
        Pass alone{of.forward, of.layer, compute_};
        run({step, of.forward, false, of.layer}, seconds, alone, compute_);
    }
    std::vector<PlacedPart> parts;

private:
    void run(PlacedPart part, double seconds, Pass& of, double& stream) {
        part.begin = std::max(stream, of.ready);
        stream = of.ready = part.end = part.begin + seconds;
        if (seconds > 0) parts.push_back(part);
    }
    double compute_ = 0;
    double exchange_ = 0;
};

using enum PairStep;

void forward_alone(const LayerParts& layer, Streams& streams, Streams::Pass& of) {
    streams.compute(Attention, layer.attention, of);
    streams.exchange(Dispatch, layer.dispatch, of);
    streams.compute(Experts, layer.mlp, of);
    streams.exchange(Combine, layer.combine, of);
}

void backward_alone(const LayerParts& layer, Streams& streams, Streams::Pass& of) {
    streams.exchange(Combine, layer.combine, of);
    streams.compute(Experts, layer.mlp, of);
    streams.weights(ExpertWeights, layer.mlp_weights, of);
    streams.exchange(Dispatch, layer.dispatch, of);
    streams.compute(Attention, layer.attention, of);
    streams.weights(AttentionWeights, layer.attention_weights, of);
}

void together(const LayerParts& f, const LayerParts& b, Streams& streams, Streams::Pass& forward,
              Streams::Pass& backward) {
    streams.exchange(Combine, b.combine, backward);
    streams.compute(Attention, f.attention, forward);
    streams.compute(Experts, b.mlp, backward);
    streams.exchange(Dispatch, f.dispatch, forward);
    streams.weights(ExpertWeights, b.mlp_weights, backward);
    streams.exchange(Dispatch, b.dispatch, backward);
    streams.compute(Experts, f.mlp, forward);
    streams.exchange(Combine, f.combine, forward);
    streams.compute(Attention, b.attention, backward);
    streams.weights(AttentionWeights, b.attention_weights, backward);
}

double end_of(const std::vector<PlacedPart>& parts) {
    double end = 0;
    for (const PlacedPart& part : parts) end = std::max(end, part.end);
    return end;
}

/// Parts of the pair one after the other, and the layers' parts, stretched to its length.
class Stretched {
public:
    Stretched(const Overlap& pair, double seconds, Duration duration)
        : pair_(pair),
          scale_(seconds > 0 ? static_cast<double>(duration.count()) / seconds : 0),
          most_(duration) {}

    void outside(const Compute& pass, double seconds) {
        if (seconds > 0) add(pass, Outside, false, -1, now_, now_ + seconds);
        now_ += seconds;
    }
    void layers(const std::vector<PlacedPart>& placed) {
        for (const PlacedPart& part : placed)
            add(part.forward ? pair_.first : pair_.second, part.step, part.exchange, part.layer,
                now_ + part.begin, now_ + part.end);
        now_ += end_of(placed);
    }
    std::vector<PairPart> parts;

private:
    Instant at(double seconds) const {
        return Instant{} + std::min(Duration{static_cast<std::int64_t>(seconds * scale_)}, most_);
    }
    void add(const Compute& pass, PairStep step, bool exchange, int layer, double begin,
             double end) {
        PairPart part;
        part.lane = exchange ? Lane::Collective : Lane::Compute;
        part.step = step;
        part.pass = pass;
        part.layer = layer;
        part.begin = at(begin);
        part.end = at(end);
        parts.push_back(part);
    }

    const Overlap& pair_;
    double scale_;
    Duration most_;
    double now_ = 0;
};

}  // namespace

std::vector<PlacedPart> placed_parts(const std::vector<LayerParts>& forward,
                                     const std::vector<LayerParts>& backward) {
    Streams streams;
    Streams::Pass f{true, 0, 0}, b{false, 0, 0};
    const std::size_t both = std::min(forward.size(), backward.size());
    const auto from_end = [&](std::size_t i) -> const LayerParts& {
        b.layer = static_cast<int>(backward.size() - 1 - i);
        return backward[static_cast<std::size_t>(b.layer)];
    };
    const auto from_start = [&](std::size_t i) -> const LayerParts& {
        f.layer = static_cast<int>(i);
        return forward[i];
    };
    for (std::size_t i = 0; i < both; ++i) {
        const LayerParts& of_backward = from_end(i);
        together(from_start(i), of_backward, streams, f, b);
    }
    for (std::size_t i = both; i < backward.size(); ++i) backward_alone(from_end(i), streams, b);
    for (std::size_t i = both; i < forward.size(); ++i) forward_alone(from_start(i), streams, f);
    return std::move(streams.parts);
}

double pair_seconds(const std::vector<LayerParts>& forward,
                    const std::vector<LayerParts>& backward) {
    return end_of(placed_parts(forward, backward));
}

std::vector<PairPart> parts_of_pair(const Overlap& pair, const PairParts& forward,
                                    const PairParts& backward, Duration duration) {
    const std::vector<PlacedPart> placed =
        placed_parts(without_waits(forward.forward), without_waits(backward.backward));
    const OutsideParts& f = forward.forward_outside;
    const OutsideParts& b = backward.backward_outside;
    Stretched all(pair, f.before + f.after + b.before + b.after + end_of(placed), duration);
    all.outside(pair.first, f.before);
    all.outside(pair.second, b.before);
    all.layers(placed);
    all.outside(pair.first, f.after);
    all.outside(pair.second, b.after);
    std::ranges::stable_sort(all.parts, {}, &PairPart::begin);
    return std::move(all.parts);
}

}  // namespace debubble::sim
