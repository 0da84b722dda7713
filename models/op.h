#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "models/architecture.h"
#include "models/execution.h"
#include "models/sharding.h"

/// The kinds of operators. An alternative of `Roles` gives by name the part that each tensor or
/// parameter plays in the operator's passes: indices into StageGraph::tensors, or where it says so
/// StageGraph::parameters. A role that only some executions have is optional. Shapes are those of
/// one rank: [T] tokens of the pass, [Ts] tokens of the residual stream (T / t with sequence
/// parallelism), [h] hidden, [q] columns of all queries, [kv] columns of all keys, [V] its entries
/// of the vocabulary. Elements are of the compute type where no other is named.
namespace debubble::models::op {

/// A tensor between operators, and its gradient of the same shape.
struct Value {
    int tensor = 0;
    int gradient = 0;
    friend bool operator==(const Value&, const Value&) = default;
};

/// Looks up the rows of a table by token.
struct TokenEmbedding {
    int table = 0;  ///< parameter [V, h or h / t]
    Sharding sharding{};
    bool scaled = false;                   ///< y is multiplied by the root of h
    int ahead = 0;                         ///< tokens are those that come so many places later
    int tokens = 0;                        ///< int32 [T]
    Value y;                               ///< [Ts, h], or [T, h / t] for a table cut by columns
    std::optional<int> partial;            ///< [T, h] before sequence parallelism scatters the sum
    std::optional<int> gathered_gradient;  ///< [T, h] gradient of y, from all of its ranks
    std::optional<int> table_gradient;     ///< set where it is made apart from the main gradient
};

/// Learned positions, dropout, or both.
struct PositionEmbedding {
    /// A table cut by columns is gathered before the sum.
    struct GatheredTable {
        int part = 0;
        int whole = 0;
    };
    struct Table {
        int parameter = 0;  ///< [positions, h or h / t]
        std::optional<GatheredTable> gathered;
        std::optional<int> gradient;  ///< set where it is made apart from the main gradient
    };
    int x = 0;         ///< [Ts, h]
    int y = 0;         ///< [Ts, h]
    int gradient = 0;  ///< of both
    std::optional<Table> table;
    std::optional<int> mask;  ///< bytes
};

/// The class token before the patches of each image, and learned positions.
struct ClassToken {
    Value patches;            ///< [b, patches, h]
    Value y;                  ///< [b, 1 + patches, h]
    int token = 0;            ///< parameter
    int positions = 0;        ///< parameter
    std::optional<int> mask;  ///< bytes
};

/// The tensors that a product in 8 or 4 bits reads instead of its operands, and those that are
/// gathered from. `rows` are summed over their columns, `columns` over their rows; one tensor may
/// be both.
struct NarrowCopies {
    int x_rows = 0;
    int x_columns = 0;   ///< kept for the weight's gradient, unless x itself is
    int y_gradient = 0;  ///< the tensor that is cast
    int y_gradient_rows = 0;
    int y_gradient_columns = 0;
    std::optional<int> gathered_rows = {};  ///< of the gradient of all ranks
    std::optional<int> gathered_columns = {};
    std::optional<int> x_again = {};       ///< cast in the backward, where x itself is kept
    std::optional<int> x_transposed = {};  ///< of the gathered x
    std::optional<int> y_gradient_transposed = {};  ///< of the gathered gradient
    std::optional<int> weight = {};                 ///< cast in the forward, where no cast is kept
    std::optional<int> weight_again = {};
    friend bool operator==(const NarrowCopies&, const NarrowCopies&) = default;
};

/// y [rows, outputs] = x [rows, inputs] W + bias, as tensor parallelism cuts it. The weights lie
/// side by side and are one matrix, and so do the biases.
struct Linear {
    int x = 0;
    std::optional<int> x_gradient;  ///< unset after raw input
    Value y;
    std::vector<int> weights;  ///< parameters
    std::vector<int> biases;   ///< parameters; may be empty
    std::int64_t rows = 1;
    std::int64_t inputs = 1;
    std::int64_t outputs = 1;
    Sharding sharding{};                 ///< cut of the product
    std::optional<int> x_gradient_part;  ///< [rows, inputs] before it is added to the gradient that
                                         ///< x has from another operator
    bool transposed = false;             ///< weights are stored [inputs, outputs]
    bool gathers_x = false;  ///< x is [rows / t, inputs] before sequence parallelism gathers it
    std::optional<int> gathered;        ///< x of all ranks in the forward; if unset, in a static
                                        ///< buffer
    std::optional<int> gathered_again;  ///< x of all ranks in the backward-weight; may be the
                                        ///< forward's, kept
    std::optional<int> x_gradient_partial;   ///< [rows, inputs] before it is scattered
    std::optional<int> partial;              ///< [rows, outputs] before y is scattered
    std::optional<int> y_gradient_gathered;  ///< [rows, outputs] gradient of all ranks
    std::optional<int> weight_gradient;      ///< set where it is made apart from the main gradient
    std::optional<NarrowCopies> narrow = {};

