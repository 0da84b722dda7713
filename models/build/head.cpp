#include <algorithm>

#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

namespace debubble::models {

namespace {

constexpr std::int64_t kLossChunkTokens = 1024;  ///< tokens of LossKernel::Chunked

/// Cross-entropy after logits that exist as a tensor of [tokens, vocabulary].
struct Loss {
    GraphBuilder& builder;
    Value logits;
    std::int64_t entries;  ///< tokens x vocabulary of the rank
    Operator op = start({"loss", "loss", {}});
    models::op::Loss roles = {};

    std::int64_t element() const { return builder.size.element; }
    int entry_tensor(const char* name, std::int64_t bytes_per_entry) {
        return builder.tensor(name, bytes_per_entry * entries);
    }
    /// The maximum, target logit and sum of exponentials of each token.
    void reduce_over_vocabulary() {
        if (!logits.cut) return;
        for (const char* name : {"loss.max", "loss.target", "loss.sum"}) {
            append(op.forward, collective(builder, name, {}, Collective::Kind::AllReduce,
                                          4 * builder.size.tokens));
        }
    }

    /// Megatron-LM's vocab-parallel cross-entropy (Shoeybi et al. 2019): a copy in fp32 is shifted,
    /// exponentiated and normalised in place and becomes the gradient. "Fused" keeps both the copy
    /// and the exponentials.
    void vocabulary_parallel(bool fused) {
        const std::int64_t e = element();
        const int softmax = entry_tensor("loss.softmax", 4);
        roles.softmax = softmax;
        roles.softmax_type = DataType::Fp32;
        op.saved = {softmax};
        op.forward_uses = {logits.tensor, softmax};
        if (fused) {
            roles.shifted = builder.scratch("loss.fp32", 4 * entries);
            op.forward_uses.push_back(*roles.shifted);
        }
        const std::int64_t passes = fused ? 2 : 4;  // in fp32: shift, exponential, sum, division
        op.forward = {moves("loss.cast", {}, (e + 4) * entries, 4 * entries),
                      moves("loss.softmax", {}, 4 * passes * entries, 4 * (passes - 1) * entries)};
        reduce_over_vocabulary();
        op.backward_input = {moves("loss.dx", {}, 8 * entries, (4 + e) * entries)};
        op.backward_input_uses = {softmax, logits.gradient};
    }

    /// One kernel that replaces the logits by their gradient.
    void in_place() {
        roles.softmax = logits.tensor;
        roles.softmax_type = builder.how().compute;
        op.saved = {logits.tensor};
        op.forward_uses = {logits.tensor};
        op.forward = {moves("loss", {}, 2 * element() * entries, element() * entries)};
        reduce_over_vocabulary();
        op.backward_input = {moves("loss.dx", {}, element() * entries, element() * entries)};
        op.backward_input_uses = {logits.tensor};
    }

    /// log_softmax and nll_loss; the caller's variable keeps the logits alive.
    void eager() {
        const std::int64_t e = element();
        const int log_softmax = entry_tensor("loss.log_softmax", e);
        roles.softmax = log_softmax;
        roles.softmax_type = builder.how().compute;
        op.saved = {logits.tensor, log_softmax};
        op.forward_uses = op.saved;
        op.forward = {moves("loss.log_softmax", {}, 2 * e * entries, e * entries)};
        op.backward_input = {moves("loss.nll.dx", {}, 0, e * entries),
                             moves("loss.log_softmax.dx", {}, 3 * e * entries, e * entries)};
        roles.softmax_gradient = builder.scratch("d.loss.log_softmax", e * entries);
        op.backward_input_uses = {logits.tensor, log_softmax, *roles.softmax_gradient,
                                  logits.gradient};
    }

