#include "exec/io/checkpoint/hugging_face_layout.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace debubble::exec {
namespace {

constexpr RenamedPart kGptNeox[] = {
    {"model.embed_tokens.", "gpt_neox.embed_in."}, {"model.norm.", "gpt_neox.final_layer_norm."},
    {"model.layers.", "gpt_neox.layers."},         {"lm_head.", "embed_out."},
    {".self_attn.o_proj.", ".attention.dense."},   {".self_attn.", ".attention."},
    {".mlp.up_proj.", ".mlp.dense_h_to_4h."},      {".mlp.down_proj.", ".mlp.dense_4h_to_h."}};
constexpr RenamedPart kGptOss[] = {{".mlp.gate.", ".mlp.router."}};

constexpr HuggingFaceLayout kLayouts[] = {
    {.type = ""},
    {.type = "gpt2", .base = "transformer.", .bare = true},
    {.type = "vit", .base = "vit."},
    {.type = "nemotron_h", .base = "backbone."},
    {.type = "gpt_neox",
     .base = "gpt_neox.",
     .names = kGptNeox,
     .qkv = StoredQkv::Heads,
     .qkv_name = "query_key_value"},
    {.type = "gpt_oss", .names = kGptOss, .stacked_experts = true},
    {.type = "phi3", .qkv = StoredQkv::Rows, .qkv_name = "qkv_proj", .joined_gates = true}};

/// The name with one part of it replaced; nothing if it is not there.
std::optional<std::string> replaced(std::string_view name, std::string_view part,
                                    std::string_view with) {
    const std::size_t at = name.find(part);
    if (at == std::string_view::npos) return std::nullopt;
    return fmt::format("{}{}{}", name.substr(0, at), with, name.substr(at + part.size()));
}

/// The number after `word` in a name, such as "layers.".
std::int64_t number_after(std::string_view name, std::string_view word) {
    std::int64_t number = 0;
    const std::size_t at = name.find(word);
    if (at != std::string_view::npos)
        std::from_chars(name.data() + at + word.size(), name.data() + name.size(), number);
    return number;
}

/// The elements that follow each other between neighbours of a weight's or a bias's outputs.
std::int64_t inputs_of(const models::Parameter& parameter) {
    return parameter.shape.size() > 1 ? parameter.shape.back() : 1;
}

/// Rows [first, first + count) of the parameter, from row `at` of the stored tensor.
Slice rows(const models::Parameter& parameter, std::int64_t first, std::int64_t count,
           std::int64_t at) {
    Slice slice{whole(parameter.shape), at * inputs_of(parameter),
                row_major_strides(parameter.shape)};
    slice.box.begin.front() = first;
    slice.box.extent.front() = count;
    return slice;
}

/// Gives the stored tensor as many rows.
void set_rows(StoredParameter& stored, const models::Parameter& parameter, std::int64_t count) {
    stored.shape = parameter.shape;
    stored.shape.front() = count;
}

/// Queries (0), keys (1) or values (2) in the one tensor that has all three.
void join_qkv(StoredParameter& stored, StoredQkv form, const models::Attention& attention,
              const models::Parameter& parameter, int which) {
    const std::int64_t queries = attention.query_width();
    const std::int64_t keys = attention.key_width();
    set_rows(stored, parameter, queries + 2 * keys);
    const std::int64_t count = parameter.shape.front();
    if (form == StoredQkv::Rows) {
        stored.places = {rows(parameter, 0, count, which == 0 ? 0 : queries + (which - 1) * keys)};
        return;
    }
    stored.places.clear();
    const std::int64_t width = attention.head_dim;
    for (std::int64_t head = 0; head * width < count; ++head)
        stored.places.push_back(rows(parameter, head * width, width, (3 * head + which) * width));
}

/// An expert's weight [outputs, inputs], or its bias, in the tensor of all experts.
void stack(StoredParameter& stored, const models::Experts& experts,
           const models::Parameter& parameter) {
    constexpr std::string_view kExperts = ".experts.";
    const std::string_view name = parameter.name;
    const std::size_t at = name.find(kExperts) + kExperts.size();
    const bool down = name.find(".down_proj.") != std::string_view::npos;
    const bool bias = parameter.shape.size() == 1;
    const std::int64_t step = down ? 1 : 2;  // between neighbouring outputs
    const std::int64_t row = step * parameter.shape.front();
    stored.tensor = fmt::format("{}{}{}", name.substr(0, at), down ? "down_proj" : "gate_up_proj",
                                bias ? "_bias" : "");
    stored.shape = {experts.count, row};
    Slice place{whole(parameter.shape), 0, {step}};
    if (!bias) {
        stored.shape = {experts.count, parameter.shape.back(), row};
        place.strides = {step, row};
    }
    place.offset = number_after(name, kExperts) * (elements_of(stored.shape) / experts.count) +
                   (name.find(".up_proj.") == std::string_view::npos ? 0 : 1);
    stored.places = {std::move(place)};
}

/// Joins the parameter with others of its layer, if the layout does.
void join(StoredParameter& stored, const HuggingFaceLayout& layout,
          const models::Architecture& architecture, const models::Parameter& parameter) {
    // A module that predicts further tokens is numbered as a layer after the last, and is like it.
    const std::int64_t last = architecture.layers.count() - 1;
    const std::int64_t layer = std::min(number_after(parameter.name, "layers."), last);
    const models::Layer& kind = architecture.layers[static_cast<int>(layer)];
    constexpr std::string_view kQkv[] = {".q_proj.", ".k_proj.", ".v_proj."};
    const auto* attention = kind.as<models::Attention>();
    for (int which = 0; attention != nullptr && which < 3; ++which)
        if (const auto name =
                replaced(stored.tensor, kQkv[which], fmt::format(".{}.", layout.qkv_name));
            name && layout.qkv != StoredQkv::Apart) {
            stored.tensor = *name;
            join_qkv(stored, layout.qkv, *attention, parameter, which);
        }
    for (const std::string_view part : {".gate_proj.", ".up_proj."})
        if (const auto name = replaced(stored.tensor, part, ".gate_up_proj.");
            name && layout.joined_gates) {
            const std::int64_t ffn = parameter.shape.front();
            stored.tensor = *name;
            set_rows(stored, parameter, 2 * ffn);
            stored.places = {rows(parameter, 0, ffn, part == ".gate_proj." ? 0 : ffn)};
        }
}

}  // namespace