    bool cuts_outputs() const {
        return sharding == Sharding::Column || sharding == Sharding::Vocabulary;
    }
    bool cuts_inputs() const { return sharding == Sharding::Row; }
};

/// A convolution over patches, as a product over the pixels of each: x is cut out of the images.
struct PatchEmbedding {
    Linear product;
};

/// A product for each expert, over the rows that were sent to it, which are in the experts' order.
struct ExpertProducts {
    Value x;  ///< [rows of all experts, inputs]
    Value y;
    std::vector<int> weights;  ///< parameters, expert by expert
    std::vector<int> biases;   ///< parameters, expert by expert, each of a product's weights one;
                               ///< may be empty
    std::int64_t experts = 1;  ///< on this rank
    std::int64_t rows = 1;     ///< rows of all of them together, as planned: a router may send
                               ///< fewer
    std::int64_t inputs = 1;
    std::int64_t outputs = 1;  ///< outputs of one expert
    std::optional<int> weight_gradient;
    std::optional<NarrowCopies> narrow = {};
};

struct Norm {
    models::Norm function{};
    Value x;                        ///< [Ts, h], or wider in latent attention
    Value y;                        ///< [Ts, h], or the first columns of x
    int gain = 0;                   ///< parameter
    std::optional<int> shift = {};  ///< parameter of a layer norm
    int statistics = 0;             ///< fp32 [Ts, 2] for a fused layer norm, [Ts] for an RMS norm
    std::optional<int> normalised = {};  ///< x normalised, of a norm that is not fused
    /// The gradient that reaches x past the branch that the norm opens: it is added.
    std::optional<int> through = {};
    std::optional<int> x_gradient_part = {};  ///< [Ts, h] gradient before the sum, where one tensor
                                              ///< is both
};

/// Queries, keys and values of an attention.
struct Heads {
    enum class Layout : std::uint8_t {
        Packed,  ///< a token's queries, keys and values side by side: the product's own rows
        Apart,   ///< all queries, then all keys, then all values
    };
    Layout layout{};
    Value queries;              ///< queries alone if `keys` is set, else queries, keys and values
    std::optional<Value> keys;  ///< keys, then values, where slices of the sequence share them
    std::int64_t heads = 1;     ///< on this rank
    std::int64_t kv_heads = 1;
    std::int64_t head_dim = 1;
    std::int64_t value_dim = 1;
    bool gates = false;  ///< a packed product has a gate beside the queries of each head

