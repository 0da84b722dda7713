#include "models/read/layer_reader.h"

#include <utility>
#include <vector>

#include "models/network/architecture_limits.h"
#include "models/read/architecture_words.h"
#include "text/fields.h"

namespace debubble::models {
namespace {

using text::custom;
using text::Fields;
using text::flag;
using text::Form;
using text::real;
using text::whole;
using text::word;

std::vector<Form> factors_form() {
    return {
        Form{text::ListForm{{Form{text::RealForm{kLeastRopeFactor, kMostRopeFactor, {}}}}, {}}}};
}
void read_short_factors(text::MappingReader& in, std::string_view key, RopeScaling& scaling) {
    in.reals(key, scaling.short_factors, kLeastRopeFactor, kMostRopeFactor);
}
void read_long_factors(text::MappingReader& in, std::string_view key, RopeScaling& scaling) {
    in.reals(key, scaling.long_factors, kLeastRopeFactor, kMostRopeFactor);
}

const Fields<RopeScaling>& scaling_fields() {
    static const Fields<RopeScaling> kFields{
        {"type", text::required(word(&RopeScaling::kind, kRopeScalings, "type of RoPE scaling")),
         "The scaling type, as in transformers.", "yarn"},
        {"factor", text::required(real(&RopeScaling::factor, 1, 1e6)),
         "The factor by which the context is extended.", "8"},
        {"original_positions", whole(&RopeScaling::original_positions, 1, kMostPositions, "tokens"),
         "The maximum sequence length before the extension.", "8192"},
        {"low_frequency_factor", real(&RopeScaling::low_frequency_factor, 0, 1e6),
         "For llama3: frequencies with wavelengths above original_positions divided by this are "
         "scaled by the factor.",
         "1"},
        {"high_frequency_factor", real(&RopeScaling::high_frequency_factor, 0, 1e6),
         "For llama3: frequencies with wavelengths below original_positions divided by this are "
         "unchanged.",
         "4"},
        {"beta_fast", real(&RopeScaling::beta_fast, 0, 1e6),
         "For yarn (beta_fast): dimensions with more rotations than this over original_positions "
         "are unchanged.",
         "32"},
        {"beta_slow", real(&RopeScaling::beta_slow, 0, 1e6),
         "For yarn (beta_slow): dimensions with fewer rotations than this are scaled by the "
         "factor.",
         "1"},
        {"mscale", zero_unsets(real(&RopeScaling::mscale, 0, 1e6)),
         "For yarn as in DeepSeek (mscale): the factor in the scale of the scores.", "1",
         "0: none"},
        {"truncate", flag(&RopeScaling::truncate),
         "For yarn: the bounds between the dimensions are rounded to integers.", "false"},
        {"short_factors", custom(read_short_factors, factors_form()),
         "For longrope: the factor of each frequency for sequences up to original_positions.",
         "[1.05, 1.1]", "none"},
        {"long_factors", custom(read_long_factors, factors_form()),
         "For longrope: the factor of each frequency for longer sequences.", "[1.05, 4.2]",
         "none"}};
    return kFields;
}

}  // namespace

void read_rope_scaling(text::MappingReader& in, std::string_view key,
                       std::optional<RopeScaling>& scaling) {
    const text::NodePtr map = in.value(key);
    if (!map) return;
    text::MappingReader inner(map, key, in.mistakes());
    RopeScaling read;
    read_fields(inner, scaling_fields(), read);
    inner.finish();
    const bool longrope = read.kind == RopeScaling::Kind::Longrope;
    for (const std::string_view factors : {"short_factors", "long_factors"}) {
        if (longrope) inner.demand(factors);
        if (!longrope && inner.has(factors))
            inner.complain(factors, "only longrope takes a factor for each frequency");
    }
    scaling = std::move(read);
}

text::Form rope_scaling_form() {
    return Form{text::MapForm{described(scaling_fields())}};
}

}  // namespace debubble::models
