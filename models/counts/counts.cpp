#include "models/counts/counts.h"
#include "base/memo.h"
#include "models/graph/graph.h"

namespace debubble::models {

namespace {

StageGraph uncut(Architecture architecture, const StageContent& content,
                 ExpertParameters experts = ExpertParameters::EachByName) {
    architecture.sharding.clear();
    if (architecture.tower)
        architecture.tower->frozen = architecture.tower->frozen_projector = false;
    Execution execution;
    execution.seq_length = architecture.sees_images() ? architecture.max_positions : 1;
    execution.kernels.vocabulary_multiple = 1;
    return build_stage(architecture, execution, content, experts);
}

/// The parameters of a stage with these layers and both ends, without copies of tied tensors.
std::int64_t parameters_with(Architecture architecture, Layers layers, int mtp_layers = 0) {
    architecture.layers = std::move(layers);
    architecture.mtp_layers = mtp_layers;
    return uncut(architecture, {0, architecture.layers.count(), true, true},
                 ExpertParameters::Counted)
        .parameter_elements();
}

/// The last layers, as few as have the parts of the layer that predicts a further token.
Layers decides_ahead(const Layers& layers) {
    int first = layers.count() - 1;
    const auto from = [&] {
        Layers some;
        for (int layer = first; layer < layers.count(); ++layer) some.append(layers[layer]);
        return some;
    };
    while (first > 0 && from().ahead() != layers.ahead()) --first;
    return from();
}

constexpr std::size_t kMostCountsKept = 16;

}  // namespace

std::int64_t parameter_count(const Architecture& architecture) {
    // The plans of a sweep ask for the same counts again and again.
    static auto& known = *new Memo<Architecture, const std::int64_t>(kMostCountsKept);
    return *known.get(architecture, [&] {
        const std::int64_t without = parameters_with(architecture, {});
        std::int64_t sum = without;
        const std::vector<Layer>& kinds = architecture.layers.kinds();
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            const std::int64_t one = parameters_with(architecture, {kinds[kind], 1}) - without;
            sum += architecture.layers.count_of(kind) * one;
        }
        if (architecture.mtp_layers > 0) {
            const Layers last = decides_ahead(architecture.layers);
            sum += architecture.mtp_layers *
                   (parameters_with(architecture, last, 1) - parameters_with(architecture, last));
        }
        return std::make_unique<const std::int64_t>(sum);
    });
}

namespace {

/// The parameters of the layer's experts that do not process a token.
std::int64_t idle_parameters(const Layer& layer, const Architecture& architecture) {
    const auto* experts = layer.as<Experts>();
    if (experts == nullptr) return 0;
    const std::int64_t inner = is_gated(experts->activation) ? 2 * experts->ffn : experts->ffn;
    const std::int64_t width = experts->width(architecture.hidden);
    const std::int64_t biases = experts->bias ? inner + width : 0;
    return (experts->count - experts->per_token) * (width * (inner + experts->ffn) + biases);
}

}  // namespace

std::int64_t tower_parameter_count(const Architecture& architecture) {
    if (!architecture.tower) return architecture.tower_parameters;
    Architecture text = architecture;
    text.tower.reset();
    return parameter_count(architecture) - parameter_count(text);
}

std::int64_t active_parameter_count(const Architecture& architecture) {
    if (architecture.tower) {
        Architecture text = architecture;
        text.tower.reset();
        return active_parameter_count(text);
    }
    const Layers& layers = architecture.layers;
    std::int64_t idle = architecture.mtp_layers * idle_parameters(layers.ahead(), architecture);
    for (std::size_t kind = 0; kind < layers.kinds().size(); ++kind)
        idle += layers.count_of(kind) * idle_parameters(layers.kinds()[kind], architecture);
    return parameter_count(architecture) - idle;
}

std::vector<Parameter> whole_parameters(const Architecture& architecture) {
    return uncut(architecture, {0, architecture.layers.count(), true, true}).parameters;
}

std::vector<Buffer> whole_buffers(const Architecture& architecture) {
    return uncut(architecture, {0, architecture.layers.count(), true, true}).buffers;
}

std::vector<std::string> parameter_names(const Architecture& architecture,
                                         const StageContent& content) {
    std::vector<std::string> names;
    for (const Parameter& parameter : uncut(architecture, content).parameters) {
        names.push_back(parameter.name);
    }
    return names;
}

}  // namespace debubble::models
