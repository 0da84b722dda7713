#include "sim/cost/passes/pair_layers.h"

#include "models/graph/operator_runs.h"
#include "models/graph/replays.h"
#include "sim/cost/kernels/launches.h"

namespace debubble::sim {
namespace {

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

double& of(OfLayer& layer, Part part) {
    switch (part) {
        case Part::Attention: return layer.attention;
        case Part::Dispatch: return layer.dispatch;
        case Part::Mlp: return layer.mlp;
        case Part::Combine: break;
    }
    return layer.combine;
}

/// The parts of the layers, one entry for each layer of the graph.
class Parts {
public:
    Parts(const models::StageGraph& graph, const PassPricer& pricer,
          const scenarios::Framework& framework, PairWeights weights)
        : graph_(graph),
          pricer_(pricer),
          framework_(framework),
          weights_run_(weights),
          forward_(launched(Pass::Forward)),
          backward_(launched(Pass::Backward)),
          weights_(launched(Pass::BackwardWeight)),
          again_(models::times_again(graph)),
          follow_(graph.execution.expert > 1) {}

    void add(std::size_t index) {
        const models::Operator& op = graph_.operators[index];
        if (!op.layer) {
            add_outside(op, again_[index]);
            return;
        }
        if (layers_.empty() || layers_.back() != *op.layer) {
            layers_.push_back(*op.layer);
            parts_.forward.emplace_back();
            parts_.backward.emplace_back();
        }
        const Part part = follow_.next(op);
        LayerParts& front = parts_.forward.back();
        LayerParts& back = parts_.backward.back();
        const double weights = host(weights_, index);
        of(front.host, part) += host(forward_, index);
        if (part == Part::Combine && op.as<models::op::Dispatch>() == nullptr)
            front.after_combine += host(forward_, index);
        of(back.host, part) += host(backward_, index) - weights;
        const Seconds forward = seconds_of(op, models::Part::Forward);
        put(front, part, forward);
        put(back, part, forward, again_[index]);
        const bool delayed_here = weights_run_ == PairWeights::Delayed && models::delays_weight(op);
        if (weights_run_ != PairWeights::After && !delayed_here) {
            put(back, part, seconds_of(op, models::Part::Fused));
            of(back.host, part) += weights;
            return;
        }
        put(back, part, seconds_of(op, models::Part::Input));
        if (!delayed_here) return;
        const auto later =
            models::weight_is_of_experts(op) ? &OfLayer::mlp_weights : &OfLayer::attention_weights;
        const Seconds delayed = seconds_of(op, models::Part::Weight);
        back.*later += delayed.all;
        back.products.*later += delayed.products;
        back.exposed.*later += delayed.exposed;
        back.host.*later += weights + seconds(framework_.host_module);
    }

    /// With as many entries as there are layers.
    PairParts unfolded(LayerFold fold) const {
        PairParts all{{}, {}, parts_.forward_outside, parts_.backward_outside};
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const int times = layers_[i] == fold.layer ? fold.times : 1;
            all.forward.insert(all.forward.end(), times, parts_.forward[i]);
            all.backward.insert(all.backward.end(), times, parts_.backward[i]);
        }
        return all;
    }

private:
    /// Of a part, of its GEMMs and attention, and of its communication that no kernel hides.
    struct Seconds {
        double all = 0;
        double products = 0;
        double exposed = 0;
    };
    Seconds seconds_of(const models::Operator& op, models::Part part) const {
        const std::vector<models::Kernel> kernels = models::kernels_of(op, part);
        const PassTime time = pricer_.time(kernels);
        Seconds sum{time.layers + time.ends + time.exposed, 0, time.exposed};
        for (std::size_t i = 0; i < kernels.size(); ++i)
            if (std::holds_alternative<models::Gemm>(kernels[i].work) ||
                std::holds_alternative<models::FlashAttention>(kernels[i].work))
                sum.products += time.each[i].takes;
        return sum;
    }
    static void put(LayerParts& layer, Part part, const Seconds& seconds, int times = 1) {
        of(layer, part) += times * seconds.all;
        of(layer.products, part) += times * seconds.products;
        of(layer.exposed, part) += times * seconds.exposed;
    }
    void add_outside(const models::Operator& op, int times_again) {
        const double forward = seconds_of(op, models::Part::Forward).all;
        const bool first = layers_.empty();
        (first ? parts_.forward_outside.before : parts_.forward_outside.after) += forward;
        (first ? parts_.backward_outside.after : parts_.backward_outside.before) +=
            times_again * forward + seconds_of(op, weights_run_ == PairWeights::After
                                                       ? models::Part::Input
                                                       : models::Part::Fused)
                                        .all;
    }

    std::vector<Launches> launched(Pass pass) const {
        return launches_by_operator(graph_, framework_.cuda_graphs, pass);
    }
    /// Seconds of the host for one operator.
    double host(const std::vector<Launches>& launches, std::size_t index) const {
        return host_seconds(framework_, launches[index]);
    }

    const models::StageGraph& graph_;
    const PassPricer& pricer_;
    const scenarios::Framework& framework_;
    PairWeights weights_run_;
    std::vector<Launches> forward_, backward_, weights_;  ///< by operator
    std::vector<int> again_;
    Follow follow_;
    std::vector<int> layers_;
    PairParts parts_;
};

}  // namespace

PairParts pair_parts(const models::StageGraph& graph, const PassPricer& pricer,
                     const scenarios::Framework& framework, LayerFold fold, PairWeights weights) {
    Parts parts(graph, pricer, framework, weights);
    for (std::size_t i = 0; i < graph.operators.size(); ++i) parts.add(i);
    return parts.unfolded(fold);
}

}  // namespace debubble::sim
