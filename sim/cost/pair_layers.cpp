#include "sim/cost/pair_layers.h"

#include <algorithm>

#include "models/operator_runs.h"
#include "models/replays.h"

namespace debubble::sim {
namespace {

/// The two streams, and when each microbatch may go on.
class Streams {
public:
    struct MicroBatch {
        double ready = 0;
    };
    void compute(double seconds, MicroBatch& of) { run(seconds, of, compute_); }
    void exchange(double seconds, MicroBatch& of) { run(seconds, of, exchange_); }
    /// A delayed weight gradient: nothing waits for it but its stream.
    void weights(double seconds) { compute_ += seconds; }
    double end() const { return std::max(compute_, exchange_); }

private:
    static void run(double seconds, MicroBatch& of, double& stream) {
        stream = of.ready = std::max(stream, of.ready) + seconds;
    }
    double compute_ = 0;
    double exchange_ = 0;
};

void forward_alone(const LayerParts& layer, Streams& streams, Streams::MicroBatch& of) {
    streams.compute(layer.attention, of);
    streams.exchange(layer.dispatch, of);
    streams.compute(layer.mlp, of);
    streams.exchange(layer.combine, of);
}

void backward_alone(const LayerParts& layer, Streams& streams, Streams::MicroBatch& of) {
    streams.exchange(layer.combine, of);
    streams.compute(layer.mlp, of);
    streams.weights(layer.mlp_weights);
    streams.exchange(layer.dispatch, of);
    streams.compute(layer.attention, of);
    streams.weights(layer.attention_weights);
}

void together(const LayerParts& f, const LayerParts& b, Streams& streams,
              Streams::MicroBatch& forward, Streams::MicroBatch& backward) {
    streams.exchange(b.combine, backward);
    streams.compute(f.attention, forward);
    streams.compute(b.mlp, backward);
    streams.exchange(f.dispatch, forward);
    streams.weights(b.mlp_weights);
    streams.exchange(b.dispatch, backward);
    streams.compute(f.mlp, forward);
    streams.exchange(f.combine, forward);
    streams.compute(b.attention, backward);
    streams.weights(b.attention_weights);
}

enum class Part { Attention, Dispatch, Mlp, Combine };

/// The parts of a layer's operators, in their order.
class Follow {
public:
    explicit Follow(bool exchanges) : exchanges_(exchanges) {}
    Part next(const models::Operator& op) {
        if (op.layer != layer_) {
            layer_ = op.layer;
            now_ = Part::Attention;
        }
        if (const auto* moved = op.as<models::op::Dispatch>();
            moved != nullptr && moved->kind == models::op::Dispatch::Kind::Exchange) {
            now_ = moved->returns ? Part::Combine : Part::Mlp;
            return moved->returns ? Part::Combine : Part::Dispatch;
        }
        if (op.modules.has(models::Module::Mlp)) now_ = Part::Mlp;
        if (!exchanges_ && op.modules.has(models::Module::ExpertFc1)) now_ = Part::Mlp;
        return now_;
    }

private:
    bool exchanges_;
    std::optional<int> layer_;
    Part now_ = Part::Attention;
};

double& of(LayerParts& layer, Part part) {
    switch (part) {
        case Part::Attention: return layer.attention;
        case Part::Dispatch: return layer.dispatch;
        case Part::Mlp: return layer.mlp;
        case Part::Combine: break;
    }
    return layer.combine;
}

/// The layers' parts, one entry for each layer that the graph has.
class Parts {
public:
    Parts(const models::StageGraph& graph, const PassPricer& pricer, bool delays)
        : graph_(graph),
          pricer_(pricer),
          delays_(delays),
          again_(models::times_again(graph)),
          follow_(graph.execution.expert > 1) {}

    void add(std::size_t index) {
        const models::Operator& op = graph_.operators[index];
        if (!op.layer) return;
        const double forward = seconds_of(op, models::Part::Forward);
        const double repeated = again_[index] * forward;
        if (layers_.empty() || layers_.back() != *op.layer) {
            layers_.push_back(*op.layer);
            parts_.forward.emplace_back();
            parts_.backward.emplace_back();
        }
        const Part part = follow_.next(op);
        LayerParts& back = parts_.backward.back();
        of(parts_.forward.back(), part) += forward;
        of(back, part) += repeated;
        if (!delays_) {
            of(back, part) += seconds_of(op, models::Part::Fused);
            return;
        }
        of(back, part) += seconds_of(op, models::Part::Input);
        (part == Part::Mlp ? back.mlp_weights : back.attention_weights) +=
            seconds_of(op, models::Part::Weight);
    }

    /// With as many entries as there are layers.
    PairParts unfolded(LayerFold fold) const {
        PairParts all;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const int times = layers_[i] == fold.layer ? fold.times : 1;
            all.forward.insert(all.forward.end(), times, parts_.forward[i]);
            all.backward.insert(all.backward.end(), times, parts_.backward[i]);
        }
        return all;
    }

private:
    double seconds_of(const models::Operator& op, models::Part part) const {
        const PassTime time = pricer_.time(models::kernels_of(op, part));
        return time.layers + time.ends + time.exposed;
    }

    const models::StageGraph& graph_;
    const PassPricer& pricer_;
    bool delays_;
    std::vector<int> again_;
    Follow follow_;
    std::vector<int> layers_;
    PairParts parts_;
};

}  // namespace

PairParts pair_parts(const models::StageGraph& graph, const PassPricer& pricer, LayerFold fold,
                     bool delays) {
    Parts parts(graph, pricer, delays);
    for (std::size_t i = 0; i < graph.operators.size(); ++i) parts.add(i);
    return parts.unfolded(fold);
}

double pair_seconds(const std::vector<LayerParts>& forward,
                    const std::vector<LayerParts>& backward) {
    Streams streams;
    Streams::MicroBatch of_forward;
    Streams::MicroBatch of_backward;
    const std::size_t both = std::min(forward.size(), backward.size());
    const auto from_end = [&](std::size_t i) { return backward[backward.size() - 1 - i]; };
    for (std::size_t i = 0; i < both; ++i)
        together(forward[i], from_end(i), streams, of_forward, of_backward);
    for (std::size_t i = both; i < backward.size(); ++i)
        backward_alone(from_end(i), streams, of_backward);
    for (std::size_t i = both; i < forward.size(); ++i)
        forward_alone(forward[i], streams, of_forward);
    return streams.end();
}

}  // namespace debubble::sim
