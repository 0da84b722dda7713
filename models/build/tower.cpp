#include "models/build/graph_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/build/layer_names.h"

/// A vision tower as Megatron-Bridge has it in the first stage (067f987,
/// models/qwen_vl/modelling_qwen3_vl): its layers run in the compute type, without sequence and
/// context parallelism, before the embedding of the whole sequence, which is then cut.
namespace debubble::models {

namespace {

using PlannedKind = op::Planned::Kind;

Execution execution_of_tower(const Execution& main, const VisionTower& tower) {
    Execution how;
    how.micro_batch = main.micro_batch * tower.images;
    how.seq_length = tower.rows();
    how.tensor = tower.cut ? main.tensor : 1;
    how.compute = main.compute;
    how.gradients = main.gradients;
    how.split_backward = main.split_backward;
    how.delays_weights = main.delays_weights;
    how.recompute = main.recompute;
    how.recompute_extent = main.recompute_extent;
    how.attention = main.attention;
    how.kernels = main.kernels;
    how.kernels.fused_rope = false;  // angles of rows and columns are made by eager kernels
    how.kernels.context_communication = ContextCommunication::P2p;
    return how;
}

/// While it lives, what is built is the tower's. Afterwards its operators are of no layer of the
/// language model, and what is frozen has no backward.
class InTower {
public:
    InTower(GraphBuilder& builder, const VisionTower& tower)
        : builder_(builder),
          cut_(tower.cut),
          architecture_(builder.graph.architecture),
          execution_(builder.graph.execution),
          size_(builder.size),
          first_operator_(builder.graph.operators.size()),
          first_parameter_(builder.graph.parameters.size()),
          first_tensor_(builder.graph.tensors.size()) {
        builder.graph.architecture = network_of_tower(tower);
        builder.graph.execution = execution_of_tower(execution_, tower);
        builder.size = sizes_of(builder.graph.architecture, builder.graph.execution);
    }
    InTower(const InTower&) = delete;
    InTower& operator=(const InTower&) = delete;
    ~InTower() {
        builder_.graph.architecture = std::move(architecture_);
        builder_.graph.execution = execution_;
        builder_.size = size_;
    }

    bool frozen_by_adapters() const { return execution_.lora.has_value(); }
    /// The operators since the last call have no backward, and their parameters are not trained.
    void end_part(bool frozen) {
        StageGraph& graph = builder_.graph;
        for (; first_parameter_ < graph.parameters.size(); ++first_parameter_) {
            Parameter& parameter = graph.parameters[first_parameter_];
            parameter.name = renamed(parameter.name);
            parameter.frozen = frozen;
            if (!cut_) parameter.sharding = Sharding::Replicated;
        }
        for (; first_tensor_ < graph.tensors.size(); ++first_tensor_)
            graph.tensors[first_tensor_].name = "vision." + graph.tensors[first_tensor_].name;
        for (; first_operator_ < graph.operators.size(); ++first_operator_)
            take(graph.operators[first_operator_], frozen);
    }

private:
    static std::string renamed(const std::string& name) {
        constexpr std::string_view kUsual = "model.";
        return "model.visual." + (name.starts_with(kUsual) ? name.substr(kUsual.size()) : name);
    }
    static void take(Operator& op, bool frozen) {
        op.name = renamed(op.name);
        op.tower = true;
        op.tower_layer = std::exchange(op.layer, std::nullopt);
        for (std::vector<Kernel>* kernels : {&op.forward, &op.backward_input, &op.backward_weight})
            for (Kernel& kernel : *kernels) {
                kernel.name = "vision." + kernel.name;
                kernel.layer.reset();
            }
        if (!frozen) return;
        op.tower_layer.reset();
        op.saved.clear();
        for (std::vector<Kernel>* kernels : {&op.backward_input, &op.backward_weight})
            kernels->clear();
        for (std::vector<int>* uses : {&op.backward_input_uses, &op.backward_weight_uses})
            uses->clear();
    }

