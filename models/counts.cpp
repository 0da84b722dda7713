#include "base/memo.h"
#include "models/graph.h"

namespace debubble::models {

namespace {

StageGraph uncut(Architecture architecture, const StageContent& content) {
    architecture.sharding.clear();
    Execution execution;
    execution.seq_length = architecture.sees_images() ? architecture.max_positions : 1;
    execution.kernels.vocabulary_multiple = 1;
    return build_stage(architecture, execution, content);
}

/// The parameters of a stage with this many layers, without copies of tied tensors.
std::int64_t parameters_with(Architecture architecture, int layers) {
    architecture.layers = layers;
    return uncut(architecture, {0, layers, true, true}).parameter_elements();
}

constexpr std::size_t kMostCountsKept = 16;

}  // namespace

std::int64_t parameter_count(const Architecture& architecture) {
    // The plans of a sweep ask for the same counts again and again.
    static Memo<Architecture, const std::int64_t> known(kMostCountsKept);
    return *known.get(architecture, [&] {
        const std::int64_t without = parameters_with(architecture, 0);
        const std::int64_t layer = parameters_with(architecture, 1) - without;
        return std::make_unique<const std::int64_t>(without + architecture.layers * layer);
    });
}

std::int64_t active_parameter_count(const Architecture& architecture) {
    if (architecture.experts == 0) return parameter_count(architecture);
    const std::int64_t expert =
        (architecture.gated() ? 3 : 2) * architecture.hidden * architecture.ffn;
    return parameter_count(architecture) -
           architecture.layers * (architecture.experts - architecture.experts_per_token) * expert;
}

std::vector<Parameter> whole_parameters(const Architecture& architecture) {
    return uncut(architecture, {0, architecture.layers, true, true}).parameters;
}

std::vector<std::string> parameter_names(const Architecture& architecture,
                                         const StageContent& content) {
    std::vector<std::string> names;
    for (const Parameter& parameter : uncut(architecture, content).parameters) {
        names.push_back(parameter.name);
    }
    return names;
}

double model_flops_per_sample(const Architecture& model, std::int64_t seq_length) {
    const auto tokens = static_cast<double>(seq_length);
    const auto hidden = static_cast<double>(model.hidden);
    const auto query_width = static_cast<double>(model.heads * model.head_dim);
    const auto key_width = static_cast<double>(model.kv_heads * model.head_dim);
    double mlp = (model.gated() ? 3.0 : 2.0) * hidden * static_cast<double>(model.ffn);
    if (model.experts > 0) {  // the experts of one token, and the router
        mlp = mlp * static_cast<double>(model.experts_per_token) +
              hidden * static_cast<double>(model.experts);
    }
    const double layer_weights = hidden * (2 * query_width + 2 * key_width) + mlp;
    // A product of weights costs 2 FLOPs forward and 4 backward per weight and token; scores and
    // context cost 4 s q forward per token, three times that in all.
    const double layer = 6 * layer_weights * tokens + 12 * query_width * tokens * tokens;
    const auto classes = static_cast<double>(model.vocab);
    double ends = 6 * hidden * classes * tokens;
    if (model.sees_images()) {
        const auto side = static_cast<double>(model.patch_size.value_or(16));
        const double pixels = static_cast<double>(model.channels.value_or(3)) * side * side;
        ends = 6 * hidden * (classes + pixels * (tokens - 1));
    }
    return model.layers * layer + ends;
}

}  // namespace debubble::models
