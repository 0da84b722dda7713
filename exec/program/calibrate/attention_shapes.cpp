#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "exec/program/calibrate/operator_shapes.h"

namespace debubble::exec {
namespace {

using profile::OperatorInput;
using profile::OperatorRuns;

/// Which dimension of a query is which.
enum class Axes { BatchHeadsTokens, BatchTokensHeads };

/// The places of an operator's arguments; -1 for what it does not have. A backward's first argument
/// is the result's gradient, and its query the second.
struct AttentionOperator {
    std::string_view name;
    std::size_t arguments = 0;  ///< at least as many
    bool backward = false;
    Axes axes{};
    int causal = -1;
    int mask = -1;     ///< 0: none, 1: causal from the first keys on, 2: up to the last keys
    int window = -1;   ///< keys to the left, and to the right in the next argument
    int narrow = -1;   ///< a window that no table has, if it is more than 0
    int lengths = -1;  ///< where sequences of a batch end, of queries and keys; then the longest
};

/// Of two rows of a name the one of more arguments is that of the newer PyTorch.
constexpr AttentionOperator kAttentions[] = {
    {.name = "aten::_scaled_dot_product_flash_attention", .arguments = 7, .causal = 4},
    {.name = "aten::_scaled_dot_product_flash_attention_backward",
     .arguments = 15,
     .backward = true,
     .causal = 11},
    {.name = "aten::_flash_attention_forward",
     .arguments = 11,
     .axes = Axes::BatchTokensHeads,
     .causal = 8,
     .window = 11,
     .lengths = 3},
    {.name = "aten::_flash_attention_backward",
     .arguments = 15,
     .backward = true,
     .axes = Axes::BatchTokensHeads,
     .causal = 11,
     .window = 15,
     .lengths = 6},
    {.name = "aten::_scaled_dot_product_cudnn_attention", .arguments = 9, .causal = 6},
    {.name = "aten::_scaled_dot_product_cudnn_attention", .arguments = 7, .causal = 4},
    {.name = "aten::_scaled_dot_product_cudnn_attention_backward",
     .arguments = 16,
     .backward = true,
     .causal = 14},
    {.name = "aten::_scaled_dot_product_cudnn_attention_backward",
     .arguments = 15,
     .backward = true,
     .causal = 11},
    {.name = "aten::_cudnn_attention_forward", .arguments = 12, .causal = 10, .lengths = 4},
    {.name = "aten::_cudnn_attention_backward",
     .arguments = 15,
     .backward = true,
     .causal = 14,
     .lengths = 9},
    {.name = "aten::_scaled_dot_product_efficient_attention", .arguments = 8, .causal = 6},
    {.name = "aten::_scaled_dot_product_efficient_attention_backward",
     .arguments = 13,
     .backward = true,
     .causal = 11},
    {.name = "aten::_efficient_attention_forward",
     .arguments = 11,
     .axes = Axes::BatchTokensHeads,
     .mask = 9,
     .narrow = 13,
     .lengths = 4},
    {.name = "aten::_efficient_attention_backward",
     .arguments = 16,
     .backward = true,
     .axes = Axes::BatchTokensHeads,
     .mask = 14,
     .narrow = 18,
     .lengths = 6},
    {.name = "aten::_scaled_dot_product_flash_attention_for_cpu", .arguments = 7, .causal = 4},
    {.name = "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
     .arguments = 10,
     .backward = true,
     .causal = 7},
    {.name = "flash_attn::_flash_attn_forward",
     .arguments = 11,
     .axes = Axes::BatchTokensHeads,
     .causal = 5,
     .window = 6},
    {.name = "flash_attn::_flash_attn_backward",
     .arguments = 16,
     .backward = true,
     .axes = Axes::BatchTokensHeads,
     .causal = 11,
     .window = 12},
};

OperatorShape attention_missing(const char* why) {
    return {std::nullopt, why};
}

std::optional<std::int64_t> whole(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

class AttentionArguments {
public:
    AttentionArguments(const AttentionOperator& op, const std::vector<OperatorInput>& inputs)
        : op_(op), inputs_(inputs) {}

    const OperatorInput& at(int place) const {
        static const OperatorInput kMissing;
        const bool there = place >= 0 && place < std::ssize(inputs_);
        return there ? inputs_[place] : kMissing;
    }
    const OperatorInput& query() const { return at(op_.backward ? 1 : 0); }
    const OperatorInput& key() const { return at(op_.backward ? 2 : 1); }
    const OperatorInput& value() const { return at(op_.backward ? 3 : 2); }

    /// Nothing where it is not written.
    std::optional<bool> causal() const {
        const std::string& word = at(op_.mask >= 0 ? op_.mask : op_.causal).value;
        if (op_.mask < 0) {
            if (word == "True") return true;
            return word == "False" ? std::optional(false) : std::nullopt;
        }
        if (word == "0") return false;
        return word == "1" || word == "2" ? std::optional(true) : std::nullopt;
    }
    /// Keys that a query sees before itself; less than zero: all.
    std::int64_t left() const {
        return op_.window < 0 ? -1 : whole(at(op_.window).value).value_or(-1);
    }
    std::int64_t right() const {
        return op_.window < 0 ? -1 : whole(at(op_.window + 1).value).value_or(-1);
    }

private:
    const AttentionOperator& op_;
    const std::vector<OperatorInput>& inputs_;
};

struct Tokens {
    std::int64_t batch = 0;
    std::int64_t queries = 0;
    std::int64_t keys = 0;
};

/// Sequences packed one after another, [tokens, heads, width] or [1, tokens, heads, width], if all
/// have the same length.
std::optional<Tokens> packed_tokens(const AttentionOperator& op, const AttentionArguments& in) {
    const std::vector<std::int64_t>& query = in.query().dims;
    const std::size_t at = query.size() - 3;
    if (op.lengths < 0 || (at == 1 && (op.axes != Axes::BatchTokensHeads || query[0] != 1)))
        return std::nullopt;
    const std::vector<std::int64_t>& ends = in.at(op.lengths).dims;
    if (ends.size() != 1 || ends[0] < 2) return std::nullopt;
    const auto queries = whole(in.at(op.lengths + 2).value);
    const auto keys = whole(in.at(op.lengths + 3).value);
    const std::int64_t batch = ends[0] - 1;
    if (!queries || !keys || *queries < 1 || *keys < 1) return std::nullopt;
    const auto even = [&](std::int64_t all, std::int64_t longest) {
        return all % batch == 0 && all / batch == longest;
    };
    if (!even(query[at], *queries) || !even(in.key().dims[at], *keys)) return std::nullopt;
    return Tokens{batch, *queries, *keys};
}

const AttentionOperator* attention_operator(std::string_view name, std::size_t arguments) {
    for (const AttentionOperator& op : kAttentions)
        if (op.name == name && arguments >= op.arguments) return &op;
    return nullptr;
}

struct Heads {
    std::int64_t queries = 0;
    std::int64_t keys = 0;
    std::int64_t width = 0;
    std::int64_t value_width = 0;
};

/// What a table cannot have of masks, or nothing.
const char* mask_that_no_table_has(const AttentionOperator& op, const AttentionArguments& in,
                                   const Tokens& tokens) {
    const auto causal = in.causal();
    if (!causal) return "whether they are causal is not written (PyTorch 2.1 and later write it)";
    if (whole(in.at(op.narrow).value).value_or(0) > 0) return "a window of another kind";
    if (*causal && tokens.queries > tokens.keys) return "causal with more queries than keys";
    if (op.mask >= 0 && in.at(op.mask).value == "1" && tokens.queries != tokens.keys)
        return "causal from the first keys on, with fewer queries than keys";
    const bool all_later = in.right() < 0 || in.right() + 1 >= tokens.keys;
    const bool all_earlier = in.left() < 0 || in.left() + 1 >= tokens.keys;
    if (!*causal && in.right() != 0 && !(all_later && all_earlier)) return "a window to both sides";
    return nullptr;
}

OperatorShape shape_of(const AttentionOperator& op, const AttentionArguments& in) {
    const std::size_t rank = in.query().dims.size();
    if (in.key().dims.size() != rank || in.value().dims.size() != rank || rank < 3 || rank > 4)
        return attention_missing("sizes that do not fit together");
    const bool packed = rank == 3 || !in.at(op.lengths).dims.empty();
    Tokens tokens;
    std::size_t heads_at = 1;
    if (packed) {
        const auto even = packed_tokens(op, in);
        if (!even) return attention_missing("sequences of different lengths in one call");
        tokens = *even;
        heads_at = rank - 2;
    } else {
        const bool heads_first = op.axes == Axes::BatchHeadsTokens;
        heads_at = heads_first ? 1 : 2;
        const std::size_t tokens_at = heads_first ? 2 : 1;
        tokens = {in.query().dims[0], in.query().dims[tokens_at], in.key().dims[tokens_at]};
    }
    const Heads heads{in.query().dims[heads_at], in.key().dims[heads_at], in.query().dims.back(),
                      in.value().dims.back()};
    constexpr std::int64_t kMostSize = std::int64_t{1} << 40U;
    constexpr double kMost = 1e17;  // multiplications that a table may have
    double product = 1;
    for (const std::int64_t size : {tokens.batch, tokens.queries, tokens.keys, heads.queries,
                                    std::max(heads.width, heads.value_width)})
        product *= static_cast<double>(size);
    for (const std::int64_t size : {tokens.batch, tokens.queries, tokens.keys, heads.queries,
                                    heads.keys, heads.width, heads.value_width})
        if (size < 1 || size > kMostSize || product > kMost)
            return attention_missing("sizes of 0, or too large");
    if (heads.queries % heads.keys != 0 || in.key().dims.back() != heads.width)
        return attention_missing("sizes that do not fit together");
    const std::string dtype = plain_type(in.query().type);
    if (dtype.empty()) return attention_missing("attentions of other types than bf16, fp16, fp32");
    if (const char* why = mask_that_no_table_has(op, in, tokens)) return attention_missing(why);
    const bool causal = *in.causal() || in.right() == 0;
    const bool windowed = causal && in.left() >= 0 && in.left() + 1 < tokens.keys;
    TableKernel out{op.backward ? "attention_backward" : "attention_forward", dtype, {}};
    out.shape = {{"batch", tokens.batch},
                 {"seq_len", tokens.queries},
                 {"keys", tokens.keys},
                 {"head_num", heads.queries},
                 {"kv_head_num", heads.keys},
                 {"qk_head_dim", heads.width},
                 {"v_head_dim", heads.value_width},
                 {"causal", causal},
                 {"window", windowed ? in.left() + 1 : 0}};
    return {out, ""};
}

}  // namespace

bool is_attention_operator(std::string_view name) {
    return std::ranges::find(kAttentions, name, &AttentionOperator::name) != std::end(kAttentions);
}

OperatorShape attention_shape(const OperatorRuns& runs) {
    const AttentionOperator* const op = attention_operator(runs.name, runs.inputs.size());
    if (op == nullptr)
        return attention_missing("arguments of a version of PyTorch that is unknown");
    return shape_of(*op, AttentionArguments(*op, runs.inputs));
}

}  // namespace debubble::exec
