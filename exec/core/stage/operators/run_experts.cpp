#include "base/check.h"
#include "exec/core/stage/operators/linear_call.h"

/// A mixture of experts: a rank's tokens are sorted by expert and sent to the ranks that have the
/// experts by a variable-size all-to-all, before which ranks tell each other the numbers of tokens;
/// every expert multiplies its own.
namespace debubble::exec {

namespace {

/// The router's weights, or their gradient: fp32 [tokens, experts].
TensorView weights_at(const OperatorCall& call, int index) {
    return call.tensor(index, {call.stream_tokens(), call.experts().count}, DataType::Fp32);
}

TensorView rows_of(const OperatorCall& call, int index, std::int64_t columns) {
    return call.tensor(index, {call.expert_rows(index), columns});
}

int rank_in(const Communicator* group) {
    return group != nullptr ? group->rank() : 0;
}

ExpertRanks expert_ranks(const OperatorCall& call) {
    const StageTools& tools = call.state.tools;
    return {call.how().expert, call.how().expert_tensor, rank_in(tools.experts),
            rank_in(tools.expert_tensor)};
}

/// Counts the tokens of all ranks that have the layer's experts: the host waits for it.
Routing counted(const OperatorCall& call, const TensorView& weights) {
    const ExpertRanks ranks = expert_ranks(call);
    const Shape shape{ranks.count(), call.experts().count + 1};
    const ArenaTensor all = call.temporary(shape, DataType::Int32);
    call.kernels().fill_zero(all.view());  // a device that rehearses hears of no other rank
    call.kernels().first_rows_of_experts(weights, rows_from(all.view(), ranks.number(), 1));
    call.gather_from_expert_ranks(all.view());
    const Tensor host(shape, DataType::Int32);
    call.kernels().download(all.view(), host.view());
    const View<std::int32_t> first_rows = host.as<std::int32_t>();
    return {ranks, {first_rows.begin(), first_rows.end()}};
}

/// Neighbouring rows, cut into chunks of `counts` rows.
template <class AnyBuffer>
std::vector<AnyBuffer> pieces_of(const TensorView& rows, const std::vector<std::int64_t>& counts) {
    std::vector<AnyBuffer> pieces;
    std::int64_t first = 0;
    for (const std::int64_t count : counts) {
        pieces.push_back(Buffer(rows_from(rows, first, count)));
        first += count;
    }
    return pieces;
}

/// The transfer of a Dispatch's tokens to the experts or back.
struct Moving {
    const OperatorCall& call;
    bool back;
    TensorView from;
    TensorView to;

    void exchange() const {
        const Routing& routing = call.routing();
        const auto &sent = routing.sent(), &taken = routing.taken();
        call.all_to_all_rows(call.state.tools.experts,
                             pieces_of<ConstBuffer>(from, back ? taken : sent),
                             pieces_of<Buffer>(to, back ? sent : taken));
    }
    /// Each cutting rank has the whole output of its columns' share, or its term of a sum.
    void gather() const {
        Communicator* const group = call.state.tools.expert_tensor;
        const std::vector<std::int64_t>& counts = call.routing().of_cutting_ranks();
        // The tensor of this rank's routed tokens has room for those that a capacity drops.
        const std::int64_t own = call.routing().received();
        if (back)
            return call.reduce_rows(group, pieces_of<ConstBuffer>(from, counts),
                                    rows_from(to, 0, own));
        const std::vector<ConstBuffer> mine(counts.size(), Buffer(rows_from(from, 0, own)));
        call.all_to_all_rows(group, mine, pieces_of<Buffer>(to, counts));
    }
    void sort() const {
        for (const RowBlock& block : call.routing().sorting())
            call.kernels().copy(rows_from(from, back ? block.to : block.from, block.count),
                                rows_from(to, back ? block.from : block.to, block.count));
    }
    void run(op::Dispatch::Kind kind) const {
        switch (kind) {
            case op::Dispatch::Kind::Exchange: return exchange();
            case op::Dispatch::Kind::Gather: return gather();
            case op::Dispatch::Kind::Sort: return sort();
        }
    }
};

struct ExpertsCall {
    const OperatorCall& call;
    const op::ExpertProducts& products;

    TensorView x() const { return rows_of(call, products.x.tensor, products.inputs); }
    TensorView y() const { return rows_of(call, products.y.tensor, products.outputs); }
    TensorView dy() const { return rows_of(call, products.y.gradient, products.outputs); }
    TensorView dx() const { return rows_of(call, products.x.gradient, products.inputs); }
    /// The weights of all experts, [experts x outputs, inputs].
    TensorView weight() const { return values_side_by_side(call, products.weights); }
    TensorView weight_gradient() const { return gradients_side_by_side(call, products.weights); }

