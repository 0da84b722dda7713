#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "models/graph.h"

/// The pieces from which build_stage puts a stage's graph together. Private to
/// the folder: users see graph.h.
namespace debubble::models {

/// Extents on one rank, after tensor, sequence and context parallelism. The
/// letters of the literature are in brackets.
struct Sizes {
    std::int64_t element = 2;  ///< bytes of the compute type
    std::int64_t samples = 1;  ///< [b]
    std::int64_t tokens = 1;   ///< [T] of a microbatch's slice on this context rank
    std::int64_t stream_tokens =
        1;                    ///< [Ts] of the residual stream: T / t with sequence parallelism
    std::int64_t hidden = 1;  ///< [h]
    std::int64_t heads = 1;   ///< [a], or [a / t] where a layer's heads are cut
    std::int64_t kv_heads = 1;
    std::int64_t query_width = 1;    ///< [q] heads x head dimension
    std::int64_t key_width = 1;      ///< [kv]
    std::int64_t ffn = 1;            ///< [f] as heads
    std::int64_t gates = 1;          ///< [g] 2 if gated
    std::int64_t vocab = 1;          ///< [V], padded and cut where the vocabulary is
    std::int64_t experts = 0;        ///< on this rank
    std::int64_t expert_rows = 0;    ///< that come to each of them
    std::int64_t expert_ffn = 0;     ///< [f] of one expert on this rank
    std::int64_t queries = 1;        ///< per sample
    std::int64_t keys = 1;           ///< per sample that any query of this pass may see
    std::int64_t balanced_keys = 1;  ///< makes the causal pair count of FlashAttention exact
    int tensor = 1;                  ///< [t]
    bool scattered = false;          ///< sequence parallelism is on

    std::int64_t stream_bytes() const { return element * stream_tokens * hidden; }
    std::int64_t full_stream_bytes() const { return element * tokens * hidden; }
    std::int64_t all_expert_rows() const { return experts * expert_rows; }
};

/// Heads, MLP and vocabulary are not cut yet: that is a matter of each parameter
/// (cuts.cpp). Throws InputError when the sequence does not divide.
Sizes sizes_of(const Architecture& architecture, const Execution& execution);
std::int64_t padded_vocabulary(const Architecture& architecture, const Execution& execution);

/// A tensor that flows from operator to operator, and its gradient.
struct Value {
    int tensor = 0;
    int gradient = 0;
    bool cut = false;  ///< a rank has 1/t of its columns, by tensor parallelism
};

/// Queries, keys and values of an attention: in one tensor, or where the sequence is sliced
/// in two, since later slices see the keys.
struct SplitHeads {
    Value queries;  ///< or all three, which may be the packed product itself
    int keys = -1;
    int key_gradient = -1;
};

struct GraphBuilder {
    StageGraph graph;
    Sizes size;
    std::vector<Diagnostic> mistakes;

    const Architecture& model() const { return graph.architecture; }
    const Execution& how() const { return graph.execution; }
    int tensor(std::string name, std::int64_t bytes) {
        graph.tensors.push_back({std::move(name), Bytes{bytes}, MemoryClass::Activations});
        return static_cast<int>(graph.tensors.size()) - 1;
    }
    /// Lives inside one pass.
    int scratch(std::string name, std::int64_t bytes) {
        const int index = tensor(std::move(name), bytes);
        graph.tensors.back().held_as = MemoryClass::Workspace;
        return index;
    }
    int parameter(Parameter parameter) {
        graph.parameters.push_back(std::move(parameter));
        return static_cast<int>(graph.parameters.size()) - 1;
    }
    /// Every mistake is said once, and only a few however many layers make them.
    void refuse(std::string sentence);
    /// A rank's part of `whole` if it is cut, which `whole` must allow.
    std::int64_t part(bool cut, std::int64_t whole, const char* what);
    /// The model's last override for a parameter.
    Sharding asked_for(const std::string& parameter, Sharding usual) const;
    /// How a parameter is cut: the model's last override for it, which must be among
    /// `possible`, or else the first of these, Megatron-LM's.
    Sharding sharding_of(const std::string& parameter, const std::vector<Sharding>& possible);
    /// Of a product that may have several weights, which must be cut alike.
    Sharding sharding_of(const std::vector<int>& parameters);
    /// A parameter that every rank has whole.
    int whole_parameter(const std::string& name, std::vector<std::int64_t> shape);
    void cut_heads(bool cut);
    void cut_ffn(bool cut);
    void cut_vocabulary(bool cut);

