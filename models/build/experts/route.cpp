#include "models/build/experts/route.h"

#include <utility>

namespace debubble::models {

OperatorPlace ExpertRoute::at(const std::string& kernel) const {
    return {names.prefix + names.experts.substr(0, names.experts.rfind('.')), "experts." + kernel,
            layer};
}

bool ExpertRoute::sends_tokens() const {
    const Dispatcher by = builder.how().kernels.dispatcher;
    return by == Dispatcher::DeepEp || by == Dispatcher::HybridEp;
}

Kernel ExpertRoute::communicate(const std::string& kernel, Collective::Kind kind,
                                Collective::Group group, std::int64_t bytes) const {
    return {"experts." + kernel, layer, Collective{kind, group, Bytes{bytes}}};
}

Kernel ExpertRoute::copies(const std::string& kernel, std::int64_t read,
                           std::int64_t written) const {
    return moves("experts." + kernel, layer, read, written);
}

Value ExpertRoute::value(const std::string& kernel, std::int64_t bytes) const {
    return {builder.tensor("experts." + kernel + ".out", bytes),
            builder.tensor("d.experts." + kernel + ".out", bytes)};
}

void ExpertRoute::mark(Value value, RoutedRows::Which which, std::int64_t rows) const {
    if (!shares()) return;
    for (const int index : {value.tensor, value.gradient}) {
        Tensor& tensor = builder.graph.tensors[index];
        tensor.routed = RoutedRows{which, tensor.bytes.count / rows};
    }
}

void ExpertRoute::mark_at_experts(Value value) const {
    mark(value, RoutedRows::Which::AtExperts, size().all_expert_rows());
}

void ExpertRoute::mark_received(Value value) const {
    mark(value, RoutedRows::Which::Received, received());
}

Value ExpertRoute::moved(const std::string& kernel, op::Dispatch::Kind kind, bool returns, Value x,
                         std::int64_t rows, Kernel there, Kernel back) const {
    const Value y = value(kernel, row_bytes(rows));
    Operator op = start(at(kernel), x);
    op.roles = op::Dispatch{kind, returns, x, y};
    op.forward = {std::move(there)};
    op.forward_uses = {x.tensor, y.tensor};
    op.backward_input = {std::move(back)};
    op.backward_input_uses = {y.gradient, x.gradient};
    builder.graph.operators.push_back(std::move(op));
    return y;
}

}  // namespace debubble::models