    GraphBuilder& builder_;
    bool cut_;
    Architecture architecture_;
    Execution execution_;
    Sizes size_;
    std::size_t first_operator_;
    std::size_t first_parameter_;
    std::size_t first_tensor_;
};

/// Pixels through the product that is a convolution, and the positions of patches.
Value seen_patches(GraphBuilder& builder, const VisionTower& tower, int stream_gradient) {
    const Sizes& size = builder.size;
    const std::int64_t patches = size.samples * tower.patches();
    const int pixels = builder.tensor("pixels", size.element * patches * tower.patch_values);
    LinearParameters weights{
        {builder.whole_parameter("patch_embed.proj.weight", {tower.hidden, tower.patch_values})},
        {}};
    if (tower.patch_bias)
        weights.biases = {
            builder.whole_parameter("patch_embed.proj.bias", {tower.hidden}, Initial::Zeros)};
    const LinearShape shape{tower.patch_values, tower.hidden, Sharding::Replicated,
                            tower.patch_bias,   false,        patches};
    const Value x =
        linear(builder, {"patch_embed.proj", "patches", {}}, shape, weights, {pixels, pixels});
    const std::int64_t bytes = size.stream_bytes();
    const Value y{builder.tensor("positions.out", bytes), stream_gradient};
    PlannedParts parts{PlannedKind::Copy, {x}, {y}};
    if (tower.class_token)
        parts.parameters.push_back(builder.whole_parameter("class_embedding", {tower.hidden}));
    if (tower.positions > 0)
        parts.parameters.push_back(
            builder.whole_parameter("pos_embed.weight", {tower.positions, tower.hidden}));
    // Of an image of another size than the table's, a patch has the mean of four rows.
    parts.forward = {moves("positions", {}, 5 * bytes, bytes)};
    parts.backward = {moves("positions.dx", {}, 2 * bytes, 5 * bytes)};
    add_planned(builder, {"pos_embed", "positions", {}}, std::move(parts));
    if (!tower.norm_before) return y;
    return norm(builder, {"norm_pre", "norm_pre", {}}, norm_parameters(builder, "norm_pre"), y, {});
}

/// Merges the patches of a token into one row.
void merge_rows(GraphBuilder& builder, const VisionTower& tower) {
    builder.size.tokens = builder.size.samples * tower.image_tokens;
    builder.size.stream_tokens = builder.size.tokens;
    if (!tower.pools) builder.size.hidden = tower.hidden * tower.merge;
}

/// The products of a projector over the rows of tokens.
Value projected(GraphBuilder& builder, const VisionTower& tower, const std::string& name, Value x) {
    for (std::size_t i = 0; i < tower.projector.size(); ++i) {
        const auto [inputs, outputs] = tower.projector[i];
        const bool last = i + 1 == tower.projector.size();
        const Sharding cut = i % 2 == 1 ? Sharding::Row
                             : last     ? Sharding::Replicated
                                        : Sharding::Column;
        const std::string product = fmt::format("{}.linear_fc{}", name, i + 1);
        const std::string kernel = fmt::format("projector.fc{}", i + 1);
        const bool columns = cut == Sharding::Column;
        const Sharding of_bias = columns ? Sharding::Column : Sharding::Replicated;
        LinearParameters weights{
            {builder.parameter(
                {product + ".weight", {outputs, inputs}, cut, columns ? 0 : 1, 1, {}})},
            {}};
        if (tower.projector_bias)
            weights.biases = {builder.parameter({product + ".bias", {outputs}, of_bias, 0, 1, {}})};
        LinearShape shape{builder.part(cut == Sharding::Row, inputs, "columns of the projector"),
                          builder.part(columns, outputs, "columns of the projector"), cut,
                          tower.projector_bias};
        x = linear(builder, {product, kernel, {}}, shape, weights, x);
        if (!last)
            x = activate(builder, {name + ".act", fmt::format("projector.act{}", i + 1), {}}, x,
                         {Activation::GeluTanh, tower.projector_bias, false, builder.size.tokens,
                          shape.outputs});
    }
    return x;
}

/// The tokens of the tower's last layer, or for DeepStack the features of one before.
Value tokens_of(GraphBuilder& builder, const VisionTower& tower, Value x) {
    const Sizes patches = builder.size;
    if (tower.projector_norm)
        x = norm(builder, {"merger.norm", "projector.norm", {}},
                 norm_parameters(builder, "merger.norm"), x, {});
    merge_rows(builder, tower);
    if (tower.pools || tower.class_token) {
        const std::int64_t bytes = builder.size.stream_bytes();
        const Value y{builder.tensor("merge.out", bytes), builder.tensor("d.merge.out", bytes)};
        PlannedParts parts{PlannedKind::Copy, {x}, {y}};
        parts.forward = {moves("merge", {}, patches.stream_bytes(), bytes)};
        parts.backward = {moves("merge.dx", {}, bytes, patches.stream_bytes())};
        add_planned(builder, {"merger", "merge", {}}, std::move(parts));
        x = y;
    }
    x = projected(builder, tower, "merger", x);
    builder.size = patches;
    return x;
}

/// Qwen3-VL norms all patches of a token together.
Value features_of(GraphBuilder& builder, const VisionTower& tower, std::size_t index, Value x,
                  bool trained) {
    const Sizes patches = builder.size;
    const std::string name = fmt::format("deepstack_merger_list.{}", index);
    merge_rows(builder, tower);
    const std::int64_t wide = tower.hidden * tower.merge;
    const std::vector<int> weights = {
        builder.norm_weight(name + ".norm.weight", wide),
        builder.whole_parameter(name + ".norm.bias", {wide}, Initial::Zeros)};
    x = norm(builder, {name + ".norm", "projector.norm", {}}, weights, x,
             trained ? std::optional(x.gradient) : std::nullopt);
    x = projected(builder, tower, name, x);
    builder.size = patches;
    return x;
}

/// The tokens of all images, and those that later layers add.
Value image_tokens(GraphBuilder& builder, const VisionTower& tower) {
    InTower scope(builder, tower);
    const bool adapters = scope.frozen_by_adapters();
    const bool frozen = tower.frozen || adapters;
    const bool frozen_projector = tower.frozen_projector || adapters;
    const int stream = builder.tensor("d.stream", builder.size.stream_bytes());
    Value x = seen_patches(builder, tower, stream);
    for (int layer = 0; layer < tower.layers.count(); ++layer) {
        x = build_layer(builder, layer, x, {stream, nullptr});
        const auto due = std::ranges::find(tower.deepstack, layer);
        if (due == tower.deepstack.end()) continue;
        scope.end_part(frozen);
        builder.features.push_back(
            features_of(builder, tower, due - tower.deepstack.begin(), x, !frozen));
        scope.end_part(frozen_projector);
    }
    if (tower.norm_after)
        x = norm(builder, {"norm_post", "norm_post", {}}, norm_parameters(builder, "norm_post"), x,
                 {});
    scope.end_part(frozen);
    x = tokens_of(builder, tower, x);
    scope.end_part(frozen_projector);
    return x;
}

/// The last operator reads `images`, whose gradient it makes if anything of the tower is trained.
void read_images(GraphBuilder& builder, Value images) {
    const VisionTower& tower = *builder.model().tower;
    Operator& op = builder.graph.operators.back();
    op.tower = true;
    op.inputs.push_back(images.tensor);
    op.forward_uses.push_back(images.tensor);
    if (builder.how().lora || (tower.frozen && tower.frozen_projector)) return;
    std::get<op::Planned>(op.roles).reads.push_back(images);
    op.backward_input_uses.push_back(images.gradient);
}

std::int64_t bytes_of_image_tokens(const GraphBuilder& builder) {
    return builder.size.element * builder.size.samples * builder.model().tower->tokens_of_sample() *
           builder.size.hidden;
}

/// Tokens of images take their places in the embedding of whole sequences, of which a rank keeps
/// its part.
Value with_images(GraphBuilder& builder, Value words, Value images, int gradient) {
    const std::int64_t whole = builder.graph.tensors[words.tensor].bytes.count;
    const std::int64_t tokens = bytes_of_image_tokens(builder);
    const std::int64_t bytes = builder.size.stream_bytes();
    const Value y{builder.tensor("embedding.merged", bytes), gradient};
    const int clone = builder.scratch("embedding.clone", whole);
    const int gathered = builder.scratch("d.embedding.merged", whole);
    PlannedParts parts{PlannedKind::Copy, {words}, {y}};
    parts.scratch = {clone};
    parts.scratch_back = {gathered};
    // A clone, and two transpositions around the copy of tokens.
    parts.forward = {moves("embedding.images", {}, 3 * whole + tokens, 3 * whole + tokens)};
    if (whole != bytes) parts.forward.push_back(moves("embedding.slice", {}, bytes, bytes));
    const std::int64_t of_context = bytes * (builder.size.scattered ? builder.size.tensor : 1);
    if (builder.size.scattered)
        parts.backward = collective(builder, "embedding.images.dx.gather", {},
                                    Collective::Kind::AllGather, of_context);
    parts.backward.push_back(moves("embedding.images.dx", {}, 3 * whole, 3 * whole));
    add_planned(builder, {"model.embed_images", "embedding.images", {}}, std::move(parts));
    read_images(builder, images);
    return y;
}

}  // namespace

Architecture network_of_tower(const VisionTower& tower) {
    Architecture network;
    network.name = "vision tower";
    network.family = Family::Planned;
    network.layers = tower.layers;
    network.hidden = tower.hidden;
    network.max_positions = tower.rows();
    network.norm = tower.norm;
    network.learned_positions = false;
    network.tied_embedding = false;
    network.causal = false;
    return network;
}

Value embedding_with_images(GraphBuilder& builder, int stream_gradient) {
    const VisionTower tower = *builder.model().tower;  // the builder has another network meanwhile
    const Value images = image_tokens(builder, tower);
    // Every rank embeds whole sequences.
    const Execution own = builder.how();
    const Sizes cut = builder.size;
    builder.graph.execution.context = builder.graph.execution.context_inner = 1;
    builder.graph.execution.sequence_parallel = false;
    Architecture without_layers = builder.model();
    without_layers.layers = {};
    Execution whole = builder.how();
    whole.expert = whole.expert_tensor = 1;
    builder.size = sizes_of(without_layers, whole);
    const int gradient = builder.tensor("d.embedding.whole", builder.size.stream_bytes());
    const Value words = token_embedding(builder, gradient);
    builder.graph.execution = own;
    builder.size = cut;
    return with_images(builder, words, images, stream_gradient);
}

Value add_features(GraphBuilder& builder, int layer, Value x, const char* result) {
    if (static_cast<std::size_t>(layer) >= builder.features.size()) return x;
    const Value features = builder.features[layer];
    const std::int64_t bytes = builder.size.stream_bytes();
    const std::int64_t tokens = bytes_of_image_tokens(builder) /
                                (builder.size.scattered ? builder.size.tensor : 1) /
                                builder.how().context;
    const Value y{builder.tensor("deepstack.sum", bytes),
                  result != nullptr ? builder.tensor(result, bytes) : x.gradient};
    PlannedParts parts{PlannedKind::Copy, {x}, {y}};
    parts.forward = {moves("deepstack.add", {}, bytes + 2 * tokens, bytes + tokens)};
    const std::int64_t own = result != nullptr ? bytes : 0;
    parts.backward = {moves("deepstack.add.dx", {}, own + tokens, own + tokens)};
    add_planned(builder, {"model.deepstack", "deepstack.add", {}}, std::move(parts));
    read_images(builder, features);
    return y;
}

}  // namespace debubble::models
