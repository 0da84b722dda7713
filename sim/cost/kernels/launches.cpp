#include "sim/cost/kernels/launches.h"

#include <algorithm>
#include <vector>

#include "models/graph/replays.h"

namespace debubble::sim {
namespace {

using scenarios::GraphScope;

int kernels_in(const std::vector<models::Kernel>& kernels) {
    return static_cast<int>(std::ranges::count_if(kernels, [](const models::Kernel& kernel) {
        return !std::holds_alternative<models::Collective>(kernel.work);
    }));
}

/// Iterates over a layer's operators in order: the mixer up to its residual, then the MLP, whose
/// router is followed by the permutation of tokens and by the experts.
class Scopes {
public:
    explicit Scopes(const models::StageGraph& graph) : graph_(graph) {}

    /// The part of the layer of the next operator; none for embedding and head.
    std::optional<GraphScope> next(const models::Operator& op) {
        if (!op.layer) return std::nullopt;
        if (op.layer != layer_) enter(*op.layer);
        if (op.as<models::op::Permute>() != nullptr) {
            scope_ = GraphScope::Moe;
            return GraphScope::MoePreprocess;
        }
        const GraphScope scope = scope_;
        if (op.as<models::op::Residual>() != nullptr && mixes_) {
            mixes_ = false;
            const models::Layer& layer = graph_.architecture.layer_at(layer_.value());
            const bool experts = layer.as<models::Experts>() != nullptr;
            scope_ = experts ? GraphScope::MoeRouter : GraphScope::Mlp;
        }
        return scope;
    }

private:
    void enter(int layer) {
        layer_ = layer;
        mixes_ = true;
        scope_ = graph_.architecture.layer_at(layer).is_recurrent() ? GraphScope::Mamba
                                                                    : GraphScope::Attention;
    }

    const models::StageGraph& graph_;
    std::optional<int> layer_;
    bool mixes_ = true;  ///< before the first residual of the layer
    GraphScope scope_ = GraphScope::Attention;
};

/// The number of the rank's experts whose GEMMs the operator launches, except the first.
int further_experts(const models::Operator& op) {
    const auto* products = op.as<models::op::ExpertProducts>();
    return products == nullptr ? 0 : static_cast<int>(products->experts - 1);
}

/// The launches of one operator in the pass.
Launches of(const models::Operator& op, int times_again, std::optional<Pass> pass) {
    const Launches forward{1, kernels_in(op.forward)};
    if (!pass || *pass == Pass::Forward) return forward;
    Launches sum;
    if (*pass != Pass::BackwardWeight) {
        sum.kernels += kernels_in(op.backward_input);
        sum.modules += times_again * forward.modules;
        sum.kernels += times_again * forward.kernels;
    }
    if (*pass != Pass::BackwardInput) sum.kernels += kernels_in(op.backward_weight);
    return sum;
}

}  // namespace

double host_seconds(const scenarios::Framework& framework, const Launches& launches) {
    return launches.modules * seconds(framework.host_module) +
           launches.kernels * seconds(framework.host_kernel) +
           launches.experts * seconds(framework.host_expert);
}

std::vector<Launches> launches_by_operator(const models::StageGraph& graph,
                                           const scenarios::CudaGraphs& graphs,
                                           std::optional<Pass> pass) {
    std::vector<Launches> all(graph.operators.size());
    if (graphs.full_iteration) return all;
    const std::vector<int> again = models::times_again(graph);
    Scopes scopes(graph);
    for (std::size_t at = 0; at < all.size(); ++at) {
        const models::Operator& op = graph.operators[at];
        const auto scope = scopes.next(op);
        if (!scope || !graphs.has(*scope)) {
            all[at] = of(op, again[at], pass);
            if (!graph.execution.kernels.fused_experts)
                all[at].experts = all[at].kernels * further_experts(op);
        }
    }
    return all;
}

Launches launches_of(const models::StageGraph& graph, LayerFold fold,
                     const scenarios::CudaGraphs& graphs, std::optional<Pass> pass) {
    Launches all;
    const std::vector<Launches> each = launches_by_operator(graph, graphs, pass);
    for (std::size_t at = 0; at < each.size(); ++at) {
        const int times = graph.operators[at].layer == fold.layer ? fold.times : 1;
        all.modules += times * each[at].modules;
        all.kernels += times * each[at].kernels;
        all.experts += times * each[at].experts;
    }
    return all;
}

}  // namespace debubble::sim