const HuggingFaceLayout& hugging_face_layout(std::string_view type) {
    const auto found = std::ranges::find(kLayouts, type, &HuggingFaceLayout::type);
    return found == std::end(kLayouts) ? kLayouts[0] : *found;
}

bool is_head(std::string_view name) {
    return name.starts_with("lm_head.") || name.starts_with("classifier.") ||
           name.starts_with("embed_out.");
}

std::string full_name(const HuggingFaceLayout& layout, std::string_view stored) {
    if (stored.starts_with(layout.base) || is_head(stored)) return std::string(stored);
    return fmt::format("{}{}", layout.base, stored);
}

std::string canonical_name(const HuggingFaceLayout& layout, std::string_view full) {
    const bool shorter = layout.bare && full.starts_with(layout.base);
    return std::string(shorter ? full.substr(layout.base.size()) : full);
}

StoredParameter stored_parameter(const HuggingFaceLayout& layout,
                                 const models::Architecture& architecture,
                                 const models::Parameter& parameter) {
    StoredParameter stored{parameter.name, parameter.shape, {}};
    stored.places = {{whole(parameter.shape), 0, row_major_strides(parameter.shape)}};
    if (architecture.zero_centred_norms && parameter.initial == models::Initial::Ones)
        stored.minus = 1;
    if (layout.stacked_experts && parameter.expert)
        stack(stored, *architecture.layers.first<models::Experts>(), parameter);
    else
        join(stored, layout, architecture, parameter);
    for (const RenamedPart& part : layout.names)
        if (auto name = replaced(stored.tensor, part.here, part.there))
            stored.tensor = *std::move(name);
    stored.tensor = full_name(layout, stored.tensor);
    return stored;
}

}  // namespace debubble::exec
