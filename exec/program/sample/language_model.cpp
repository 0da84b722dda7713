#include "exec/program/sample/language_model.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/core/stage/operators/run_operator.h"
#include "exec/core/stage/passes/model_stage.h"

namespace debubble::exec {

namespace {

constexpr std::int64_t kChunk = 64;       ///< most rows of a pass that reads a prompt
constexpr std::int64_t kWorthAChunk = 4;  ///< tokens; fewer are read one by one
/// Bytes that operators need beyond the graph's tensors.
constexpr std::int64_t kWorkspace = 64 << 20;

void check_continues_text(const SavedNetwork& network) {
    const models::Architecture& model = network.architecture;
    if (model.sees_images())
        throw InputError(
            fmt::format("{} is a Vision Transformer, which classifies images; only a language "
                        "model continues a text",
                        network.folder.string()));
    if (!model.causal)
        throw InputError(
            fmt::format("in {}, tokens see the tokens after them; only a causal language model "
                        "continues a text",
                        network.folder.string()));
    if (const std::string part = unsupported_part(model); !part.empty())
        throw InputError({{{network.folder.string(), 0, 0},
                           fmt::format("{}: it can be simulated, but not executed yet", part),
                           {}}});
}

std::int64_t widest_head(const models::Architecture& model) {
    const auto width = [](const models::Attention& attention) { return attention.head_dim; };
    return model.layers.most<models::Attention>(width);
}

void check_heads(const SavedNetwork& network, const Device* device) {
    if (device == nullptr) return;
    for (const models::Layer& layer : network.architecture.layers.kinds()) {
        const auto* attention = layer.as<models::Attention>();
        if (attention == nullptr || device->takes_heads(attention->head_dim, attention->value_dim))
            continue;
        throw InputError(fmt::format("heads of {} are wider than the attention on {} supports ({})",
                                     attention->head_dim, device->name(), device->widest_head()));
    }
}

/// The execution of a text of `window` tokens in slices of `rows`.
models::Execution execution_of(std::int64_t window, std::int64_t rows) {
    models::Execution how;
    how.seq_length = window;
    how.slices = static_cast<int>(window / rows);
    how.compute = models::DataType::Fp32;
    how.recompute = models::Recompute::Full;  // nothing is kept for a backward
    how.kernels.vocabulary_multiple = 1;
    return how;
}

/// The greatest number of rows, up to `most`, that cuts the window into equal slices.
std::int64_t rows_that_divide(std::int64_t window, std::int64_t most) {
    std::int64_t rows = std::min(window, most);
    while (window % rows != 0) --rows;
    return rows;
}

/// The least number of rows with which a MicroBatch can number the slices.
std::int64_t fewest_rows(std::int64_t window) {
    std::int64_t rows = 1;
    while (window % rows != 0 || window / rows > std::numeric_limits<std::int16_t>::max()) ++rows;
    return rows;
}

class ViewedParameters final : public StageParameters {
public:
    ViewedParameters(const models::StageGraph& graph, const NetworkWeights& weights) {
        for (const models::Parameter& parameter : graph.parameters)
            views_.push_back(weights.of(parameter));
        for (const models::Buffer& buffer : graph.buffers) buffers_.push_back(weights.of(buffer));
    }
    TensorView value(int parameter) override { return views_[parameter]; }
    TensorView gradient(int) override { return {}; }  // no backward runs
    TensorView buffer(int index) override { return buffers_[index]; }

private:
    std::vector<TensorView> views_, buffers_;
};

/// The text that is read, padded with zeros, and the keys and values of its tokens in every layer:
/// the state that passes over slices of the text share.
struct Memory {
    Arena arena;
    Tensor tokens;
    Tensor targets;
    KeyCache keys;

    Memory(const models::Architecture& model, std::int64_t window, std::int64_t bytes,
           Device* device)
        : arena(Bytes{bytes + kWorkspace + bytes_of_keys(model, window)}, device),
          tokens({1, window}, DataType::Int32),
          targets({1, window}, DataType::Int32) {}

