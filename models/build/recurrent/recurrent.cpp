#include "models/build/recurrent/recurrent.h"

#include <utility>

#include <fmt/format.h>

#include "base/overloaded.h"

namespace debubble::models {

Recurrence recurrence(GraphBuilder& builder, std::int64_t chunk) {
    const Execution& how = builder.how();
    if (how.slices > 1)
        builder.refuse(
            "sequence slices are not supported with recurrent layers: each would need the final "
            "state of the slice before it");
    return {builder.size.samples, builder.size.queries * how.context, chunk,
            builder.size.tensor * how.context};
}

std::int64_t share(GraphBuilder& builder, const Recurrence& rank, std::int64_t whole,
                   const char* what) {
    if (whole % rank.ranks == 0) return whole / rank.ranks;
    builder.refuse(fmt::format("{} {} cannot be shared by {} tensor- and context-parallel ranks",
                               whole, what, rank.ranks));
    return 1;
}

void set_pace(const GraphBuilder& builder, Operator& recurrence) {
    const double pace = builder.how().kernels.recurrence_pace;
    for (std::vector<Kernel>* part : {&recurrence.forward, &recurrence.backward_input})
        for (Kernel& kernel : *part)
            std::visit(Overloaded{[&](FlashAttention&) {}, [&](Collective&) {},
                                  [&](auto& work) {
                                      work.pace = pace;
                                      work.recurrent = true;
                                  }},
                       kernel.work);
}

int cut_by_heads(GraphBuilder& builder, const std::string& name, std::vector<std::int64_t> shape,
                 Initial initial) {
    Parameter parameter{name, std::move(shape), builder.sharding_of(name, {Sharding::Column}), 0, 1,
                        {}};
    parameter.initial = initial;
    return builder.parameter(std::move(parameter));
}

Value to_sequences(GraphBuilder& builder, const OperatorPlace& place, Value x, std::int64_t width) {
    const int ranks = builder.how().context;
    return ranks > 1 ? exchanged(builder, place, x, width, ranks) : x;
}

Value to_tokens(GraphBuilder& builder, const OperatorPlace& place, Value x, std::int64_t width) {
    const int ranks = builder.how().context;
    return ranks > 1 ? exchanged(builder, place, x, width, ranks) : x;
}

Value grouped_norm(GraphBuilder& builder, const OperatorPlace& place, const GroupedNormShape& shape,
                   int gain, Value x, std::optional<op::Value> gate) {
    const std::int64_t bytes = builder.size.element * shape.tokens * shape.columns;
    const Value y{builder.tensor(place.kernel + ".out", bytes),
                  builder.tensor("d." + place.kernel + ".out", bytes), x.cut};
    op::GroupedNorm roles{x, gate, y, gain, 0, shape.tokens, shape.columns, shape.groups};
    roles.statistics =
        builder.tensor(place.kernel + ".statistics", 4 * shape.tokens * shape.groups);
    Operator op = start(place, x);
    const std::int64_t read = gate ? 2 : 1;
    op.parameters = {gain};
    op.saved = {x.tensor, roles.statistics};
    if (gate) op.inputs.push_back(gate->tensor);
    if (gate) op.saved.push_back(gate->tensor);
    op.forward = {moves(place.kernel, place.layer, read * bytes, bytes)};
    op.forward_uses = {x.tensor};
    if (gate) op.forward_uses.push_back(gate->tensor);
    op.forward_uses.push_back(y.tensor);
    op.forward_uses.push_back(roles.statistics);
    // The gain's gradient reads the same tensors once more.
    op.backward_input = {moves(place.kernel + ".dx", place.layer, (1 + read) * bytes, read * bytes),
                         moves(place.kernel + ".dw", place.layer, (1 + read) * bytes, 0)};
    op.backward_input_uses = {y.gradient};
    for (const int saved : op.saved) op.backward_input_uses.push_back(saved);
    op.backward_input_uses.push_back(x.gradient);
    if (gate) op.backward_input_uses.push_back(gate->gradient);
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return y;
}

}  // namespace debubble::models