    /// The same for `logits.float()`, of which only log_softmax's output is kept (torchtitan).
    /// Where ranks cut the vocabulary, DTensor's backward adds an exponential to the one-hot
    /// gradient and scales the sum, each in a tensor of its own
    /// (torch/distributed/tensor/parallel/loss.py).
    void eager_fp32(Value narrow) {
        const std::int64_t wide = 4 * entries;
        const int log_softmax = builder.tensor("loss.log_softmax", wide);
        roles.softmax = log_softmax;
        roles.softmax_type = DataType::Fp32;
        op.saved = {log_softmax};
        // The caller's variable has the logits in the compute type until the loss is there.
        roles.narrow = narrow.tensor;
        op.forward_uses = {narrow.tensor, logits.tensor, log_softmax};
        if (logits.cut) {
            roles.shifted = builder.scratch("loss.shifted", wide);
            op.forward_uses.push_back(*roles.shifted);
        }
        op.forward = {moves("loss.log_softmax", {}, 2 * wide, wide)};
        reduce_over_vocabulary();
        roles.softmax_gradient = builder.scratch("d.loss.log_softmax", wide);
        op.backward_input = {moves("loss.nll.dx", {}, 0, wide),
                             moves("loss.log_softmax.dx", {}, 2 * wide, wide)};
        op.backward_input_uses = {log_softmax, *roles.softmax_gradient};
        if (logits.cut) {
            roles.unscaled = builder.scratch("d.loss.sum", wide);
            op.backward_input_uses.push_back(*roles.unscaled);
        }
        op.backward_input_uses.push_back(logits.gradient);
    }

