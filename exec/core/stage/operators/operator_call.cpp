#include "exec/core/stage/operators/operator_call.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace debubble::exec {

namespace {

/// Makes the request that `ask` asks of the group, and waits for it.
template <class Ask>
void communicate(const OperatorCall& call, Communicator* group, const Ask& ask) {
    const HostTime begin = HostTime::now();
    ask(*group)->wait(within(call.state.tools.patience));
    call.state.communicated += HostTime::now() - begin;
}

void gather(const OperatorCall& call, Communicator* group, ConstTensorView mine, TensorView all) {
    const ConstBuffer part{{mine.data, static_cast<std::size_t>(mine.bytes())}, mine.type};
    communicate(call, group,
                [&](Communicator& in) { return in.all_gather(part, all, call.op.name); });
}

void scatter(const OperatorCall& call, Communicator* group, ConstTensorView all, TensorView mine) {
    const ConstBuffer whole{{all.data, static_cast<std::size_t>(all.bytes())}, all.type};
    communicate(call, group, [&](Communicator& in) {
        return in.reduce_scatter(whole, mine, Reduction::Sum, call.op.name);
    });
}

}  // namespace

std::int64_t rows_of(const Routing& routing, const models::RoutedRows& rows) {
    switch (rows.which) {
        case models::RoutedRows::Which::Received: return routing.received();
        case models::RoutedRows::Which::AtExperts: return routing.at_experts();
    }
    return 0;
}

std::int64_t even_rows_of(const Routing& routing, const models::RoutedRows& rows) {
    const auto cutting = static_cast<std::int64_t>(routing.of_cutting_ranks().size());
    const bool all = rows.which == models::RoutedRows::Which::AtExperts;
    return routing.routed() * (all ? cutting : 1);
}

DataType executed_type(models::DataType type) {
    switch (type) {
        case models::DataType::Fp32: return DataType::Fp32;
        case models::DataType::Fp16: return DataType::Fp16;
        case models::DataType::Bf16: return DataType::Bf16;
        case models::DataType::Fp8: break;  // of moments alone
    }
    return DataType::Fp32;
}

DataType OperatorCall::compute_type() const {
    return executed_type(how().compute);
}

/// Rank c has, of 2 C stretches, the c-th from the start and from the end, so that all ranks'
/// queries see equally many keys (Llama 3, Dubey et al. 2024, 3.3.2; Megatron-LM).
std::vector<std::int64_t> OperatorCall::stretches(int of_slice, int of_context_rank) const {
    const std::int64_t first = of_slice * rows() * how().context;
    if (how().context == 1) return {first};
    const std::int64_t each = rows() / 2;
    return {first + of_context_rank * each,
            first + (2 * how().context - 1 - of_context_rank) * each};
}

std::vector<TokenRun> OperatorCall::stream_runs() const {
    const std::int64_t first = scattered() ? tensor_rank() * stream_tokens() : 0;
    const std::vector<std::int64_t> positions = stretches();
    const std::int64_t each = rows() / std::ssize(positions);
    std::vector<TokenRun> runs;
    for (std::int64_t done = 0; done < stream_tokens();) {
        const std::int64_t at = first + done, line = at / each;  // [stretches, samples]
        const std::int64_t count = std::min(each - at % each, stream_tokens() - done);
        const std::int64_t position = positions[line / samples()];
        runs.push_back({done, line % samples(), position + at % each, count});
        done += count;
    }
    return runs;
}

void OperatorCall::upload_tokens(const ConstTensorView& all, TensorView mine, int ahead,
                                 std::int32_t beyond) const {
    const std::int64_t width = size_of(DataType::Int32);
    const Tensor none({ahead}, DataType::Int32);
    std::ranges::fill(none.as<std::int32_t>(), beyond);
    const std::vector<std::int64_t> positions = stretches();
    const std::int64_t count = rows() / std::ssize(positions);
    std::int64_t done = 0;
    for (const std::int64_t position : positions) {
        for (std::int64_t sample = 0; sample < samples(); ++sample, done += count) {
            const std::int64_t first = position + ahead, from = sample * how().seq_length + first;
            const std::int64_t there = std::clamp<std::int64_t>(how().seq_length - first, 0, count);
            const auto put = [&](const std::byte* values, std::int64_t at, std::int64_t number) {
                if (number == 0) return;
                kernels().upload({values, {number}, DataType::Int32},
                                 {mine.data + (done + at) * width, {number}, DataType::Int32});
            };
            put(all.data + from * width, 0, there);
            put(none.view().data, there, count - there);
        }
    }
}

namespace {

TensorView viewed(const LiveTensors& live, int index, const Shape& shape, DataType type) {
    DEBUBBLE_CHECK(index >= 0 && live[index], "the plan has allocated what an operator uses");
    const TensorView& memory = live[index].view();
    DEBUBBLE_CHECK(shape.elements() * size_of(type) <= memory.bytes(), "the plan has room for it");
    return {memory.data, shape, type};
}

}  // namespace

