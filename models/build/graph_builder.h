#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "models/graph/graph.h"
#include "models/graph/stage_sizes.h"

/// The building blocks of build_stage. Private to the folder: users include graph.h.
namespace debubble::models {

/// A tensor that flows from operator to operator, and its gradient.
struct Value {
    int tensor = 0;
    int gradient = 0;
    bool cut = false;  ///< a rank has 1/t of its columns, by tensor parallelism

    operator op::Value() const { return {tensor, gradient}; }
};

/// The parameters of a product, in the order of its outputs.
struct LinearParameters {
    std::vector<int> weights;
    std::vector<int> biases;  ///< one for each weight, or none

    std::vector<int> all() const;  ///< each weight followed by its bias
};

struct GraphBuilder {
    StageGraph graph;
    Sizes size;
    std::vector<Diagnostic> mistakes;
    ExpertParameters expert_parameters = ExpertParameters::EachByName;
    int layer_index = 0;
    /// Stored residual sums, each [Ts, h] (Architecture::residual_block).
    std::vector<Value> bank = {};
    bool begins_sum = false;           ///< the next part of a layer restarts the sum
    std::optional<Value> mixing = {};  ///< coefficients of the part that is being built
    std::optional<int> choice = {};    ///< keys that the last indexer has chosen
    std::optional<Value> opened = {};  ///< the input of the mixer that was built last
    std::vector<Value> features = {};  ///< of a vision tower, one for each of the first layers

    const Architecture& model() const { return graph.architecture; }
    /// Makes `layer` the one that is being built: the sizes are its.
    void begin_layer(int layer);
    const Layer& layer() const { return model().layer_at(layer_index); }
    const Attention& attention() const { return std::get<Attention>(layer().mixer); }
    const Execution& how() const { return graph.execution; }
    std::size_t next_operator() const { return graph.operators.size(); }
    /// The operators from `first` on belong to the module.
    void mark(std::size_t first, Module module) {
        for (std::size_t i = first; i < graph.operators.size(); ++i)
            graph.operators[i].modules.add(module);
    }
    int tensor(std::string name, std::int64_t bytes) {
        graph.tensors.push_back({std::move(name), Bytes{bytes}, MemoryClass::Activations});
        return static_cast<int>(graph.tensors.size()) - 1;
    }
    /// A tensor that lives inside one pass.
    int scratch(std::string name, std::int64_t bytes) {
        const int index = tensor(std::move(name), bytes);
        graph.tensors.back().held_as = MemoryClass::Workspace;
        return index;
    }
    int buffer(std::string name, std::vector<std::int64_t> shape) {
        graph.buffers.push_back({std::move(name), std::move(shape)});
        return static_cast<int>(graph.buffers.size()) - 1;
    }
    int parameter(Parameter parameter) {
        parameter.frozen = how().lora.has_value();
        graph.parameters.push_back(std::move(parameter));
        return static_cast<int>(graph.parameters.size()) - 1;
    }
    /// Adds a mistake, each once, and only a few however many layers cause them.
    void refuse(std::string sentence);
    /// The rank's part of `whole` if it is cut, which must divide evenly.
    std::int64_t part(bool cut, std::int64_t whole, const char* what);
    /// The model's last override for a parameter.
    Sharding asked_for(const std::string& parameter, Sharding usual) const;
    /// The cut of a parameter: the model's last override for it, which must be among `possible`, or
    /// else the first of these, Megatron-LM's.
    Sharding sharding_of(const std::string& parameter, std::initializer_list<Sharding> possible);
    /// The sharding of a GEMM that may have several weights, which must have the same sharding.
    Sharding sharding_of(const LinearParameters& parameters);
    /// A parameter that every rank has whole.
    int whole_parameter(const std::string& name, std::vector<std::int64_t> shape,
                        Initial initial = Initial::Normal);
    /// A norm's weight, one for each column, that every rank has whole.
    int norm_weight(const std::string& name, std::int64_t columns);
    void cut_heads(bool cut);
    void cut_ffn(bool cut);
    void cut_vocabulary(bool cut);

    /// True if an 8-bit GEMM that reads the module's output keeps no cast of it: it is freed after
    /// the forward, made again and cast again (Megatron-LM's set_save_original_input, which delayed
    /// scales do not have).
    bool leaves_to_replay(Module module) const;

