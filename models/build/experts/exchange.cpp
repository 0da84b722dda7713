#include "models/build/experts/route.h"

#include <utility>

namespace debubble::models {

/// A token in its dispatch type, including block scales.
std::int64_t ExpertRoute::sent_bytes(std::int64_t rows, Narrow type) const {
    return type == Narrow::None ? row_bytes(rows) : rows * narrow_bytes(type, width());
}

Kernel ExpertRoute::exchange(const std::string& kernel, bool returns, Narrow type) const {
    Kernel made = communicate(kernel, Collective::Kind::AllToAll, Collective::Group::Expert,
                              builder.how().expert * sent_bytes(received(), type));
    auto& work = std::get<Collective>(made.work);
    work.routing = Routing{experts.per_token, experts.count, experts.groups, experts.groups_chosen};
    if (builder.how().kernels.shared_expert_overlap)
        made.beside = returns ? Beside::Combine : Beside::Dispatch;
    return made;
}

/// The dispatch of tokens to the experts; for an 8-bit type they are cast before it and cast back
/// on arrival. Tokens that are sent once are cast once.
std::vector<Kernel> ExpertRoute::sent(const std::string& kernel, bool returns, Narrow type,
                                      std::vector<int>& uses) const {
    Kernel moved = exchange(kernel, returns, type);
    if (type == Narrow::None) return {std::move(moved)};
    const std::int64_t own = sends_tokens() ? size().stream_tokens : routed();
    const std::int64_t arrive = received();
    const auto scratch = [&](const char* suffix, std::int64_t rows) {
        uses.push_back(builder.scratch("experts." + kernel + suffix, sent_bytes(rows, type)));
    };
    scratch(".cast", own);
    scratch(".arrived", arrive);
    if (shares())
        builder.graph.tensors[uses.back()].routed =
            RoutedRows{RoutedRows::Which::Received, sent_bytes(1, type)};
    return {copies(kernel + ".cast", row_bytes(own), sent_bytes(own, type)), std::move(moved),
            copies(kernel + ".widen", sent_bytes(arrive, type), row_bytes(arrive))};
}

/// HybridEP gathers which experts every token of the group goes to, a byte each, and scans that
/// before it sends tokens; the backward remembers it (DeepEP 41cad94, csrc/hybrid_ep/executor,
/// allgather_routing_map).
void ExpertRoute::gather_map(Operator& op) const {
    const std::int64_t map = builder.how().expert * size().stream_tokens * experts.count;
    op.forward_uses.push_back(builder.scratch("experts.dispatch.map", map));
    op.forward.insert(op.forward.begin(), {communicate("dispatch.map", Collective::Kind::AllGather,
                                                       Collective::Group::Expert, map),
                                           copies("dispatch.scan", map, map / experts.count)});
}

Value ExpertRoute::exchanged(Value x, bool returns) const {
    if (builder.how().expert == 1) return x;
    const std::string kernel = returns ? "return" : "dispatch";
    const KernelOptions& types = builder.how().kernels;
    const Value y = moved(kernel, op::Dispatch::Kind::Exchange, returns, x,
                          returns ? routed() : received(), exchange(kernel, returns, Narrow::None),
                          exchange(kernel + ".dx", returns, Narrow::None));
    // To the experts: the dispatch, and in the backward the gradient of the combine.
    Operator& op = builder.graph.operators.back();
    if (returns)
        op.backward_input =
            sent(kernel + ".dx", true, types.moe_combine_bwd_dtype, op.backward_input_uses);
    else
        op.forward = sent(kernel, false, types.moe_dispatch_fwd_dtype, op.forward_uses);
    if (!returns && types.dispatcher == Dispatcher::HybridEp) gather_map(op);
    if (!returns) mark_received(y);
    return y;
}

/// All-gathers the tokens of the expert-tensor-parallel ranks, or reduce-scatters their sums.
Value ExpertRoute::gathered(Value x, bool returns) const {
    if (builder.how().expert_tensor == 1) return x;
    const std::string kernel = returns ? "scatter" : "gather";
    const std::int64_t all = row_bytes(size().all_expert_rows());
    const auto kernel_of = [&](const std::string& name, bool scatters) {
        using Kind = Collective::Kind;
        return communicate(name, scatters ? Kind::ReduceScatter : Kind::AllGather,
                           Collective::Group::ExpertTensor, all);
    };
    const Value y = moved(kernel, op::Dispatch::Kind::Gather, returns, x,
                          returns ? received() : size().all_expert_rows(),
                          kernel_of(kernel, returns), kernel_of(kernel + ".dx", !returns));
    returns ? mark_received(y) : mark_at_experts(y);
    return y;
}

}  // namespace debubble::models