    /// The bytes include the copy of one layer's keys for the attention that reads them.
    static std::int64_t bytes_of_keys(const models::Architecture& model, std::int64_t window) {
        const auto width = [](const models::Attention& attention) {
            return std::max(attention.key_width(), attention.value_width());
        };
        const std::int64_t row =
            model.layers.most<models::Attention>(width) * size_of(DataType::Fp32);
        return 2 * (model.layers.count() + 1) * window * row;
    }
};

std::int64_t bytes_of(const models::StageGraph& graph) {
    const auto kinds = std::ssize(graph.architecture.layers.kinds());
    std::int64_t bytes = graph.execution.seq_length * widest_head(graph.architecture) * kinds *
                         size_of(DataType::Fp32);  // tables of rotary positions
    for (const models::Tensor& tensor : graph.tensors) bytes += 2 * tensor.bytes.count;
    return bytes;
}

/// The network without its head, for slices of one length.
class Layers {
public:
    Layers(const models::StageGraph& graph, const NetworkWeights& weights, Kernels& kernels,
           Memory& memory)
        : rows_(graph.execution.seq_length / graph.execution.slices),
          parameters_(graph, weights),
          memory_(memory),
          stage_(make_model_stage({graph}, tools(kernels))) {}

    std::int64_t rows() const { return rows_; }

    /// Returns the residual stream after the last layer, [rows, hidden]. The keys of all tokens
    /// before the slice must be there; those of the slice are made, even if they were there. The
    /// tokens after a token do not change it, since the network is causal.
    ArenaTensor run(std::int64_t slice) {
        StepInputs inputs;
        inputs.training = false;
        inputs.micro_batches = {{memory_.tokens.view(), memory_.targets.view(), 0}};
        stage_->begin_step(inputs);
        ArenaTensor stream = stage_->forward(MicroBatch{0, static_cast<std::int16_t>(slice)}, {});
        stage_->end_step();
        return stream;
    }

private:
    StageTools tools(Kernels& kernels) {
        StageTools tools{kernels, memory_.arena, parameters_};
        tools.keys = &memory_.keys;
        return tools;
    }

    std::int64_t rows_;
    ViewedParameters parameters_;
    Memory& memory_;
    std::unique_ptr<StageRunner> stage_;
};

/// The final norm and the head's GEMM of one row.
class Head {
public:
    Head(const models::StageGraph& whole, const NetworkWeights& weights, Arena& arena)
        : norm_(whole.architecture.norm),
          eps_(whole.architecture.norm_eps),
          softcap_(whole.architecture.logit_softcap),
          told_({1, whole.architecture.vocab}) {
        const auto allocate = [&](const Shape& shape) {
            return arena.allocate(shape, DataType::Fp32, MemoryClass::Buffers, "head");
        };
        normed_ = allocate({1, whole.architecture.hidden});
        statistics_ = allocate({1, 2});
        logits_ = allocate(told_.shape());
        for (const models::Operator& op : whole.operators) {
            if (op.layer) continue;
            const auto weight = [&](int index) { return weights.of(whole.parameters[index]); };
            if (const auto* product = op.as<models::op::Linear>())
                weight_ = weight(product->weights.front());
            const auto* norm = op.as<models::op::Norm>();
            if (norm == nullptr) continue;
            gain_ = weight(norm->gain);
            if (norm->shift) shift_ = weight(*norm->shift);
        }
        assert(weight_ && gain_ && "a language model ends in a norm and a linear layer");
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
        kernels.download(logits_.view(), told_.view());
        if (softcap_)
            for (float& logit : told_.as<float>())
                logit = static_cast<float>(*softcap_ * std::tanh(double{logit} / *softcap_));
        return {told_.as<float>().data, static_cast<std::size_t>(told_.shape()[1])};
    }

private:
    models::Norm norm_;
    double eps_;
    std::optional<double> softcap_;
    TensorView gain_, shift_, weight_;
    ArenaTensor normed_, statistics_, logits_;
    Tensor told_;  ///< logits on the host
};

/// The weights in the memory in which the kernels compute.
NetworkWeights placed(NetworkWeights weights, Kernels& kernels, Arena& arena) {
    if (!kernels.on_host()) weights.move_to(kernels, arena);
    return weights;
}

models::StageGraph whole_network(const models::Architecture& model) {
    return models::build_stage(model, execution_of(1, 1), {0, model.layers.count(), true, true});
}

models::StageGraph without_head(const models::Architecture& model, std::int64_t window,
                                std::int64_t rows) {
    return models::build_stage(model, execution_of(window, rows),
                               {0, model.layers.count(), true, false});
}

std::int64_t window_of(const SavedNetwork& network) {
    const std::int64_t most = network.architecture.max_positions;
    return std::min(most, network.trained_length.value_or(most));
}

}  // namespace

struct LanguageModel::Body {
    std::int64_t window;
    models::StageGraph whole;
    models::StageGraph chunk;
    models::StageGraph token;
    Kernels& kernels;
    Memory memory;
    NetworkWeights weights;
    Head head;
    Layers by_chunk;
    Layers by_token;
    std::vector<std::int32_t> read;  ///< tokens whose keys and values are there