    /// Hidden dropout runs: a branch's gradient is not the stream's.
    bool drops() const { return how().hidden_dropout || how().kernels.dropout_masks_always; }
    /// Its masks exist.
    bool masks() const { return drops() && !how().kernels.replayed_dropout; }
};

/// Which operator is being built: names and the layer it belongs to.
struct OperatorPlace {
    std::string name;    ///< "h.3.mlp.c_fc"
    std::string kernel;  ///< "mlp.fc1"
    std::optional<int> layer;
};

Operator start(const OperatorPlace& place, OperatorKind kind);
/// Of one value from another.
Operator start(const OperatorPlace& place, OperatorKind kind, Value x, Value y);
Kernel gemm(const GraphBuilder& builder, const std::string& name, std::optional<int> layer,
            Gemm extents);
Kernel moves(const std::string& name, std::optional<int> layer, std::int64_t read,
             std::int64_t written);
/// Empty when the group has one rank.
std::vector<Kernel> collective(const GraphBuilder& builder, const std::string& name,
                               std::optional<int> layer, Collective::Kind kind, std::int64_t bytes);
void append(std::vector<Kernel>& kernels, std::vector<Kernel> more);

/// Matrix product with its sharding: column cuts outputs, row cuts inputs, and the
/// communication follows from it (Shoeybi et al. 2019; with sequence parallelism
/// Korthikanti et al. 2022, figures 5 and 6). An input that is not as the product needs
/// it is gathered or sliced first; a column-cut output stays cut.
struct LinearShape {
    std::int64_t inputs = 1;   ///< on this rank
    std::int64_t outputs = 1;  ///< on this rank
    Sharding sharding = Sharding::Replicated;
    bool bias = false;
    bool input_gradient = true;             ///< false behind raw input such as pixels
    std::optional<std::int64_t> rows = {};  ///< the rank's tokens if unset
    std::int64_t products = 1;              ///< alike, of so many rows each: one of each expert
    bool own_gather_buffer = false;         ///< gathers into a static buffer (static_memory.h)
};
Value linear(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
             std::vector<int> parameters, Value x, std::optional<int> output_gradient = {});

/// Do context-parallel ranks exchange their tokens' heads for whole sequences of some heads?
bool exchanges_heads(const Execution& how);
/// What a rank has of a layer's attention then.
Sizes with_whole_sequences(GraphBuilder& builder);
/// Tokens for heads, or heads for tokens: as many bytes of `width` columns as before.
Value exchanged(GraphBuilder& builder, const OperatorPlace& place, Value x, std::int64_t width);
/// The attention operator does not keep its output beside `context`, which it has become by the
/// last operator, but takes it from there once more.
void exchange_again(GraphBuilder& builder, std::size_t attention, Value context);

/// The same with a whole output, as the residual stream needs it.
Value linear_to_stream(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
                       std::vector<int> parameters, Value x, int output_gradient);

/// The columns of a cut value on every rank: all-gathered, and its gradient sliced. As
/// it is if it is whole.
Value gathered(GraphBuilder& builder, const OperatorPlace& place, Value x,
               std::optional<int> gradient = {});
/// A rank's columns of a whole value; its gradient is all-gathered. As it is if cut.
Value sliced(GraphBuilder& builder, const OperatorPlace& place, Value x);

/// `through`: the gradient that reaches x past the branch that this norm opens.
Value norm(GraphBuilder& builder, const OperatorPlace& place, std::vector<int> parameters, Value x,
           std::optional<int> through);
/// Dropout of `branch`, added to `x`. The branch must carry `branch_gradient`'s.
Value residual(GraphBuilder& builder, const OperatorPlace& place, Value x, Value branch,
               int gradient);
/// The gradient a branch's last operator must give to its output.
int branch_gradient(GraphBuilder& builder, const OperatorPlace& place, int stream_gradient);

Value token_embedding(GraphBuilder& builder, int stream_gradient);
Value patch_embedding(GraphBuilder& builder, int stream_gradient);
/// Heads of one layer, rotated: copied out of the packed product, or where it has them.
SplitHeads split_heads(GraphBuilder& builder, const OperatorPlace& place, Value packed);
/// `gradient`: of its result.
Value attention_part(GraphBuilder& builder, int layer, Value x, int gradient);
Value mlp_part(GraphBuilder& builder, int layer, Value x, int gradient);
/// The nonlinearity of an MLP over `elements` of its inner width; reads both halves if gated.
Value activate(GraphBuilder& builder, const OperatorPlace& place, Value wide,
               std::int64_t elements);
/// Experts in the MLP's place: from `normed`, the input of both, to the branch.
Value expert_branch(GraphBuilder& builder, int layer, Value normed, int gradient);
void head_and_loss(GraphBuilder& builder, Value x);
void classifier(GraphBuilder& builder, Value x);

}  // namespace debubble::models
