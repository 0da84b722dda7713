#include "sim/cost/passes/pair_time.h"

#include <algorithm>

namespace debubble::sim {
namespace {

using enum PairStep;

/// The parts of one of the passes, at one of its layers.
class Issue {
public:
    Issue(std::vector<IssuedPart>& issued, bool forward) : issued_(issued), forward_(forward) {}
    void enter(const LayerParts& parts, std::size_t layer) {
        parts_ = &parts;
        layer_ = static_cast<int>(layer);
    }
    void attention() { add(Attention, &OfLayer::attention); }
    void dispatch() { add(Dispatch, &OfLayer::dispatch, true); }
    void experts() { add(Experts, &OfLayer::mlp); }
    void combine() {
        add(Combine, &OfLayer::combine, true);
        issued_.back().after = parts_->after_combine;
    }
    void attention_weights() { add(AttentionWeights, &OfLayer::attention_weights, false, true); }
    void expert_weights() { add(ExpertWeights, &OfLayer::mlp_weights, false, true); }

private:
    void add(PairStep step, double OfLayer::*part, bool exchange = false, bool alone = false) {
        issued_.push_back({step, forward_, exchange, layer_, *parts_.*part, parts_->host.*part,
                           alone, parts_->products.*part});
    }
    std::vector<IssuedPart>& issued_;
    bool forward_;
    const LayerParts* parts_ = nullptr;
    int layer_ = 0;
};

void forward_alone(Issue& of) {
    of.attention();
    of.dispatch();
    of.experts();
    of.combine();
}

void backward_alone(Issue& of) {
    of.combine();
    of.experts();
    of.expert_weights();
    of.dispatch();
    of.attention();
    of.attention_weights();
}

void together(Issue& forward, Issue& backward) {
    backward.combine();
    forward.attention();
    backward.experts();
    forward.dispatch();
    backward.expert_weights();
    backward.dispatch();
    forward.experts();
    forward.combine();
    backward.attention();
    backward.attention_weights();
}

/// Parts of the pair one after the other, with the layers' parts scaled to its length.
class Stretched {
public:
    Stretched(const Overlap& pair, double seconds, Duration duration)
        : pair_(pair),
          scale_(seconds > 0 ? static_cast<double>(duration.count()) / seconds : 0),
          most_(duration) {}

    void outside(const Compute& pass, double seconds) {
        if (seconds > 0) add(pass, {Outside, false, false, {}, 0, seconds});
        now_ += seconds;
    }
    void layers(const PlayedPair& placed) {
        for (const PlacedPart& part : placed.parts)
            add(part.forward ? pair_.first : pair_.second, part);
        now_ += placed.seconds;
    }
    std::vector<PairPart> parts;

private:
    Instant at(double seconds) const {
        return Instant{} + std::min(Duration{static_cast<std::int64_t>(seconds * scale_)}, most_);
    }
    void add(const Compute& pass, const PlacedPart& placed) {
        PairPart part;
        part.lane = placed.exchange ? Lane::Collective : Lane::Compute;
        part.step = placed.step;
        part.pass = pass;
        part.layer = placed.layer;
        part.begin = at(now_ + placed.begin);
        part.end = at(now_ + placed.end);
        part.products = placed.products;
        parts.push_back(part);
    }

    const Overlap& pair_;
    double scale_;
    Duration most_;
    double now_ = 0;
};

}  // namespace

PlayedPair played(const std::vector<LayerParts>& forward, const std::vector<LayerParts>& backward,
                  const PairLanes& lanes) {
    std::vector<IssuedPart> issued;
    issued.reserve(6 * (forward.size() + backward.size()));
    Issue f(issued, true), b(issued, false);
    const std::size_t both = std::min(forward.size(), backward.size());
    for (std::size_t i = 0; i < std::max(forward.size(), backward.size()); ++i) {
        const std::size_t from_end = backward.size() - 1 - i;
        if (i < forward.size()) f.enter(forward[i], i);
        if (i < backward.size()) b.enter(backward[from_end], from_end);
        if (i < both)
            together(f, b);
        else if (i < backward.size())
            backward_alone(b);
        else
            forward_alone(f);
    }
    return play(issued, lanes);
}

double pair_seconds(const std::vector<LayerParts>& forward,
                    const std::vector<LayerParts>& backward) {
    return played(forward, backward).seconds;
}

std::vector<PairPart> parts_of_pair(const Overlap& pair, const PairParts& forward,
                                    const PairParts& backward, const PairLanes& lanes,
                                    Duration duration) {
    const PlayedPair placed = played(forward.forward, backward.backward, lanes);
    const OutsideParts& f = forward.forward_outside;
    const OutsideParts& b = backward.backward_outside;
    Stretched all(pair, f.before + f.after + b.before + b.after + placed.seconds, duration);
    all.outside(pair.first, f.before);
    all.outside(pair.second, b.before);
    all.layers(placed);
    all.outside(pair.first, f.after);
    all.outside(pair.second, b.after);
    std::ranges::stable_sort(all.parts, {}, &PairPart::begin);
    return std::move(all.parts);
}

}  // namespace debubble::sim