    /// torch.compile's: the forward reduces the logits to a number per token, and the backward
    /// makes their gradient in one kernel.
    void compiled() {
        const std::int64_t e = element();
        const std::int64_t rows = 4 * builder.size.tokens;
        const int log_sum_exp = builder.tensor("loss.log_sum_exp", rows);
        roles.softmax = logits.tensor;
        roles.softmax_type = builder.how().compute;
        roles.log_sum_exp = log_sum_exp;
        op.saved = {logits.tensor, log_sum_exp};
        op.forward_uses = op.saved;
        op.forward = {moves("loss", {}, 2 * e * entries, rows)};
        reduce_over_vocabulary();
        op.backward_input = {moves("loss.dx", {}, e * entries, e * entries)};
        op.backward_input_uses = {logits.tensor, log_sum_exp, logits.gradient};
    }
};

bool gradient_replaces_logits(const Execution& how) {
    return how.kernels.loss == LossKernel::TransformerEngine ||
           (how.compute == DataType::Fp32 && how.kernels.loss == LossKernel::Unfused);
}

/// The gradient of the product's output is written over it: one tensor stands for both.
void gradient_in_place(GraphBuilder& builder, Operator& op, op::Linear& product) {
    const op::Value value = product.y;
    for (std::vector<int>* uses : {&op.backward_input_uses, &op.backward_weight_uses}) {
        std::replace(uses->begin(), uses->end(), value.gradient, value.tensor);
    }
    product.y.gradient = value.tensor;
    builder.graph.tensors[value.gradient].bytes = Bytes{};
}

/// The head, with the loss taken over chunks of tokens so that the logits never
/// exist as a whole; the backward makes each chunk's logits again.
void chunked(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
             int weight, Value x) {
    const Sizes& size = builder.size;
    const std::int64_t e = size.element;
    const std::int64_t entries = size.tokens * size.vocab;
    const std::int64_t rows = std::min(kLossChunkTokens, size.tokens);
    linear(builder, place, shape, {{weight}, {}}, x);
    Operator& op = builder.graph.operators.back();
    const Kernel product = gemm(builder, "head", {}, {1, size.tokens, size.vocab, size.hidden, {}});
    const Kernel softmax = moves("loss", {}, 2 * e * entries, e * entries);
    // The output of linear() is one chunk here, and its gradient uses the same memory. Both
    // gradients are computed chunk by chunk, so a split backward cannot separate them.
    op::ChunkedLoss roles{std::get<op::Linear>(std::move(op.roles)), rows};
    const int logits = roles.head.y.tensor;
    builder.graph.tensors[logits].bytes = Bytes{e * rows * size.vocab};
    builder.graph.tensors[logits].held_as = MemoryClass::Workspace;
    op.backward_input_uses.insert(op.backward_input_uses.end(), op.backward_weight_uses.begin(),
                                  op.backward_weight_uses.end());
    op.backward_weight_uses.clear();
    gradient_in_place(builder, op, roles.head);
    op.forward.push_back(softmax);
    op.backward_input.insert(op.backward_input.begin(), {product, softmax});
    append(op.backward_input, std::move(op.backward_weight));
    op.backward_weight.clear();
    roles.softcap = builder.model().logit_softcap;
    if (roles.softcap) {
        op.forward.push_back(moves("logits.softcap", {}, e * entries, e * entries));
        op.backward_input.push_back(moves("logits.softcap.dx", {}, 2 * e * entries, e * entries));
    }
    op.roles = std::move(roles);
}

/// Capped logits. The backward makes them again of the product's, since the loss may write its
/// gradient over them.
Value capped(GraphBuilder& builder, Value logits, double cap) {
    const std::int64_t bytes = builder.graph.tensors[logits.tensor].bytes.count;
    const int made = builder.tensor("logits.softcap.out", bytes);
    const Value out{made,
                    gradient_replaces_logits(builder.how())
                        ? made
                        : builder.tensor("d.logits.softcap.out", bytes),
                    logits.cut};
    Operator op = start({"logits.softcap", "logits.softcap", {}}, logits);
    const std::int64_t columns = bytes / builder.size.element / builder.size.tokens;
    op.roles = op::SoftCap{logits, out, cap, builder.size.tokens, columns};
    op.saved = {logits.tensor};
    op.forward = {moves("logits.softcap", {}, bytes, bytes)};
    op.forward_uses = {logits.tensor, out.tensor};
    op.backward_input = {moves("logits.softcap.dx", {}, 2 * bytes, bytes)};
    op.backward_input_uses = {out.gradient, logits.tensor};
    if (logits.gradient != logits.tensor) op.backward_input_uses.push_back(logits.gradient);
    builder.graph.operators.push_back(std::move(op));
    return out;
}

/// The logits in fp32.
Value widened(GraphBuilder& builder, Value logits, std::int64_t entries) {
    const std::int64_t e = builder.size.element;
    const Value wide{builder.tensor("logits.fp32", 4 * entries),
                     builder.tensor("d.logits.fp32", 4 * entries), logits.cut};
    Operator op = start({"logits.cast", "logits.cast", {}}, logits);
    op.roles = op::Cast{logits, wide, DataType::Fp32, entries};
    op.forward = {moves("loss.cast", {}, e * entries, 4 * entries)};
    op.forward_uses = {logits.tensor, wide.tensor};
    op.backward_input = {moves("loss.cast.dx", {}, 4 * entries, e * entries)};
    op.backward_input_uses = {wide.gradient, logits.gradient};
    builder.graph.operators.push_back(std::move(op));
    return wide;
}

HeadWeight head_weight(GraphBuilder& builder) {
    const Architecture& model = builder.model();
    const StageNames names = stage_names(model);
    Sharding sharding{};
    if (model.tied_embedding) {
        sharding = builder.sharding_of(
            names.token_embedding, {Sharding::Vocabulary, Sharding::Column, Sharding::Replicated});
        if (sharding == Sharding::Column) sharding = Sharding::Row;
    } else {
        sharding = builder.sharding_of(names.head, {Sharding::Vocabulary, Sharding::Column,
                                                    Sharding::Row, Sharding::Replicated});
        if (sharding == Sharding::Column) sharding = Sharding::Vocabulary;
    }
    if (sharding == Sharding::Row && builder.how().kernels.loss == LossKernel::Chunked) {
        builder.refuse("a loss over chunks of tokens needs a head that is sharded by vocabulary");
    }
    if (model.tied_embedding && builder.graph.content.embedding) return {0, sharding};
    return {builder.parameter({names.head,
                               {model.vocab, model.hidden},
                               sharding,
                               sharding == Sharding::Row ? 1 : 0,
                               1,
                               model.tied_embedding ? names.token_embedding : ""}),
            sharding};
}

}  // namespace

void head_and_loss(GraphBuilder& builder, Value x) {
    const Value normed = final_norm(builder, x);
    const HeadWeight head = head_weight(builder);
    const std::vector<Value> values = predictions_ahead(builder, head.index, normed);
    for (int ahead = static_cast<int>(values.size()) - 1; ahead >= 0; --ahead)
        logits_and_loss(builder, head, values[ahead], ahead);
}

void head_of_streams(GraphBuilder& builder, Value all) {
    const std::vector<Value> values = unstacked(builder, all);
    const HeadWeight head = head_weight(builder);
    for (int ahead = static_cast<int>(values.size()) - 1; ahead >= 0; --ahead)
        logits_and_loss(builder, head, values[ahead], ahead);
}

Value final_norm(GraphBuilder& builder, Value x) {
    const StageNames names = stage_names(builder.model());
    return norm(builder, {names.final_norm, "ln_f", {}}, norm_parameters(builder, names.final_norm),
                x, {});
}

void logits_and_loss(GraphBuilder& builder, const HeadWeight& head, Value normed, int ahead) {
    const Sizes& size = builder.size;
    const auto [weight, cut] = head;
    builder.cut_vocabulary(cut == Sharding::Vocabulary);
    const OperatorPlace place{stage_names(builder.model()).head, "head", {}};
    LinearShape shape{builder.part(cut == Sharding::Row, size.hidden, "hidden columns"), size.vocab,
                      cut};
    shape.own_gather_buffer = true;
    if (builder.how().kernels.loss == LossKernel::Chunked) {
        chunked(builder, place, shape, weight, normed);
        std::get<op::ChunkedLoss>(builder.graph.operators.back().roles).ahead = ahead;
        return;
    }
    Value logits = linear(builder, place, shape, {{weight}, {}}, normed);
    if (gradient_replaces_logits(builder.how())) {
        Operator& product = builder.graph.operators.back();
        gradient_in_place(builder, product, std::get<op::Linear>(product.roles));
        logits.gradient = logits.tensor;
    }
    if (builder.model().logit_softcap)
        logits = capped(builder, logits, *builder.model().logit_softcap);
    if (builder.how().kernels.loss == LossKernel::EagerPyTorch) {  // it does not support cut logits
        logits = gathered(builder, {"logits", "logits", {}}, logits);
    }
    const std::int64_t entries =
        builder.graph.tensors[logits.tensor].bytes.count / builder.size.element;
    const LossKernel kernel = builder.how().kernels.loss;
    const Value narrow = logits;
    if (kernel == LossKernel::EagerFp32) logits = widened(builder, logits, entries);
    Loss loss{builder, logits, entries};
    loss.op.inputs = {logits.tensor};
    loss.roles.logits = logits;
    loss.roles.rows = size.tokens;
    loss.roles.columns = entries / size.tokens;
    loss.roles.cut = logits.cut;
    loss.roles.ahead = ahead;
    if (gradient_replaces_logits(builder.how())) {
        loss.in_place();
    } else if (kernel == LossKernel::EagerPyTorch) {
        loss.eager();
    } else if (kernel == LossKernel::EagerFp32) {
        loss.eager_fp32(narrow);
    } else if (kernel == LossKernel::Compiled) {
        loss.compiled();
    } else {
        loss.vocabulary_parallel(kernel == LossKernel::MegatronFused);
    }
    loss.op.roles = loss.roles;
    builder.graph.operators.push_back(std::move(loss.op));
}

}  // namespace debubble::models
