#include <algorithm>

#include <fmt/format.h>

#include "models/build/graph_builder.h"

/// All-to-all context parallelism (DeepSpeed-Ulysses, Jacobs et al. 2023, arXiv:2309.14509): before
/// the attention a rank's tokens of all heads become all tokens of some heads, and afterwards the
/// reverse. With two levels they become the tokens of the exchanging ranks alone.
namespace debubble::models {

bool exchanges_heads(const Execution& how) {
    return how.exchanging() > 1;
}

Sizes with_whole_sequences(GraphBuilder& builder) {
    Sizes size = builder.size;
    const Execution& how = builder.how();
    const int ranks = how.exchanging();
    if (size.heads % ranks != 0 || size.kv_heads % ranks != 0) {
        builder.refuse(fmt::format(
            "all-to-all cannot distribute {} heads and {} key-value heads of a rank among {}",
            size.heads, size.kv_heads, ranks));
        return size;
    }
    size.heads /= ranks;
    size.kv_heads /= ranks;
    size.query_width /= ranks;
    size.key_width /= ranks;
    size.value_width /= ranks;
    size.context_width /= ranks;
    size.tokens *= ranks;
    size.queries *= ranks;
    // Each group has a stretch from both ends of the sequence, as the ranks of a ring have.
    const bool halved = builder.graph.architecture.causal && how.sharing_keys() > 1;
    size.balanced_keys = halved ? (size.keys + size.queries) / 2 : size.keys;
    return size;
}

Value exchanged(GraphBuilder& builder, const OperatorPlace& place, Value x, std::int64_t width,
                int ranks) {
    using Group = Collective::Group;
    const std::int64_t bytes = builder.size.element * builder.size.tokens * width;
    const Collective work{Collective::Kind::AllToAll,
                          ranks == builder.how().context ? Group::Context : Group::ContextInner,
                          Bytes{bytes * ranks}};
    const Value y{builder.tensor(place.kernel + ".out", bytes),
                  builder.tensor("d." + place.kernel + ".out", bytes), x.cut};
    Operator op = start(place, x);
    op.forward = {moves(place.kernel + ".sort", place.layer, bytes, bytes),
                  {place.kernel, place.layer, work}};
    op::ExchangeHeads roles{x, y, builder.scratch(place.kernel + ".sorted", bytes), 0};
    op.forward_uses = {x.tensor, roles.sorted, y.tensor};
    op.backward_input = {{place.kernel + ".dx", place.layer, work},
                         moves(place.kernel + ".sort.dx", place.layer, bytes, bytes)};
    roles.sorted_gradient = builder.scratch("d." + place.kernel + ".sorted", bytes);
    op.backward_input_uses = {y.gradient, roles.sorted_gradient, x.gradient};
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return y;
}

void exchange_again(GraphBuilder& builder, std::size_t attention, Value context) {
    Operator& op = builder.graph.operators[attention];
    const int out = std::get<op::Attention>(op.roles).out.tensor;
    if (std::ranges::find(op.saved, out) == op.saved.end())
        return;  // its backward needs other tensors
    const std::string again = builder.graph.tensors[out].name + ".again";
    const Kernel exchange = builder.graph.operators.back().backward_input.front();
    const int made = builder.scratch(again, builder.graph.tensors[out].bytes.count);
    std::get<op::Attention>(op.roles).out_again = {made, context.tensor};
    std::ranges::replace(op.saved, out, context.tensor);
    std::ranges::replace(op.backward_input_uses, out, made);
    op.backward_input_uses.push_back(context.tensor);
    op.backward_input.insert(op.backward_input.begin(), {again, exchange.layer, exchange.work});
}

}  // namespace debubble::models