    Body(const SavedNetwork& network, Kernels& computing, Device* device)
        : window(window_of(network)),
          whole(whole_network(network.architecture)),
          chunk(without_head(network.architecture, window, rows_that_divide(window, kChunk))),
          token(without_head(network.architecture, window, fewest_rows(window))),
          kernels(computing),
          memory(
              network.architecture, window,
              bytes_of(chunk) + bytes_of(token) + (device ? NetworkWeights::size(whole).count : 0),
              device),
          weights(placed(NetworkWeights(whole, network.weights), computing, memory.arena)),
          head(whole, weights, memory.arena),
          by_chunk(chunk, weights, kernels, memory),
          by_token(token, weights, kernels, memory) {}

    /// Reads the tokens of the text that were not read yet, and in any case the last one. Returns
    /// the logits after that.
    std::span<const float> logits(std::span<const std::int32_t> text) {
        const auto known = std::ranges::mismatch(read, text).in2 - text.begin();
        const std::int64_t count = std::ssize(text);
        const View<std::int32_t> all = memory.tokens.as<std::int32_t>();
        std::fill(std::ranges::copy(text, all.begin()).out, all.end(), 0);
        read.clear();  // stays empty until everything has been read
        ArenaTensor stream;
        std::int64_t first = 0;  ///< position of the stream's first token
        for (std::int64_t at = std::min<std::int64_t>(known, count - 1); at < count;) {
            Layers& layers = count - at < kWorthAChunk ? by_token : by_chunk;
            const std::int64_t slice = at / layers.rows();
            stream = layers.run(slice);
            first = slice * layers.rows();
            at = first + layers.rows();
        }
        read.assign(text.begin(), text.end());
        const std::int64_t hidden = whole.architecture.hidden;
        const std::int64_t row_bytes = hidden * size_of(DataType::Fp32);
        return head.logits(
            kernels,
            {stream.view().data + (count - 1 - first) * row_bytes, {1, hidden}, DataType::Fp32});
    }
};

LanguageModel::LanguageModel(const SavedNetwork& saved, Kernels& kernels, Device* device) {
    SavedNetwork network = saved;
    network.architecture.mtp_layers = 0;  // modules that predict further tokens are a training's
    check_continues_text(network);
    check_heads(network, device);
    body_ = std::make_unique<Body>(network, kernels, device);
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
    return body_->logits(tokens.last(std::min(tokens.size(), static_cast<std::size_t>(window()))));
}

}  // namespace debubble::exec
