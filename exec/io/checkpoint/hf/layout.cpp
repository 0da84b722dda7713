#include "exec/io/checkpoint/hf/layout.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace debubble::exec {
namespace {

constexpr HuggingFaceLayout kLayouts[] = {
    {.type = ""},
    {.type = "gpt2", .base = "transformer.", .bare = true},
    {.type = "mpt", .base = "transformer."},
    {.type = "vit", .base = "vit."},
    {.type = "nemotron_h", .base = "backbone."},
    {.type = "gpt_neox", .base = "gpt_neox.", .qkv = StoredQkv::Heads},
    {.type = "gpt_oss", .experts = StoredExperts::InTurn},
    {.type = "llama4_text", .neighbours = true, .experts = StoredExperts::Halves},
    {.type = "llama4", .neighbours = true, .experts = StoredExperts::Halves},
    {.type = "phi3", .qkv = StoredQkv::Rows, .joined_gates = true}};

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
void join_qkv(StoredParameter& stored, const models::Attention& attention,
              const models::Parameter& parameter, int which) {
    const std::int64_t queries = attention.query_width();
    const std::int64_t keys = attention.key_width();
    set_rows(stored, parameter, queries + 2 * keys);
    stored.places = {
        rows(parameter, 0, parameter.shape.front(), which == 0 ? 0 : queries + (which - 1) * keys)};
}

/// The tensor of queries, keys and values with its rows by heads.
void sort_by_heads(StoredParameter& stored, const models::Attention& attention,
                   const models::Parameter& parameter) {
    const std::int64_t width = attention.head_dim;
    stored.places.clear();
    for (std::int64_t which = 0; which < 3; ++which)
        for (std::int64_t head = 0; head < attention.heads; ++head)
            stored.places.push_back(rows(parameter, (which * attention.heads + head) * width, width,
                                         (3 * head + which) * width));
}

/// Queries or keys whose rotated pairs are neighbouring rows: every other row is of the first half
/// of a head.
void take_pairs_apart(StoredParameter& stored, const models::Attention& attention,
                      const models::Parameter& parameter) {
    const std::int64_t half = attention.head_dim / 2, halves = parameter.shape.front() / half;
    stored.places.clear();
    for (std::int64_t which = 0; which < halves; ++which) {
        const std::int64_t first = which * half, head = which / 2 * 2 * half;
        stored.places.push_back(rows(parameter, first, half, head + which % 2));
        stored.places.back().strides.front() *= 2;
    }
}

/// An expert's weight [outputs, inputs], or its bias, in the tensor of all experts.
void stack(StoredParameter& stored, StoredExperts form, const models::Experts& experts,
           const models::Parameter& parameter) {
    constexpr std::string_view kExperts = ".experts.";
    const std::string_view name = parameter.name;
    const std::size_t at = name.find(kExperts) + kExperts.size();
    const bool down = name.find(".down_proj.") != std::string_view::npos;
    const bool bias = parameter.shape.size() == 1;
    const std::int64_t outputs = parameter.shape.front();
    const std::int64_t row = down ? outputs : 2 * outputs;
    const std::int64_t step = down || form == StoredExperts::Halves ? 1 : 2;  // between neighbours
    stored.tensor = fmt::format("{}{}{}", name.substr(0, at), down ? "down_proj" : "gate_up_proj",
                                bias ? "_bias" : "");
    stored.shape = {experts.count, row};
    Slice place{whole(parameter.shape), 0, {step}};
    if (!bias) {
        stored.shape = {experts.count, parameter.shape.back(), row};
        place.strides = {step, row};
    }
    place.offset = number_after(name, kExperts) * (elements_of(stored.shape) / experts.count);
    if (name.find(".up_proj.") != std::string_view::npos)
        place.offset += form == StoredExperts::Halves ? outputs : 1;
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
    if (attention != nullptr && layout.qkv == StoredQkv::Heads &&
        parameter.name.find(".query_key_value.") != std::string::npos)
        sort_by_heads(stored, *attention, parameter);
    for (int which = 0; attention != nullptr && attention->rotary && which < 2; ++which)
        if (layout.neighbours && parameter.name.find(kQkv[which]) != std::string::npos)
            take_pairs_apart(stored, *attention, parameter);
    for (int which = 0; attention != nullptr && which < 3; ++which)
        if (const auto name = replaced(stored.tensor, kQkv[which], ".qkv_proj.");
            name && layout.qkv == StoredQkv::Rows) {
            stored.tensor = *name;
            join_qkv(stored, *attention, parameter, which);
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

bool StoredParameter::is(const models::Parameter& parameter, std::string_view name) const {
    const Slice all{whole(parameter.shape), 0, row_major_strides(parameter.shape)};
    return parameter.name == name && minus == 0 && places.size() == 1 && places.front() == all;
}

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
    if (parameter.zero_centred) stored.minus = 1;
    if (layout.experts != StoredExperts::Apart && parameter.expert)
        stack(stored, layout.experts, *architecture.layers.first<models::Experts>(), parameter);
    else
        join(stored, layout, architecture, parameter);
    stored.tensor = full_name(layout, stored.tensor);
    return stored;
}

}  // namespace debubble::exec