const RotaryTable& OperatorCall::rotary_table() const {
    const RotaryAngles angles = angles_of(attention(), model().max_positions);
    const auto found = std::ranges::find(state.tables, angles, &RotaryTable::angles);
    DEBUBBLE_CHECK(found != state.tables.end(), "a stage has the tables of its layers");
    return *found;
}

bool OperatorCall::is_planned(int index) const {
    const auto in = [&](const std::vector<int>& uses) {
        return std::ranges::count(uses, index) > 0;
    };
    switch (part) {
        case models::Part::Forward:
        case models::Part::Again: return in(op.forward_uses);
        case models::Part::Input: return in(op.backward_input_uses);
        case models::Part::Weight: return in(op.backward_weight_uses);
        case models::Part::Fused: return in(op.backward_input_uses) || in(op.backward_weight_uses);
    }
    return false;
}

TensorView OperatorCall::tensor(int index, const Shape& shape, DataType type) const {
    DEBUBBLE_CHECK(is_planned(index), "an operator touches what its plan names");
    return viewed(live, index, shape, type);
}

TensorView OperatorCall::tensor_of_slice(int of, int index, const Shape& shape,
                                         DataType type) const {
    const MicroBatch key{micro_batch, static_cast<std::int16_t>(of)};
    return viewed(state.live.at(key), index, shape, type);
}

ArenaTensor OperatorCall::temporary(const Shape& shape, DataType type) const {
    return state.tools.arena.allocate(shape, type, MemoryClass::Workspace, op.name);
}

void OperatorCall::all_reduce(TensorView data, Reduction reduction) const {
    if (!state.tools.tensor) return;
    communicate(*this, state.tools.tensor,
                [&](Communicator& group) { return group.all_reduce(data, reduction, op.name); });
}

void OperatorCall::all_gather(ConstTensorView mine, TensorView all) const {
    gather(*this, state.tools.tensor, mine, all);
}

void OperatorCall::reduce_scatter(ConstTensorView all, TensorView mine) const {
    scatter(*this, state.tools.tensor, all, mine);
}

void OperatorCall::gather_context(ConstTensorView mine, TensorView all) const {
    gather(*this, state.tools.context, mine, all);
}

void OperatorCall::scatter_context(ConstTensorView all, TensorView mine) const {
    scatter(*this, state.tools.context, all, mine);
}

void OperatorCall::sum_over(Communicator* group, TensorView data) const {
    if (scattered()) all_reduce(data);
    if (group == nullptr) return;
    communicate(*this, group, [&](Communicator& ranks) {
        return ranks.all_reduce(data, Reduction::Sum, op.name);
    });
}

void OperatorCall::gather_columns(ConstTensorView mine, TensorView all) const {
    const ArenaTensor parts = temporary(all.shape, all.type);
    all_gather(mine, parts.view());
    kernels().join_columns(how().tensor, parts.view(), all);
}

void OperatorCall::gather_from_expert_ranks(TensorView all) const {
    Communicator* const group = state.tools.expert_block;
    if (group == nullptr) return;
    const Buffer whole(all);
    communicate(*this, group, [&](Communicator& in) {
        return in.all_gather(whole.part(in.rank(), in.size()), whole, op.name);
    });
}

void OperatorCall::all_to_all_rows(Communicator* group, std::span<const ConstBuffer> out,
                                   std::span<const Buffer> in) const {
    if (state.asked != nullptr) {
        *state.asked = group->all_to_all(out, in, op.name);
        return;
    }
    communicate(*this, group,
                [&](Communicator& among) { return among.all_to_all(out, in, op.name); });
}

void OperatorCall::reduce_rows(Communicator* group, std::span<const ConstBuffer> pieces,
                               TensorView mine) const {
    communicate(*this, group, [&](Communicator& among) {
        return among.reduce_scatter_uneven(pieces, mine, Reduction::Sum, op.name);
    });
}

std::int64_t OperatorCall::expert_rows(int tensor) const {
    const auto& routed = graph.tensors[tensor].routed;
    if (!routed) return stream_tokens() * experts().per_token;
    return rows_of(routing(), *routed);
}

RandomStream OperatorCall::random_stream(std::string_view purpose) const {
    const std::string name = fmt::format("{}.{}.{}", op.name, purpose, state.step->step);
    return stream_of(state.step->seed, name);
}

double OperatorCall::dropout() const {
    return state.step->training && how().hidden_dropout ? state.tools.dropout : 0;
}

void OperatorCall::drop_stream(ConstTensorView x, TensorView y) const {
    const Dropout dropped{dropout(), random_stream("dropout")};
    const std::int64_t hidden = model().hidden;
    const std::int64_t row_bytes = hidden * size_of(x.type);
    for (const TokenRun& run : stream_runs()) {
        const Shape shape{1, run.count, hidden};
        const Window window{how().seq_length, hidden, inputs().first_sample + run.sample,
                            run.position, 0};
        kernels().dropout(dropped, window, {x.data + run.offset * row_bytes, shape, x.type},
                          {y.data + run.offset * row_bytes, shape, y.type});
    }
}

}  // namespace debubble::exec