    /// True if hidden dropout runs: a branch's gradient is then not the stream's.
    bool drops() const { return how().hidden_dropout || how().kernels.dropout_masks_always; }
    /// True if dropout masks exist.
    bool masks() const { return drops() && !how().kernels.replayed_dropout; }
};

/// The operator that is being built: its names and its layer.
struct OperatorPlace {
    std::string name;    ///< "h.3.mlp.c_fc"
    std::string kernel;  ///< "mlp.fc1"
    std::optional<int> layer;
};

/// The kernels and tensors of an operator that is only simulated.
struct PlannedParts {
    op::Planned::Kind kind{};
    std::vector<Value> reads;
    std::vector<Value> writes;
    std::vector<int> parameters = {};
    std::vector<int> saved = {};    ///< tensors that its backward reads
    std::vector<int> scratch = {};  ///< tensors of the forward alone
    std::vector<int> scratch_back = {};
    std::vector<Kernel> forward = {};
    std::vector<Kernel> backward = {};
};
Operator& add_planned(GraphBuilder& builder, const OperatorPlace& place, PlannedParts parts);
/// A copy `y`, of `moved` bytes, of the inputs on the rank's tokens for all tokens of the
/// tensor-parallel group.
void add_gathered_copy(GraphBuilder& builder, const OperatorPlace& place, std::vector<Value> inputs,
                       Value y, std::int64_t moved);
Operator start(const OperatorPlace& place);
/// An operator whose forward reads one value.
Operator start(const OperatorPlace& place, Value x);
Kernel gemm(const GraphBuilder& builder, const std::string& name, std::optional<int> layer,
            Gemm shape);
Kernel moves(const std::string& name, std::optional<int> layer, std::int64_t read,
             std::int64_t written);
/// The kernels of a collective; empty when the group has one rank.
std::vector<Kernel> collective(const GraphBuilder& builder, const std::string& name,
                               std::optional<int> layer, Collective::Kind kind, std::int64_t bytes);
void append(std::vector<Kernel>& kernels, std::vector<Kernel> more);
/// Adds to `uses` the tensor with the ranks' chunks one after another, from which an all-gather
/// along the sequence is copied, or to which a reduce-scatter is, if these copy (Execution).
/// `placed`: an overlap with a GEMM may write each chunk in its place.
void add_pieces(GraphBuilder& builder, std::vector<int>& uses, const std::string& name,
                std::int64_t bytes, bool placed);

/// Matrix product with its sharding: column cuts outputs, row cuts inputs, and the communication
/// follows from it (Shoeybi et al. 2019; with sequence parallelism Korthikanti et al. 2022, figures
/// 5 and 6). An input that does not have the cut that the product needs is gathered or sliced
/// first; a column-cut output stays cut.
struct LinearShape {
    std::int64_t inputs = 1;   ///< on this rank
    std::int64_t outputs = 1;  ///< on this rank
    Sharding sharding = Sharding::Replicated;
    bool bias = false;
    bool input_gradient = true;             ///< false after raw input such as pixels
    std::optional<std::int64_t> rows = {};  ///< the rank's tokens if unset
    std::int64_t products =
        1;  ///< number of identical GEMMs of this many rows each: one for each expert
    bool own_gather_buffer = false;     ///< gathers into a static buffer (static_memory.h)
    bool adds_gradient = false;         ///< x has a gradient from another operator already
    bool adapter = false;               ///< has a low-rank adapter, if there are any
    bool after_norm = false;            ///< x is a norm's result, which TransformerEngine's
                                        ///< LayerNormLinear makes together with the product
    std::optional<int> kept_copy = {};  ///< a copy of x in 12 bits, kept instead of it
    bool cast_before =
        false;  ///< x comes in the narrow type from the kernel before (fused_experts)
    bool gradient_cast_before = false;  ///< and so does the output's gradient
    bool keeps_original = false;  ///< x is kept in the compute type even for a 8-bit GEMM, since
                                  ///< another operator keeps it anyway
};
Value linear(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
             const LinearParameters& parameters, Value x, std::optional<int> output_gradient = {});
/// The product of each expert with its own rows; `parameters` are listed expert by expert.
Value expert_products(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
                      const LinearParameters& parameters, Value x);

/// True if context-parallel ranks use all-to-all, after which each has the tokens of several ranks
/// for some heads.
bool exchanges_heads(const Execution& how);
/// The rank's sizes of a layer's attention then.
Sizes with_whole_sequences(GraphBuilder& builder);
/// All-to-all between `ranks` neighbours of the context group, from tokens to heads or back; the
/// bytes of the `width` columns do not change.
Value exchanged(GraphBuilder& builder, const OperatorPlace& place, Value x, std::int64_t width,
                int ranks);
/// The attention operator does not keep its own output, which the last operator has turned into
/// `context`, but gets it by repeating the all-to-all of `context`.
void exchange_again(GraphBuilder& builder, std::size_t attention, Value context);

/// The same product with a whole output, as the residual stream needs it.
Value linear_to_stream(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
                       const LinearParameters& parameters, Value x, int output_gradient);

/// The columns of a cut value on every rank: all-gathered, and its gradient sliced. A whole value
/// is returned as it is.
Value gathered(GraphBuilder& builder, const OperatorPlace& place, Value x,
               std::optional<int> gradient = {});
/// A rank's columns of a whole value; its gradient is all-gathered. A cut value is returned as it
/// is.
Value sliced(GraphBuilder& builder, const OperatorPlace& place, Value x);

/// `through` is the gradient that reaches x past the branch that this norm opens.
Value norm(GraphBuilder& builder, const OperatorPlace& place, std::vector<int> parameters, Value x,
           std::optional<int> through);
/// The norm of a branch's end, which gives the branch the gradient `gradient`.
Value norm_of_branch(GraphBuilder& builder, const OperatorPlace& place, std::vector<int> parameters,
                     Value x, int gradient);
/// The input of a branch: x normed, or x itself where the layer's norms stand after its parts.
/// `through` is the gradient that reaches x past the branch.
Value open_branch(GraphBuilder& builder, const OperatorPlace& place, Value x, int through);
/// Ends a branch whose place in front of the residual sum is `residual`: gives its last product an
/// output gradient, and the norm after it where the layer has one.
struct BranchEnd {
    GraphBuilder& builder;
    OperatorPlace norm_place;  ///< of the norm after it
    int gradient = 0;          ///< of the branch as the sum reads it
    int product_gradient = 0;  ///< of the last product's output

