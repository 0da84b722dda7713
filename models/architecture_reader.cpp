#include "models/architecture_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/architecture_check.h"
#include "models/architecture_limits.h"
#include "models/architecture_words.h"
#include "models/graph.h"
#include "models/hf_config_reader.h"
#include "models/weight_format.h"
#include "text/mapping_reader.h"

namespace debubble::models {
namespace {

constexpr std::size_t kMostShardings = 256;   ///< most lines of a table
constexpr std::size_t kLongestPattern = 128;  ///< in characters

/// The values that every member of a family has, unless its file gives others.
Architecture of_family(Family family) {
    Architecture a;
    a.family = family;
    switch (family) {
        case Family::Gpt2: break;
        case Family::Llama:
            a.norm = Norm::RmsNorm;
            a.activation = Activation::Swiglu;
            a.positions = Positions::Rope;
            a.linear_bias = false;
            a.tied_embedding = false;
            break;
        case Family::Vit:
            a.activation = Activation::Gelu;
            a.tied_embedding = false;
            a.causal = false;
            a.norm_eps = 1e-12;
            a.channels = 3;
            break;
    }
    return a;
}

void read_sizes(text::MappingReader& in, Architecture& a) {
    for (const std::string_view key : {"layers", "hidden", "heads", "vocab"}) in.demand(key);
    in.whole("layers", a.layers, 1, kMostLayers);
    in.whole("hidden", a.hidden, 1, kWidest);
    in.whole("heads", a.heads, 1, kMostHeads);
    in.whole("vocab", a.vocab, 1, kLargestVocabulary);
    a.kv_heads = a.heads;
    in.whole("kv_heads", a.kv_heads, 1, kMostHeads);
    if (!in.whole("head_dim", a.head_dim, 1, kWidest)) {
        a.head_dim = std::max<std::int64_t>(1, a.hidden / a.heads);
        if (in.good() && a.hidden % a.heads != 0)
            in.complain("heads", fmt::format("{} heads do not divide the {} of 'hidden'; give "
                                             "'head_dim' if that is intended",
                                             a.heads, a.hidden));
    }
    a.ffn = 4 * a.hidden;
    in.whole("ffn", a.ffn, 1, kWidestMlp);
    in.whole("experts", a.experts, 1, kMostExperts);
    if (a.experts > 0) in.demand("experts_per_token");
    if (in.whole("experts_per_token", a.experts_per_token, 1, kMostExperts) && a.experts == 0)
        in.complain("experts_per_token", "the model has no 'experts' for them");
}

void read_image(text::MappingReader& in, Architecture& a) {
    const auto optional_size = [&](std::string_view key, std::optional<std::int64_t>& out) {
        std::int64_t value = 0;
        if (in.whole(key, value, 1, kLargestImage)) out = value;
    };
    optional_size("image_size", a.image_size);
    optional_size("patch_size", a.patch_size);
    optional_size("channels", a.channels);
    if (!weight_format(a.family).patches) {
        for (const std::string_view key : {"image_size", "patch_size", "channels"})
            if (in.has(key)) in.complain(key, fmt::format("only a vit has '{}'", key));
        in.demand("max_positions");
    } else {
        in.demand("image_size");
        in.demand("patch_size");
        a.max_positions = vit_positions(a);
    }
    in.whole("max_positions", a.max_positions, 1, kMostPositions);
}

void read_sharding(const text::NodePtr& table, Architecture& a, text::Mistakes& mistakes) {
    if (!table) return;
    text::MappingReader in(table, "sharding", mistakes);
    for (const text::Node::Entry& entry : in.mapping()->entries) {
        ShardingOverride line{entry.key, Sharding::Replicated};
        if (in.word(entry.key, line.sharding, kShardings, "sharding"))
            a.sharding.push_back(std::move(line));
    }
}

/// Every line of a sharding table must name a parameter: else it is misspelt.
void check_sharding(const Architecture& a, const text::NodePtr& table, text::Mistakes& mistakes) {
    if (!table) return;
    text::MappingReader in(table, "sharding", mistakes);
    std::vector<ShardingOverride> unmatched = a.sharding;
    for (std::size_t i = 0; i < unmatched.size(); ++i) {
        const std::string& pattern = unmatched[i].pattern;
        if (i < kMostShardings && pattern.size() <= kLongestPattern) continue;
        in.complain(pattern, fmt::format("a sharding table has at most {} lines of {} characters",
                                         kMostShardings, kLongestPattern));
        return;
    }
    for (int layer = 0; layer < a.layers && !unmatched.empty(); ++layer) {
        const auto names = parameter_names(a, {layer, 1, layer == 0, layer == 0});
        std::erase_if(unmatched, [&](const ShardingOverride& line) {
            return std::any_of(names.begin(), names.end(),
                               [&](const std::string& name) { return line.matches(name); });
        });
    }
    for (const ShardingOverride& line : unmatched)
        in.complain(line.pattern,
                    fmt::format("'{}' names no parameter of the model", line.pattern));
}

Architecture read_map(const text::NodePtr& map, text::Mistakes& mistakes) {
    text::MappingReader in(map, "model", mistakes);
    Family family = Family::Gpt2;
    in.demand("family");
    in.word("family", family, kFamilies);
    Architecture a = of_family(family);
    a.name = "inline";
    in.text("name", a.name);
    in.text("source", a.source);
    read_sizes(in, a);
    read_image(in, a);
    in.word("norm", a.norm, kNorms);
    in.word("activation", a.activation, kActivations);
    in.word("positions", a.positions, kPositions);
    in.flag("linear_bias", a.linear_bias);
    in.flag("tied_embedding", a.tied_embedding);
    in.flag("causal", a.causal);
    in.real("dropout", a.dropout, 0, 0.999);
    in.real("norm_eps", a.norm_eps, 0, 1);
    in.real("rope_theta", a.rope_theta, 1, 1e12);
    read_sharding(in.value("sharding"), a, mistakes);
    in.finish();
    if (in.good()) check_architecture(a, in);
    if (in.good()) check_sharding(a, in.value("sharding"), mistakes);
    return a;
}

}  // namespace

Architecture read_own_architecture(const text::NodePtr& map, text::Mistakes& mistakes) {
    return read_map(map, mistakes);
}

Architecture read_architecture(const text::NodePtr& value, text::ShippedFiles& shipped,
                               text::Mistakes& mistakes) {
    const text::NodePtr map = shipped.resolve(value, "model", "models/zoo", mistakes);
    if (!map) return {};
    return is_hf_config(*map) ? read_hf_config(map, mistakes) : read_map(map, mistakes);
}

Architecture read_model(const std::string& name_or_path) {
    text::ShippedFiles shipped;
    text::Mistakes mistakes;
    std::string reference = name_or_path;
    std::error_code error;
    if (!text::is_path(reference) && std::filesystem::is_directory(reference, error)) {
        const std::vector<std::string> known = zoo();
        if (std::ranges::find(known, reference) == known.end()) reference += '/';
    }
    Architecture a = read_architecture(text::make_scalar(reference, {}), shipped, mistakes);
    mistakes.throw_if_any();
    return a;
}

std::vector<std::string> zoo() {
    return text::shipped_names("models/zoo");
}

}  // namespace debubble::models
