#include "exec/io/checkpoint/hugging_face_layout.h"

#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "models/weight_format.h"

namespace debubble::exec {
namespace {

/// "model.layers.3.mlp.experts.5.gate_proj.weight", taken apart.
struct ExpertName {
    std::string_view experts;  ///< "model.layers.3.mlp.experts."
    std::int64_t index = 0;
    std::string_view part;  ///< "gate_proj"
    bool bias = false;
};

std::optional<ExpertName> expert_name(std::string_view name) {
    constexpr std::string_view kExperts = ".experts.";
    const std::size_t at = name.find(kExperts);
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t number = at + kExperts.size();
    const std::size_t dot = name.find('.', number);
    const std::size_t last = name.rfind('.');
    ExpertName found{name.substr(0, number), 0, name.substr(dot + 1, last - dot - 1)};
    std::from_chars(name.data() + number, name.data() + dot, found.index);
    found.bias = name.substr(last) == ".bias";
    return found;
}

/// gpt-oss's: the experts of a layer in one tensor [experts, inputs, outputs], with a gate's and the
/// other product's columns in turn; biases [experts, outputs] likewise.
StoredParameter stacked(const models::Experts& experts, const models::Parameter& parameter,
                        const ExpertName& name) {
    const bool down = name.part == "down_proj";
    const std::int64_t outputs = parameter.shape.front();
    const std::int64_t step = down ? 1 : 2;  // between neighbouring outputs
    const std::int64_t row = step * outputs;
    StoredParameter stored;
    stored.tensor = fmt::format("{}{}{}", name.experts, down ? "down_proj" : "gate_up_proj",
                                name.bias ? "_bias" : "");
    Slice place{whole(parameter.shape), 0, {step}};
    stored.shape = {experts.count, row};
    if (!name.bias) {
        stored.shape = {experts.count, parameter.shape.back(), row};
        place.strides = {step, row};
    }
    place.offset = name.index * (elements_of(stored.shape) / experts.count) +
                   (name.part == "up_proj" ? 1 : 0);
    stored.places = {std::move(place)};
    return stored;
}

}  // namespace

StoredParameter stored_parameter(const models::Architecture& architecture,
                                 const models::Parameter& parameter) {
    const models::WeightFormat format = models::weight_format(architecture.family);
    if (format.stacked_experts && parameter.expert)
        if (const auto name = expert_name(parameter.name))
            return stacked(*architecture.layers.first<models::Experts>(), parameter, *name);
    StoredParameter stored{parameter.name, parameter.shape, {}};
    stored.places = {{whole(parameter.shape), 0, row_major_strides(parameter.shape)}};
    if (architecture.zero_centred_norms && parameter.initial == models::Initial::Ones)
        stored.minus = 1;
    return stored;
}

}  // namespace debubble::exec