    std::int64_t query_columns() const { return heads * head_dim; }
    std::int64_t key_columns() const { return kv_heads * head_dim; }
    std::int64_t value_columns() const { return kv_heads * value_dim; }
    /// With the gates of an output gate, where they are in the product.
    std::int64_t columns() const {
        return (gates ? 2 : 1) * query_columns() + key_columns() + value_columns();
    }
};

/// Copies heads out of the packed product [T, q + 2 kv].
struct SplitHeads {
    Value packed;
    Heads heads;
    bool rotates = false;            ///< rotary positions, in the copy
    std::optional<int> tables;       ///< tables of a rotation that is not fused, kept
    std::optional<Value> gate = {};  ///< [T, q] of an output gate, kept
};

/// x as the input of a branch that no norm opens: y is the same tensor, and its gradient is added
/// to the one that reaches x past the branch.
struct OpenBranch {
    Value x;          ///< [Ts, h]
    Value y;          ///< [Ts, h]
    int through = 0;  ///< [Ts, h] may be the gradient of x
};

/// RMS norms of every head of queries and of keys, in place in the packed product.
struct HeadNorm {
    Heads heads;
    int query_gain = 0;  ///< parameter [d]
    int key_gain = 0;    ///< parameter [d]
    int kept = 0;        ///< [T, q + kv] queries and keys before it
    int statistics = 0;  ///< fp32 [T, heads + kv_heads]
};

/// RMS norms of all queries' columns together and of all keys', in place in the packed product.
/// Tensor-parallel ranks, which have some of the heads each, add up their sums of squares.
struct WidthNorm {
    Heads heads;
    int query_gain = 0;  ///< parameter [q]
    int key_gain = 0;    ///< parameter [kv]
    int kept = 0;        ///< [T, q + kv] queries and keys before it
    int statistics = 0;  ///< fp32 [T, 2]
    int sums = 0;        ///< fp32 [T, 2] of squares; of gradients times values in the backward
    int gradient_sums = 0;
};

/// RMS norms without weights of every head of queries and of keys, in place in the packed product.
/// They stand before the rotation, which changes the norm of no head, though Llama 4 writes them
/// after it.
struct HeadL2Norm {
    Heads heads;
    int kept = 0;        ///< [T, q + kv] queries and keys before it
    int statistics = 0;  ///< fp32 [T, heads + kv_heads]
};

/// Puts the heads of latent attention together: queries and keys have columns of their own and
/// rotated ones, which the keys of a token share.
struct LatentHeads {
    Value queries;       ///< [T, heads d]
    Value keys_values;   ///< [T, heads (d - r + v)]
    Value rotated_keys;  ///< [Ts, key rank + r]: the last r columns are rotated
    Heads heads;
    std::optional<int> gathered;           ///< [T, r] of all ranks, with sequence parallelism
    std::optional<int> gathered_gradient;  ///< [T, r] of this rank's heads, before the ranks' sum
};

/// y = a + b of two branches that have one input, all [Ts, h], with one gradient.
struct AddBranches {
    Value a;
    Value b;
    Value y;
};

/// Rotates queries and keys inside the packed product.
struct Rope {
    Heads heads;
};

/// The tensors that the fused kernel keeps and uses.
struct FlashKernel {
    int log_sum_exp = 0;                ///< fp32 [T, heads]
    std::optional<int> query_gradient;  ///< fp32 [T, q]
};

/// The tensors with one entry per pair of query and key.
struct Probabilities {
    int softmax = 0;
    std::optional<int> mask;  ///< bytes
    std::optional<int> dropped;
};

/// Scores, softmax and context as kernels of their own.
struct UnfusedKernel {
    Probabilities forward;
    Probabilities backward;  ///< the same, or made again
    int scores = 0;
    int probabilities_gradient = 0;
    int scores_gradient = 0;
};

/// Keys and values travel around the context-parallel ranks, two chunks at a time.
struct RingKeys {
    int forward = 0;
    int backward = 0;
    int gradient = 0;
};

/// The keys and values of all context-parallel ranks: as sent [ranks, 2, T, kv], and in the order
/// of the sequence.
struct GatheredKeys {
    int sent = 0;
    int joined = 0;
    int sent_again = 0;
    int joined_again = 0;
    int joined_gradient = 0;
    /// The gradients that a slice gets back, to be added to the sums of later ones.
    std::optional<int> chunk_gradient;
};

/// The keys and values of the slices up to this one, side by side.
struct SeenKeys {
    int forward = 0;
    int backward = 0;
    int gradient = 0;
};

/// An output that the backward gets by repeating the exchange of its result.
struct ExchangedAgain {
    int out = 0;
    int exchanged = 0;
};

struct Attention {
    Heads in;
    Value out;  ///< [T, q]
    std::variant<FlashKernel, UnfusedKernel> kernel = {};
    std::optional<RingKeys> ring = {};
    std::optional<GatheredKeys> gathered = {};
    std::optional<SeenKeys> seen = {};
    std::optional<int> packed = {};                ///< the product that the values are a view of
    std::optional<ExchangedAgain> out_again = {};  ///< not kept, but made again for the backward
    /// Parameter [heads]: a logit of each head that takes part in the softmax. Its gradient is made
    /// in the backward-input.
    std::optional<int> sinks = {};
};

/// The nonlinearity of an MLP; a gated one reads gate and value side by side.
struct Activation {
    /// The weight of each row, applied here instead of where rows are combined.
    struct RowWeights {
        int rows = 0;      ///< fp32 [rows]
        int gradient = 0;  ///< gradient of the router's weights
    };
    models::Activation function{};
    Value x;  ///< [rows, columns], twice the columns if gated
    Value y;  ///< [rows, columns]
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    bool of_experts = false;       ///< rows are planned: a router may send fewer
    std::optional<int> silu = {};  ///< silu of a gated one that is not fused, kept
    std::optional<RowWeights> weights = {};

