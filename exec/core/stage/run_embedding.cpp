#include "exec/core/stage/operator_call.h"

/// Tokens, positions, and the patches of a ViT, up to the residual stream.
namespace debubble::exec {

namespace {

/// Row 0 of the rank's table is this entry of the vocabulary.
std::int64_t first_entry(const OperatorCall& call, const TensorView& table) {
    const bool cut =
        call.graph.parameters[call.op.parameters[0]].sharding == models::Sharding::Vocabulary;
    return cut ? call.tensor_rank() * table.shape[0] : 0;
}

TensorView tokens_of(const OperatorCall& call) {
    return call.tensor(call.op.saved[0], {call.tokens()}, DataType::Int32);
}

bool is_vit(const OperatorCall& call) {
    return call.model().family == models::Family::Vit;
}

/// [samples, 1 + patches, hidden]
TensorView vit_stream(const OperatorCall& call, int index) {
    return call.tensor(index, {call.samples(), call.rows(), call.model().hidden});
}
TensorView vit_patches(const OperatorCall& call, int index) {
    return call.tensor(index, {call.samples(), call.rows() - 1, call.model().hidden});
}

/// The learned table whole: under tensor parallelism a rank may have its columns only.
void add_positions(const OperatorCall& call, TensorView y) {
    TensorView table = call.parameter(call.op.parameters[0]);
    const std::int64_t hidden = call.model().hidden;
    ArenaTensor whole;
    if (table.shape.columns() != hidden) {
        whole = call.temporary({table.shape[0], hidden}, table.type);
        call.gather_columns(table, whole.view());
        table = whole.view();
    }
    const std::int64_t row_bytes = hidden * size_of(y.type);
    for (const TokenRun& run : call.stream_runs()) {
        const TensorView rows{y.data + run.offset * row_bytes, {1, run.count, hidden}, y.type};
        call.kernels().position_embedding_forward(run.position, rows, table, rows);
    }
}

void add_position_gradients(const OperatorCall& call, TensorView dtable) {
    TensorView dy = call.stream(call.op.output_gradient);
    ArenaTensor columns;
    if (dtable.shape.columns() != call.model().hidden) {
        columns = call.temporary({call.stream_tokens(), dtable.shape.columns()}, dy.type);
        call.kernels().take_columns(call.tensor_rank(), call.how().tensor, dy, columns.view());
        dy = columns.view();
    }
    const std::int64_t width = dtable.shape.columns();
    for (const TokenRun& run : call.stream_runs()) {
        call.kernels().position_embedding_backward_weight(
            run.position,
            {dy.data + run.offset * width * size_of(dy.type), {1, run.count, width}, dy.type},
            dtable);
    }
}

}  // namespace

void token_embedding_forward(const OperatorCall& call) {
    call.upload_tokens(call.inputs().inputs, tokens_of(call));
    const TensorView table = call.parameter(call.op.parameters[0]);
    const std::int64_t columns = table.shape.columns();
    if (call.scattered()) {
        const int partial = call.named(call.op.forward_uses, ".partial");
        const TensorView sum = call.tensor(partial, {call.tokens(), columns});
        call.kernels().token_embedding_forward(tokens_of(call), first_entry(call, table), table,
                                               sum);
        return call.reduce_scatter(sum, call.stream(call.op.outputs[0]));
    }
    const TensorView y = call.tensor(call.op.outputs[0], {call.tokens(), columns});
    call.kernels().token_embedding_forward(tokens_of(call), first_entry(call, table), table, y);
    const bool partial =
        call.graph.parameters[call.op.parameters[0]].sharding == models::Sharding::Vocabulary;
    if (partial) call.all_reduce(y);
}

void token_embedding_backward_weight(const OperatorCall& call) {
    const TensorView dtable = call.gradient(call.op.parameters[0]);
    const std::int64_t columns = dtable.shape.columns();
    TensorView dy;
    if (call.scattered()) {
        const int gathered = call.named(call.op.backward_weight_uses, ".gathered");
        dy = call.tensor(gathered, {call.tokens(), columns});
        call.all_gather(call.stream(call.op.output_gradient), dy);
    } else {
        dy = call.tensor(call.op.output_gradient, {call.tokens(), columns});
    }
    call.kernels().token_embedding_backward_weight(tokens_of(call), first_entry(call, dtable), dy,
                                                   dtable);
}

void positions_forward(const OperatorCall& call) {
    const TensorView y = call.stream(call.op.outputs[0]);
    if (is_vit(call)) {
        call.kernels().class_token_forward(
            vit_patches(call, call.op.inputs[0]), call.parameter(call.op.parameters[0]),
            call.parameter(call.op.parameters[1]), vit_stream(call, call.op.outputs[0]));
    } else {
        call.kernels().copy(call.stream(call.op.inputs[0]), y);
        if (!call.op.parameters.empty()) add_positions(call, y);
    }
    if (call.dropout() > 0) call.drop_stream(y, y);
}

void positions_backward_input(const OperatorCall& call) {
    if (call.dropout() > 0) {
        const TensorView dy = call.stream(call.op.output_gradient);
        call.drop_stream(dy, dy);
    }
    if (!is_vit(call)) return;
    call.kernels().class_token_backward_input(vit_stream(call, call.op.output_gradient),
                                              vit_patches(call, call.op.input_gradient));
}

void positions_backward_weight(const OperatorCall& call) {
    if (call.op.parameters.empty()) return;
    if (!is_vit(call)) return add_position_gradients(call, call.gradient(call.op.parameters[0]));
    call.kernels().class_token_backward_weight(vit_stream(call, call.op.output_gradient),
                                               call.gradient(call.op.parameters[0]),
                                               call.gradient(call.op.parameters[1]));
}

}  // namespace debubble::exec
