#include "exec/sample/language_model.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/sample/network_weights.h"
#include "exec/stage/model_stage.h"

namespace debubble::exec {

namespace {

/// A causal network does not see what stands behind a token, so the text is filled up to a
/// multiple of this: stages and oneDNN's primitives are made for few lengths.
constexpr std::int64_t kLengthStep = 32;
constexpr std::int64_t kWorkspace = 64 << 20;  ///< of operators, beyond the graph's tensors

void check_continues_text(const SavedNetwork& network) {
    const models::Architecture& model = network.architecture;
    if (model.family == models::Family::Vit)
        throw InputError(
            fmt::format("{} is a Vision Transformer, which tells images apart; only a language "
                        "model continues a text",
                        network.folder.string()));
    if (!model.causal)
        throw InputError(
            fmt::format("{} is a network whose tokens see those behind them; only a causal "
                        "language model continues a text",
                        network.folder.string()));
}

models::Execution execution_of(std::int64_t length) {
    models::Execution how;
    how.seq_length = length;
    how.compute = models::DataType::Fp32;
    how.recompute = models::Recompute::Full;  // nothing is kept for a backward
    how.vocabulary_multiple = 1;
    return how;
}

class ViewedParameters final : public StageParameters {
public:
    ViewedParameters(const models::StageGraph& graph, const NetworkWeights& weights) {
        for (const models::Parameter& parameter : graph.parameters)
            views_.push_back(weights.of(parameter));
    }
    TensorView value(int parameter) override { return views_[static_cast<std::size_t>(parameter)]; }
    TensorView gradient(int) override { return {}; }  // no backward runs

private:
    std::vector<TensorView> views_;
};

/// The network without its head, for texts of one length.
struct Layers {
    std::int64_t length = 0;
    ViewedParameters parameters;
    Arena arena;
    Tensor tokens;
    Tensor targets;
    std::unique_ptr<StageRunner> stage;

    Layers(models::StageGraph graph, const NetworkWeights& weights, Kernels& kernels)
        : length(graph.execution.seq_length),
          parameters(graph, weights),
          arena(Bytes{bytes_of(graph)}),
          tokens({1, length}, DataType::Int32),
          targets({1, length}, DataType::Int32),
          stage(make_model_stage({std::move(graph)}, {kernels, arena, parameters})) {}

    static std::int64_t bytes_of(const models::StageGraph& graph) {
        std::int64_t bytes = kWorkspace;
        for (const models::Tensor& tensor : graph.tensors) bytes += 2 * tensor.bytes.count;
        return bytes;
    }

    /// The residual stream behind the last layer, [length, hidden].
    ArenaTensor run(std::span<const std::int32_t> text) {
        const View<std::int32_t> all = tokens.as<std::int32_t>();
        std::ranges::copy(text, all.begin());
        std::fill(all.begin() + text.size(), all.end(), 0);
        StepInputs inputs;
        inputs.training = false;
        inputs.micro_batches = {{tokens.view(), targets.view(), 0}};
        stage->begin_step(inputs);
        ArenaTensor stream = stage->forward(MicroBatch{0, {}}, {});
        stage->end_step();
        return stream;
    }
};

/// Final norm and product of one row.
class Head {
public:
    Head(const models::StageGraph& whole, const NetworkWeights& weights)
        : norm_(whole.architecture.norm),
          eps_(whole.architecture.norm_eps),
          normed_({1, whole.architecture.hidden}),
          statistics_({1, 2}),
          logits_({1, whole.architecture.vocab}) {
        for (const models::Operator& op : whole.operators) {
            if (op.layer) continue;
            const auto weight = [&](std::size_t i) {
                const int index = op.parameters[i];
                return weights.of(whole.parameters[static_cast<std::size_t>(index)]);
            };
            if (op.kind == models::OperatorKind::Linear) weight_ = weight(0);
            if (op.kind != models::OperatorKind::Norm) continue;
            gain_ = weight(0);
            if (norm_ == models::Norm::LayerNorm) shift_ = weight(1);
        }
        assert(weight_ && gain_ && "a language model ends in a norm and a product");
    }

    std::span<const float> logits(Kernels& kernels, ConstTensorView row) {
        if (norm_ == models::Norm::LayerNorm)
            kernels.layer_norm_forward(eps_, row, gain_, shift_, normed_.view(),
                                       statistics_.view());
        else
            kernels.rms_norm_forward(eps_, row, gain_, normed_.view(),
                                     {statistics_.view().data, {1}, DataType::Fp32});
        kernels.linear_forward(WeightLayout::OutputsInputs, normed_.view(), weight_, {},
                               logits_.view());
        kernels.finish();
        return {logits_.as<float>().data, static_cast<std::size_t>(logits_.shape()[1])};
    }

private:
    models::Norm norm_;
    double eps_;
    TensorView gain_, shift_, weight_;
    Tensor normed_, statistics_, logits_;
};

models::StageGraph whole_network(const models::Architecture& model) {
    return models::build_stage(model, execution_of(1), {0, model.layers, true, true});
}

}  // namespace

struct LanguageModel::Body {
    models::StageGraph whole;
    NetworkWeights weights;
    Head head;
    Kernels& kernels;
    std::int64_t window = 0;
    std::unique_ptr<Layers> layers;

    Body(const SavedNetwork& network, Kernels& computing)
        : whole(whole_network(network.architecture)),
          weights(whole, network.weights),
          head(whole, weights),
          kernels(computing) {
        window = std::min(network.architecture.max_positions,
                          network.trained_length.value_or(network.architecture.max_positions));
    }

    Layers& layers_for(std::int64_t tokens) {
        const std::int64_t length =
            std::min(window, (tokens + kLengthStep - 1) / kLengthStep * kLengthStep);
        if (layers && layers->length == length) return *layers;
        layers.reset();
        const models::Architecture& model = whole.architecture;
        layers = std::make_unique<Layers>(
            models::build_stage(model, execution_of(length), {0, model.layers, true, false}),
            weights, kernels);
        return *layers;
    }
};

LanguageModel::LanguageModel(const SavedNetwork& network, Kernels& kernels) {
    check_continues_text(network);
    body_ = std::make_unique<Body>(network, kernels);
}

LanguageModel::~LanguageModel() = default;

std::int64_t LanguageModel::window() const {
    return body_->window;
}

std::int64_t LanguageModel::vocab() const {
    return body_->whole.architecture.vocab;
}

std::span<const float> LanguageModel::logits(std::span<const std::int32_t> tokens) {
    assert(!tokens.empty() && "there is a token to go on from");
    const auto seen = tokens.last(std::min(tokens.size(), static_cast<std::size_t>(window())));
    const std::int64_t count = std::ssize(seen);
    const ArenaTensor stream = body_->layers_for(count).run(seen);
    const std::int64_t hidden = body_->whole.architecture.hidden;
    const std::int64_t row_bytes = hidden * size_of(DataType::Fp32);
    return body_->head.logits(
        body_->kernels,
        {stream.view().data + (count - 1) * row_bytes, {1, hidden}, DataType::Fp32});
}

}  // namespace debubble::exec
