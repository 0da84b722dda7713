#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

/// Residual streams that are mixed around every part of a layer: hyper-connections (DeepSeek-V4;
/// arXiv:2409.19606 with the Sinkhorn rounds of arXiv:2512.24880), whose n streams a token's
/// coefficients n^2 + 2 n mix, and Kimi K3's attention residuals, which read a softmax over the
/// stored sums and the running one.
namespace debubble::models {

namespace {

using PlannedKind = op::Planned::Kind;

/// The coefficients of a part: one for each stream before and after it, and a square between.
std::int64_t coefficients(const GraphBuilder& builder) {
    const std::int64_t n = builder.model().streams;
    return n * n + 2 * n;
}

std::string prefix_of(const GraphBuilder& builder, const char* part) {
    return layer_names(builder.model(), builder.layer_index).prefix + part;
}

/// Parameters in fp32 of the product into coefficients: weight, shift, and three scales.
std::vector<int> mixing_parameters(GraphBuilder& builder, const std::string& name,
                                   std::int64_t outputs, std::int64_t scales) {
    const std::int64_t width = builder.model().streams * builder.model().hidden;
    return {builder.whole_parameter(name + ".fn", {outputs, width}),
            builder.whole_parameter(name + ".base", {outputs}, Initial::Zeros),
            builder.whole_parameter(name + ".scale", {scales}, Initial::Ones)};
}

Value open_hyper(GraphBuilder& builder, Value x, const char* part) {
    const std::int64_t bytes = builder.size.stream_bytes();
    const std::int64_t tokens = builder.size.stream_tokens;
    const std::int64_t n = builder.model().streams;
    const std::int64_t count = coefficients(builder);
    const OperatorPlace place{prefix_of(builder, part) + "_hc", std::string(part) + ".mix",
                              builder.layer_index};
    const Value y{builder.tensor(place.kernel + ".out", bytes),
                  builder.tensor("d." + place.kernel + ".out", bytes)};
    // Before and after the sigmoids and the Sinkhorn rounds.
    builder.mixing =
        Value{builder.tensor(place.kernel + ".coefficients", 2 * 4 * tokens * count),
              builder.tensor("d." + place.kernel + ".coefficients", 4 * tokens * count)};
    PlannedParts parts{PlannedKind::MixStreams, {x}, {y, *builder.mixing}};
    parts.parameters = mixing_parameters(builder, place.name, count, 3);
    parts.saved = {x.tensor, builder.mixing->tensor};
    const auto product = [&](const char* suffix, std::int64_t m, std::int64_t wide,
                             std::int64_t k) {
        return gemm(builder, place.kernel + suffix, place.layer, {1, m, wide, k, {}});
    };
    const std::int64_t width = n * builder.size.hidden;
    parts.forward = {product("", tokens, count, width),
                     moves(place.kernel + ".sum", place.layer, n * bytes, bytes)};
    parts.backward = {
        moves(place.kernel + ".sum.dx", place.layer, bytes + 2 * n * bytes, n * bytes),
        product(".dx", tokens, width, count), product(".dw", count, width, tokens)};
    add_planned(builder, place, std::move(parts));
    return y;
}

Value close_hyper(GraphBuilder& builder, Value x, const Branch& branch, int gradient,
                  const char* part) {
    const std::int64_t bytes = builder.size.stream_bytes();
    const std::int64_t n = builder.model().streams;
    const OperatorPlace place{branch.place.name, std::string(part) + ".spread",
                              builder.layer_index};
    const Value y{builder.tensor(place.kernel + ".out", n * bytes), gradient};
    PlannedParts parts{PlannedKind::SpreadStreams, {x, branch.value, *builder.mixing}, {y}};
    parts.saved = {x.tensor, branch.value.tensor, builder.mixing->tensor};
    const auto square = [&](const char* suffix) {
        return gemm(builder, place.kernel + suffix, place.layer,
                    {builder.size.stream_tokens, n, builder.size.hidden, n, {}});
    };
    parts.forward = {square(""), moves(place.kernel + ".add", place.layer, bytes, 0)};
    parts.backward = {square(".dx"), square(".dc"),
                      moves(place.kernel + ".add.dx", place.layer, bytes, bytes)};
    add_planned(builder, place, std::move(parts));
    builder.mixing.reset();
    return y;
}

/// The rows that a part's input is mixed of. The first stage's running sum is the embedding.
std::vector<Value> rows_of(const GraphBuilder& builder, Value x) {
    std::vector<Value> rows = builder.bank;
    if (!builder.begins_sum) rows.push_back(x);
    return rows;
}

std::int64_t bytes_of_rows(const GraphBuilder& builder, const std::vector<Value>& rows) {
    std::int64_t bytes = 0;
    for (const Value& row : rows) bytes += builder.graph.tensors[row.tensor].bytes.count;
    return bytes;
}

/// y = sum of p_i r_i over the rows, p = softmax of w . RMSnorm(r_i).
Value mixed_rows(GraphBuilder& builder, const OperatorPlace& place,
                 const std::vector<Value>& rows) {
    const std::int64_t bytes = builder.size.stream_bytes();
    const std::int64_t read = bytes_of_rows(builder, rows);
    const Value y{builder.tensor(place.kernel + ".out", bytes),
                  builder.tensor("d." + place.kernel + ".out", bytes)};
    PlannedParts parts{PlannedKind::MixStreams, rows, {y}};
    const std::int64_t hidden = builder.model().hidden;
    parts.parameters = {builder.norm_weight(place.name + ".norm.weight", hidden),
                        builder.whole_parameter(place.name + ".proj.weight", {1, hidden})};
    for (const Value& row : rows) parts.saved.push_back(row.tensor);
    parts.forward = {moves(place.kernel, place.layer, read, bytes)};
    parts.backward = {moves(place.kernel + ".dx", place.layer, 2 * read + bytes, read)};
    add_planned(builder, place, std::move(parts));
    return y;
}

Value open_residuals(GraphBuilder& builder, Value x, const char* part) {
    const bool first_part = std::string_view(part) == "attn" || !builder.layer().mixes();
    const bool puts_by = first_part && builder.layer_index % *builder.model().residual_block == 0;
    // Another stage sends the stored sums and the running one in one tensor.
    const bool sent = builder.graph.input == x.tensor;
    if (puts_by || sent) builder.bank.push_back(x);
    builder.begins_sum = puts_by || sent;
    const OperatorPlace place{prefix_of(builder, part) + "_res", std::string(part) + ".mix",
                              builder.layer_index};
    const Value y = mixed_rows(builder, place, rows_of(builder, x));
    builder.begins_sum = puts_by;
    return y;
}

Value close_residuals(GraphBuilder& builder, Value x, const Branch& branch, int gradient,
                      const char* part) {
    if (builder.begins_sum) {
        builder.begins_sum = false;
        return branch.value;
    }
    const std::int64_t bytes = builder.size.stream_bytes();
    const OperatorPlace place{branch.place.name, std::string(part) + ".residual",
                              builder.layer_index};
    const Value y{builder.tensor(place.kernel + ".out", bytes), gradient};
    PlannedParts parts{PlannedKind::SpreadStreams, {x, branch.value}, {y}};
    parts.forward = {moves(place.kernel, place.layer, 2 * bytes, bytes)};
    parts.backward = {moves(place.kernel + ".dx", place.layer, 2 * bytes, 2 * bytes)};
    add_planned(builder, place, std::move(parts));
    return y;
}

}  // namespace

Value widen_streams(GraphBuilder& builder, Value x, int gradient) {
    const std::int64_t n = builder.model().streams;
    if (n == 1) return x;
    const std::int64_t bytes = builder.size.stream_bytes();
    const Value y{builder.tensor("embedding.streams", n * bytes), gradient};
    PlannedParts parts{PlannedKind::WidenStream, {x}, {y}};
    parts.forward = {moves("embedding.streams", {}, bytes, n * bytes)};
    parts.backward = {moves("embedding.streams.dx", {}, n * bytes, bytes)};
    add_planned(builder, {"streams", "embedding.streams", {}}, std::move(parts));
    return y;
}

Value open_streams(GraphBuilder& builder, Value x, const char* part) {
    return builder.model().residual_block ? open_residuals(builder, x, part)
                                          : open_hyper(builder, x, part);
}

Value close_streams(GraphBuilder& builder, Value x, const Branch& branch, int gradient,
                    const char* part) {
    return builder.model().residual_block ? close_residuals(builder, x, branch, gradient, part)
                                          : close_hyper(builder, x, branch, gradient, part);
}

Value collapse_streams(GraphBuilder& builder, Value x) {
    if (!builder.model().mixes_streams()) return x;
    if (builder.model().residual_block) {
        std::vector<Value> rows = builder.bank;
        rows.push_back(x);
        return mixed_rows(builder, {"model.output_attn_res", "head.mix", {}}, rows);
    }
    const std::int64_t bytes = builder.size.stream_bytes();
    const std::int64_t n = builder.model().streams;
    const std::int64_t width = n * builder.size.hidden;
    const std::int64_t tokens = builder.size.stream_tokens;
    const Value y{builder.tensor("head.mix.out", bytes), builder.tensor("d.head.mix.out", bytes)};
    const int weights = builder.tensor("head.mix.coefficients", 4 * tokens * n);
    PlannedParts parts{PlannedKind::WidenStream, {x}, {y}};
    parts.parameters = mixing_parameters(builder, "model.hc_head", n, 1);
    parts.saved = {x.tensor, weights};
    const auto product = [&](const char* name, std::int64_t m, std::int64_t wide, std::int64_t k) {
        return gemm(builder, name, {}, {1, m, wide, k, {}});
    };
    parts.forward = {product("head.mix", tokens, n, width),
                     moves("head.mix.sum", {}, n * bytes, bytes)};
    parts.backward = {moves("head.mix.sum.dx", {}, (1 + n) * bytes, n * bytes),
                      product("head.mix.dx", tokens, width, n),
                      product("head.mix.dw", n, width, tokens)};
    add_planned(builder, {"model.hc_head", "head.mix", {}}, std::move(parts));
    return y;
}

Value sent_streams(GraphBuilder& builder, Value x) {
    if (builder.bank.empty()) return x;
    std::vector<Value> rows = builder.bank;
    if (!builder.begins_sum) rows.push_back(x);
    // The received running sum is part of this stage's running sum.
    const std::int64_t bytes = builder.graph.output_bytes().count;
    const Value y{builder.tensor("stage.sums", bytes), builder.tensor("d.output", bytes)};
    PlannedParts parts{PlannedKind::Copy, rows, {y}};
    parts.forward = {moves("stage.sums", {}, bytes, bytes)};
    parts.backward = {moves("stage.sums.dx", {}, bytes, bytes)};
    add_planned(builder, {"stage.sums", "stage.sums", {}}, std::move(parts));
    return y;
}

}  // namespace debubble::models