    /// Adds each expert's bias to its rows. Ranks that cut the inputs have terms of one sum, to
    /// which the first of them adds it.
    void add_biases() const {
        if (products.biases.empty()) return;
        const bool of_a_sum =
            call.graph.parameters[products.biases.front()].sharding == models::Sharding::Replicated;
        if (of_a_sum && expert_ranks(call).cutting != 0) return;
        each_bias(values_side_by_side(call, products.biases), y(),
                  [&](const TensorView& bias, const TensorView& rows) {
                      call.kernels().add_bias(bias, rows);
                  });
    }
    void add_bias_gradients() const {
        if (products.biases.empty()) return;
        each_bias(gradients_side_by_side(call, products.biases), dy(),
                  [&](const TensorView& gradient, const TensorView& rows) {
                      call.kernels().bias_backward_weight(rows, gradient);
                  });
    }

private:
    /// Calls body(bias of an expert, its rows) for the experts that have rows.
    void each_bias(const TensorView& biases, const TensorView& rows, const auto& body) const {
        const auto& first_rows = call.routing().first_rows();
        for (std::size_t expert = 0; expert + 1 < first_rows.size(); ++expert) {
            const std::int64_t first = first_rows[expert], count = first_rows[expert + 1] - first;
            if (count == 0) continue;
            body(rows_from(biases, static_cast<std::int64_t>(expert) * products.outputs,
                           products.outputs),
                 rows_from(rows, first, count));
        }
    }
};

}  // namespace

void forward(const OperatorCall& call, const op::Permute& roles) {
    const TensorView weights = weights_at(call, roles.weights);
    const TensorView tokens = call.stream(roles.tokens.tensor);
    const TensorView rows = rows_of(call, roles.rows.tensor, call.model().hidden);
    if (roles.weights_gradient)
        call.kernels().combine_backward_input(weights, tokens, {}, rows, {});
    else
        call.kernels().permute_forward(weights, tokens, rows);
    if (call.again) return;  // they have not changed
    const auto at = call.state.routed.insert_or_assign(call.routed_pass(), counted(call, weights));
    if (call.state.tools.expert_block != nullptr) call.state.load.add(at.first->second.load());
}

/// The gradient of weighted dispatch is that of the weighted combine, with input and output
/// swapped.
void backward_input(const OperatorCall& call, const op::Permute& roles) {
    const TensorView weights = weights_at(call, roles.weights);
    const TensorView drows = rows_of(call, roles.rows.gradient, call.model().hidden);
    const TensorView dtokens = call.stream(roles.tokens.gradient);
    if (!roles.weights_gradient)
        return call.kernels().permute_backward_input(weights, drows, dtokens);
    call.kernels().combine_backward_input(weights, call.stream(roles.tokens.tensor), drows, {},
                                          weights_at(call, *roles.weights_gradient));
    call.kernels().combine_forward(weights, drows, dtokens);
}

void forward(const OperatorCall& call, const op::Dispatch& roles) {
    const std::int64_t hidden = call.model().hidden;
    Moving{call, roles.returns, rows_of(call, roles.x.tensor, hidden),
           rows_of(call, roles.y.tensor, hidden)}
        .run(roles.kind);
}

void backward_input(const OperatorCall& call, const op::Dispatch& roles) {
    const std::int64_t hidden = call.model().hidden;
    Moving{call, !roles.returns, rows_of(call, roles.y.gradient, hidden),
           rows_of(call, roles.x.gradient, hidden)}
        .run(roles.kind);
}

void forward(const OperatorCall& call, const op::ExpertProducts& roles) {
    const ExpertsCall experts{call, roles};
    call.kernels().experts_forward(call.routing().first_rows(), experts.x(), experts.weight(),
                                   experts.y());
    experts.add_biases();
}

void backward_input(const OperatorCall& call, const op::ExpertProducts& roles) {
    const ExpertsCall experts{call, roles};
    call.kernels().experts_backward_input(call.routing().first_rows(), experts.dy(),
                                          experts.weight(), experts.dx());
}

void backward_weight(const OperatorCall& call, const op::ExpertProducts& roles) {
    const ExpertsCall experts{call, roles};
    call.kernels().experts_backward_weight(call.routing().first_rows(), experts.x(), experts.dy(),
                                           experts.weight_gradient());
    experts.add_bias_gradients();
}

void forward(const OperatorCall& call, const op::Combine& roles) {
    const TensorView weights = weights_at(call, roles.weights), y = call.stream(roles.y.tensor);
    const TensorView rows = rows_of(call, roles.rows.tensor, call.model().hidden);
    if (roles.weighed) return call.kernels().combine_forward(weights, rows, y);
    call.kernels().permute_backward_input(weights, rows, y);
}

void backward_input(const OperatorCall& call, const op::Combine& roles) {
    const std::int64_t hidden = call.model().hidden;
    if (!roles.weighed)
        return call.kernels().permute_forward(weights_at(call, roles.weights),
                                              call.stream(roles.y.gradient),
                                              rows_of(call, roles.rows.gradient, hidden));
    const op::Value weights = roles.weighed->weights;
    call.kernels().combine_backward_input(
        weights_at(call, weights.tensor), call.stream(roles.y.gradient),
        rows_of(call, roles.rows.tensor, hidden), rows_of(call, roles.rows.gradient, hidden),
        weights_at(call, weights.gradient));
}

}  // namespace debubble::exec