    BranchEnd(GraphBuilder& graph_builder, OperatorPlace of_norm, int branch_gradient);
    Value close(Value product) const;
};
/// The same of the first `columns` of x [Ts, more columns], which opens no branch.
Value norm_of_columns(GraphBuilder& builder, const OperatorPlace& place, int gain, Value x,
                      std::int64_t columns);
/// Dropout of `branch`, added to `x`. The branch's gradient must be `branch_gradient`; `biased` if
/// the last product of the branch has a bias.
Value residual(GraphBuilder& builder, const OperatorPlace& place, Value x, Value branch,
               int gradient, bool biased);
/// The sum of two branches with one gradient.
Value add_branches(GraphBuilder& builder, const OperatorPlace& place, Value a, Value b);
/// The gradient a branch's last operator must give to its output.
int branch_gradient(GraphBuilder& builder, const OperatorPlace& place, int stream_gradient);

Value token_embedding(GraphBuilder& builder, int stream_gradient);
/// The embedding of the tokens `ahead` places later by a table of the stage, whole in the stream.
Value embedding_ahead(GraphBuilder& builder, int table, int ahead);
Value patch_embedding(GraphBuilder& builder, int stream_gradient);
struct LayerNames;
/// Norms of the heads of queries and keys, or of their whole width, in place, as the layer has
/// them.
void norm_heads(GraphBuilder& builder, const OperatorPlace& place, const LayerNames& names,
                Value packed);
/// The heads of an attention, and the value of which they are a view if they are one.
struct SplitValue {
    op::Heads heads;
    Value packed;
    std::optional<op::Value> gate = {};  ///< of an output gate
};
/// The heads of one layer, rotated: copied out of the packed product, or inside it.
SplitValue split_heads(GraphBuilder& builder, const OperatorPlace& place, Value packed);
/// Latent attention's way from the hidden state to its heads.
SplitValue latent_heads(GraphBuilder& builder, const LayerNames& names, Value normed);
struct Branch;
/// Attention over a window and shortened keys, from `normed` to the input of its last product.
Value compressed_context(GraphBuilder& builder, const LayerNames& names, const Attention& attention,
                         Value normed);
/// Latent attention over chosen keys, whose products out of the latent value are applied to queries
/// and to the result, so that one key of a token serves all heads.
Value sparse_latent_context(GraphBuilder& builder, const LayerNames& names,
                            const Attention& attention, Value normed);
/// `context` times the sigmoid of a product of `normed` that is as wide.
Value gate_latent(GraphBuilder& builder, const LayerNames& names, Value normed, Value context);
/// The keys that a layer's attention sees, chosen by an indexer of `normed` and of the narrow value
/// of latent queries, if there is one.
void choose_keys(GraphBuilder& builder, const LayerNames& names, Value normed,
                 std::optional<Value> narrow_queries);
/// Seconds of one multiprocessor in which `tokens` of sequences of `length` choose the best of
/// their scores; there is one for every `ratio` tokens before them.
double seconds_of_choice(std::int64_t length, std::int64_t ratio, std::int64_t chosen,
                         std::int64_t tokens);
/// Each head times the sigmoid of a logit made from `normed`.
Value gate_heads(GraphBuilder& builder, const LayerNames& names, Value normed, Value context);
/// Kimi Delta Attention.
Value channel_delta_context(GraphBuilder& builder, const LayerNames& names, const DeltaNet& net,
                            Value normed);
/// Lightning attention.
Value lightning_context(GraphBuilder& builder, const LayerNames& names, const DeltaNet& net,
                        Value normed);
/// The residual streams of networks with several: from the embedding, into and out of a part of a
/// layer, and back to one row.
Value widen_streams(GraphBuilder& builder, Value x, int gradient);
Value open_streams(GraphBuilder& builder, Value x, const char* part);
Value close_streams(GraphBuilder& builder, Value x, const Branch& branch, int gradient,
                    const char* part);
Value collapse_streams(GraphBuilder& builder, Value x);
/// The output of a stage that is not the last: the running sum and the stored ones.
Value sent_streams(GraphBuilder& builder, Value x);
/// Recurrent layers from `normed` to the input of their last product. Mamba-1 is the first.
Value selective_context(GraphBuilder& builder, const LayerNames& names, const Mamba& mamba,
                        Value normed);
Value mamba_context(GraphBuilder& builder, const LayerNames& names, const Mamba& mamba,
                    Value normed);
Value delta_net_context(GraphBuilder& builder, const LayerNames& names, const DeltaNet& net,
                        Value normed);
/// The gradients around a part of a layer.
struct PartGradients {
    int y = 0;        ///< of the sum that it adds to
    int through = 0;  ///< the one that reaches its input past it: `y`, or in a layer whose parts
                      ///< read the same input what the other part has made of it
};
/// A part of a layer up to its branch, whose gradient is that in front of the sum; `biased` if its
/// last product has a bias that the sum may add.
struct Branch {
    OperatorPlace place;  ///< of the sum
    Value value;
    bool biased = false;
};
Branch mixer_branch(GraphBuilder& builder, Value x, PartGradients gradients);
Branch mlp_branch(GraphBuilder& builder, Value x, PartGradients gradients);
/// The gradients of a layer's sums: the residual stream's, which is added to, and where the layer's
/// result has one of its own, as the gradient that arrives from the next stage, the name of that.
struct LayerGradients {
    int stream = 0;
    const char* result = nullptr;
};
/// The layer of that index, or one of multi-token prediction after the last.
Value build_layer(GraphBuilder& builder, int index, Value x, const LayerGradients& gradients);
/// The nonlinearity of an MLP over [rows, columns] of its inner width, which reads both halves if
/// it is gated; `biased` if a bias of the product before it is added here.
struct ActivationShape {
    Activation function{};
    bool biased = false;
    bool of_experts = false;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
};
Value activate(GraphBuilder& builder, const OperatorPlace& place, Value wide,
               const ActivationShape& shape);
/// Experts in place of the MLP: from `normed`, the input of both, to the branch.
Value expert_branch(GraphBuilder& builder, const Experts& experts, Value normed, int gradient);
void head_and_loss(GraphBuilder& builder, Value x);
/// The head's weight and how it is cut as a product y = x W. A head tied to the embedding is cut
/// like the embedding: the embedding's columns are the head's inputs.
struct HeadWeight {
    int index = 0;
    Sharding sharding{};
};
/// The product of a normed value with the head and the loss, of the tokens `ahead` places later.
void logits_and_loss(GraphBuilder& builder, const HeadWeight& head, Value normed, int ahead);
/// The norm after the network's last layer.
Value final_norm(GraphBuilder& builder, Value x);
/// `normed` and after it the normed value of each layer of multi-token prediction, which predicts
/// from the one before. Its gradients are added to those of that one. `head`, if the stage has one,
/// is its weight.
std::vector<Value> predictions_ahead(GraphBuilder& builder, std::optional<int> head, Value normed);
/// Several streams as one for the next stage, and of one that another stage has sent.
Value stacked(GraphBuilder& builder, const std::vector<Value>& parts);
std::vector<Value> unstacked(GraphBuilder& builder, Value all);
/// The head and the losses of streams that a stage with multi-token prediction has sent.
void head_of_streams(GraphBuilder& builder, Value all);
void classifier(GraphBuilder& builder, Value x);

// The vision tower of the first stage.

/// The network of a tower's layers, without its ends.
Architecture network_of_tower(const VisionTower& tower);

/// The embedding with the tokens of images in place of their placeholders. The features that later
/// layers add are left in the builder.
Value embedding_with_images(GraphBuilder& builder, int stream_gradient);

/// Adds the features of the tower that are due after that layer, if there are any. `result` is the
/// name of the sum's gradient, if it is to have one of its own.
Value add_features(GraphBuilder& builder, int layer, Value x, const char* result);

}  // namespace debubble::models