    bool gated() const { return is_gated(function); }
};

/// y = x + dropout(branch), all [Ts, h].
struct Residual {
    int x = 0;
    int branch = 0;
    int y = 0;
    int gradient = 0;         ///< gradient of y, and of x
    int branch_gradient = 0;  ///< the same tensor where nothing is dropped
    std::optional<int> mask;  ///< bytes
    std::optional<int> dropped;
};

/// Every rank's columns side by side, [T, columns] from [T, columns / t]; gradients are sliced.
struct GatherColumns {
    Value x;
    Value y;
    std::int64_t columns = 1;
};

/// A rank's columns, [T, columns / t] from [T, columns]; gradients are gathered.
struct SliceColumns {
    Value x;
    Value y;
    std::int64_t columns = 1;
};

/// Context-parallel ranks exchange tokens for heads, or back.
struct ExchangeHeads {
    Value x;
    Value y;
    int sorted = 0;
    int sorted_gradient = 0;
};

/// y = x sigmoid(gate), all [T, columns].
struct OutputGate {
    Value x;
    Value gate;
    Value y;
    std::int64_t columns = 1;
};

/// y = branch sigmoid(tokens w), one logit for each token.
struct SharedGate {
    int weight = 0;  ///< parameter [1, h]
    Value tokens;    ///< [Ts, h]; the gradient is added to
    Value branch;    ///< [Ts, h]
    Value y;         ///< [Ts, h]
    int scores = 0;  ///< fp32 [Ts]
};

/// y = SiLU of the causal convolution of each of the first columns of x.
struct Convolution {
    Value x;         ///< [T, at least columns]
    Value y;         ///< [T, columns]
    int weight = 0;  ///< parameter [columns of all ranks, 1, taps]
    std::int64_t tokens = 1;
    std::int64_t columns = 1;
};

/// Mamba-2's convolution, scan and gate in one function. With [P] columns of a head, [N] values of
/// its state for each, [G] groups, [C] tokens of a chunk: the columns of `in` are gate and values,
/// [heads P] each, B and C, [G N] each, and a step for each head.
struct StateSpaceScan {
    models::Mamba part;  ///< with the heads and groups of this rank
    std::int64_t tokens = 1;
    std::int64_t chunks = 1;  ///< of all sequences
    Value in;
    Value out;                                 ///< [T, heads P]
    int convolution = 0;                       ///< parameter
    std::optional<int> convolution_bias = {};  ///< parameter
    int decay = 0;                             ///< parameter A_log [heads of all ranks]
    int skip = 0;                              ///< parameter D
    int step_bias = 0;                         ///< parameter
    int ungated = 0;                           ///< [T, heads P] before the gate, kept
    int convolved = 0;                         ///< [T, heads P + 2 G N]
    int convolved_again = 0;
    int convolved_gradient = 0;
    int scores = 0;  ///< fp32 [chunks, G, C, C]
    int scores_again = 0;
    int states = 0;  ///< fp32 [chunks, heads, P, N]
    int states_again = 0;
    int states_gradient = 0;
};

/// The chunk rule of gated delta nets. [k] and [v] are the widths of a head, [C] the tokens of a
/// chunk; heads are the value heads.
struct DeltaRule {
    models::DeltaNet part;  ///< with the heads of this rank
    std::int64_t tokens = 1;
    std::int64_t chunks = 1;  ///< of all sequences
    Value convolved;          ///< [T, queries, keys, values]
    Value projected;          ///< the layer's products, with the rates of each head
    Value out;                ///< [T, heads v]
    int decay = 0;            ///< parameter A_log [value heads of all ranks]
    int rate_bias = 0;        ///< parameter
    int heads = 0;  ///< [T, heads (2 k + v)] normalised queries and keys, and values, kept
    int heads_gradient = 0;
    int rates = 0;    ///< [T, heads] decays in fp32 and rates of correction, kept
    int inverse = 0;  ///< [T, heads C] of the chunks' triangular systems, kept
    int updates = 0;  ///< [T, heads (k + v)]
    int updates_again = 0;
    int states = 0;  ///< [chunks, heads, k, v]
    int states_again = 0;
    int states_gradient = 0;
};

/// RMS norms of equal groups of columns, times SiLU(gate) if there is one.
struct GroupedNorm {
    Value x;                    ///< [T, columns]
    std::optional<Value> gate;  ///< [T, at least columns]
    Value y;                    ///< [T, columns]
    int gain = 0;               ///< parameter: of all columns, or of one group's
    int statistics = 0;         ///< fp32 [T, groups]
    std::int64_t tokens = 1;
    std::int64_t columns = 1;
    std::int64_t groups = 1;
};

/// Puts heads side by side in a tensor of their own.
struct CopyContext {
    Value x;
    Value y;
};

/// Takes the first row of each image.
struct PickClassToken {
    Value x;  ///< [b, 1 + patches, h]
    Value y;  ///< [b, h]
};

/// The choice of experts for each token, and their weights.
struct Router {
    int gate = 0;             ///< parameter [experts, h]
    std::optional<int> bias;  ///< parameter [experts]
    Value tokens;             ///< [Ts, h]; the gradient is added to
    Value weights;            ///< fp32 [Ts, experts of the model], zero for experts that a token
                              ///< does not go to
    int logits = 0;           ///< [Ts, experts]; kept where the backward needs them
    int logits_gradient = 0;  ///< [Ts, experts]
    int tokens_gradient_part = 0;  ///< [Ts, h]
    bool keeps_logits = false;
    /// StageGraph::buffers [experts]: is added to scores for the choice alone.
    std::optional<int> correction = {};
    /// fp32 [sequences, experts], or [1, experts]: how many of the tokens that share a term of the
    /// loss have each expert among their best, kept where the loss has such a term.
    std::optional<int> counts = {};
    /// fp32 [Ts, experts]: the weights without those of tokens that an expert beyond its capacity
    /// drops, where experts have one. Rows follow these.
    std::optional<int> kept = {};
    std::int64_t capacity = 0;  ///< tokens of this rank that an expert takes at most
};

/// Sorts each token's rows by the experts of the model that its weights name.
struct Permute {
    Value tokens;     ///< [Ts, h]
    Value rows;       ///< [Ts k, h]
    int weights = 0;  ///< the router's weights, or those that it kept
    /// Gradient of the router's weights, where a token's row is multiplied by its weight.
    std::optional<int> weights_gradient = {};
};

/// Moves rows on their way to the experts, or back. Gradients go the other way.
struct Dispatch {
    enum class Kind : std::uint8_t {
        Exchange,  ///< between the ranks that share the experts: those of a rank's experts are side
                   ///< by side at first, those of a sender then
        Gather,    ///< of the ranks that cut each expert; on the way back their sums are scattered
        Sort,      ///< of each sender's rows by expert into each expert's rows by sender
    };
    Kind kind{};
    bool returns = false;  ///< from the experts
    Value x;               ///< [rows, h], as many as came
    Value y;               ///< [rows, h]
};

/// The weighted sum of the outputs of a token's experts.
struct Combine {
    struct Weighed {
        Value weights;  ///< the router's weights
        int rows = 0;
        int rows_gradient = 0;
    };
    Value rows;       ///< [Ts k, h]
    Value y;          ///< [Ts, h]
    int weights = 0;  ///< the router's weights, or those that it kept: whose rows they are
    /// Unset if the experts' activation has applied the weights, or their input had them.
    std::optional<Weighed> weighed;
};

/// a and b side by side.
struct Concat {
    Value a;  ///< [Ts, h]
    Value b;  ///< [Ts, h]
    Value y;  ///< [Ts, 2 h]
};

/// A rank's tokens of the residual stream, of a value that all tensor-parallel ranks have;
/// gradients are gathered.
struct ScatterTokens {
    Value x;  ///< [T, h]
    Value y;  ///< [Ts, h]
};

/// y = cap tanh(x / cap) of logits [rows, columns].
struct SoftCap {
    Value x;
    Value y;
    double cap = 1;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
};

/// Cross-entropy over logits [rows, columns].
struct Loss {
    Value logits;     ///< one tensor is both where the gradient is written over the logits
    int softmax = 0;  ///< tensor from which the backward makes the gradient; may be the logits
    DataType softmax_type{};
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    bool cut = false;                 ///< a rank has a share of the vocabulary
    std::optional<int> shifted = {};  ///< fp32, in addition to the softmax
    std::optional<int> softmax_gradient = {};
    int ahead = 0;  ///< targets are the next tokens' next, so many places later
};

/// The head with its loss, some tokens at a time. The product's y is one chunk of logits, and
/// its gradient the same memory; all gradients are made in the backward-input.
struct ChunkedLoss {
    Linear head;
    std::int64_t rows = 1;  ///< rows of a chunk
    std::optional<double> softcap = {};
    int ahead = 0;  ///< targets are the next tokens' next, so many places later
};

}  // namespace debubble::models::op

namespace debubble::models {

using Roles =
    std::variant<op::TokenEmbedding, op::PositionEmbedding, op::PatchEmbedding, op::ClassToken,
                 op::Norm, op::Linear, op::ExpertProducts, op::SplitHeads, op::OpenBranch,
                 op::HeadNorm, op::WidthNorm, op::HeadL2Norm, op::LatentHeads, op::Rope,
                 op::Attention, op::AddBranches, op::Activation, op::Residual, op::GatherColumns,
                 op::SliceColumns, op::ExchangeHeads, op::CopyContext, op::PickClassToken,
                 op::Router, op::OutputGate, op::SharedGate, op::Convolution, op::StateSpaceScan,
                 op::DeltaRule, op::GroupedNorm, op::Permute, op::Dispatch, op::Combine, op::Concat,
                 op::ScatterTokens, op::SoftCap, op::Loss, op::ChunkedLoss>;

}  // namespace debubble::models
