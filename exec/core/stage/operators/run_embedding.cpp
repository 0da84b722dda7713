#include <cmath>

#include "exec/core/stage/operators/operator_call.h"

/// Tokens, positions, and the patches of a ViT, up to the residual stream.
namespace debubble::exec {

namespace {

/// The vocabulary entry of row 0 of the rank's table.
std::int64_t first_entry(const OperatorCall& call, const op::TokenEmbedding& roles,
                         const TensorView& table) {
    const bool cut = roles.sharding == models::Sharding::Vocabulary;
    return cut ? call.tensor_rank() * table.shape[0] : 0;
}

/// The factor of embedded tokens where a network has one (Gemma).
double embedding_scale(const OperatorCall& call) {
    return std::sqrt(static_cast<double>(call.model().hidden));
}

TensorView tokens_of(const OperatorCall& call, const op::TokenEmbedding& roles) {
    return call.tensor(roles.tokens, {call.tokens()}, DataType::Int32);
}

/// [samples, 1 + patches, hidden]
TensorView rows_of_images(const OperatorCall& call, int index) {
    return call.tensor(index, {call.samples(), call.rows(), call.model().hidden});
}
TensorView patches_of_images(const OperatorCall& call, int index) {
    return call.tensor(index, {call.samples(), call.rows() - 1, call.model().hidden});
}

/// Adds positions from the whole learned table: under tensor parallelism a rank may have only its
/// columns.
void add_positions(const OperatorCall& call, const op::PositionEmbedding::Table& roles,
                   TensorView y) {
    TensorView table = call.parameter(roles.parameter);
    const std::int64_t hidden = call.model().hidden;
    ArenaTensor whole;
    if (roles.gathered) {
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

}  // namespace

void forward(const OperatorCall& call, const op::TokenEmbedding& roles) {
    const TensorView tokens = tokens_of(call, roles);
    call.upload_tokens(call.inputs().inputs, tokens, roles.ahead);
    const TensorView table = call.parameter(roles.table);
    const Shape whole{call.tokens(), table.shape.columns()};
    const TensorView sum = call.tensor(roles.partial.value_or(roles.y.tensor), whole);
    call.kernels().token_embedding_forward(tokens, first_entry(call, roles, table), table, sum);
    if (call.model().scaled_embedding) call.kernels().scale(embedding_scale(call), sum);
    if (roles.partial) return call.reduce_scatter(sum, call.stream(roles.y.tensor));
    if (roles.sharding == models::Sharding::Vocabulary) call.all_reduce(sum);
}

void backward_weight(const OperatorCall& call, const op::TokenEmbedding& roles) {
    const TensorView dtable = call.gradient(roles.table);
    const Shape whole{call.tokens(), dtable.shape.columns()};
    const TensorView dy = call.tensor(roles.gathered_gradient.value_or(roles.y.gradient), whole);
    if (roles.gathered_gradient) call.all_gather(call.stream(roles.y.gradient), dy);
    // Nothing reads the gradient after this.
    if (call.model().scaled_embedding) call.kernels().scale(embedding_scale(call), dy);
    call.kernels().token_embedding_backward_weight(tokens_of(call, roles),
                                                   first_entry(call, roles, dtable), dy, dtable);
}

void forward(const OperatorCall& call, const op::PositionEmbedding& roles) {
    const TensorView y = call.stream(roles.y);
    call.kernels().copy(call.stream(roles.x), y);
    if (roles.table) add_positions(call, *roles.table, y);
    if (call.dropout() > 0) call.drop_stream(y, y);
}

void backward_input(const OperatorCall& call, const op::PositionEmbedding& roles) {
    if (call.dropout() == 0) return;
    const TensorView dy = call.stream(roles.gradient);
    call.drop_stream(dy, dy);
}

void backward_weight(const OperatorCall& call, const op::PositionEmbedding& roles) {
    if (!roles.table) return;
    const TensorView dtable = call.gradient(roles.table->parameter);
    TensorView dy = call.stream(roles.gradient);
    const std::int64_t width = dtable.shape.columns();
    ArenaTensor columns;
    if (roles.table->gathered) {
        columns = call.temporary({call.stream_tokens(), width}, dy.type);
        call.kernels().take_columns(call.tensor_rank(), call.how().tensor, dy, columns.view());
        dy = columns.view();
    }
    for (const TokenRun& run : call.stream_runs()) {
        call.kernels().position_embedding_backward_weight(
            run.position,
            {dy.data + run.offset * width * size_of(dy.type), {1, run.count, width}, dy.type},
            dtable);
    }
}

void forward(const OperatorCall& call, const op::ClassToken& roles) {
    call.kernels().class_token_forward(patches_of_images(call, roles.patches.tensor),
                                       call.parameter(roles.token), call.parameter(roles.positions),
                                       rows_of_images(call, roles.y.tensor));
    const TensorView y = call.stream(roles.y.tensor);
    if (call.dropout() > 0) call.drop_stream(y, y);
}

void backward_input(const OperatorCall& call, const op::ClassToken& roles) {
    const TensorView dy = call.stream(roles.y.gradient);
    if (call.dropout() > 0) call.drop_stream(dy, dy);
    call.kernels().class_token_backward_input(rows_of_images(call, roles.y.gradient),
                                              patches_of_images(call, roles.patches.gradient));
}

void backward_weight(const OperatorCall& call, const op::ClassToken& roles) {
    call.kernels().class_token_backward_weight(rows_of_images(call, roles.y.gradient),
                                               call.gradient(roles.token),
                                               call.gradient(roles.positions));
}

}  // namespace debubble::exec
