#include "models/architecture_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/architecture_check.h"
#include "models/architecture_limits.h"
#include "models/architecture_words.h"
#include "models/graph.h"
#include "models/hf_config_reader.h"
#include "models/weight_format.h"
#include "text/fields.h"
#include "text/mapping_reader.h"

namespace debubble::models {
namespace {

using text::custom;
using text::described;
using text::Fields;
using text::flag;
using text::Form;
using text::free_text;
using text::names_of;
using text::read_fields;
using text::real;
using text::required;
using text::whole;
using text::word;

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

/// Precondition: `hidden` and `heads` have been read.
void read_head_dim(text::MappingReader& in, std::string_view key, Architecture& a) {
    if (in.whole(key, a.head_dim, 1, kWidest)) return;
    a.head_dim = std::max<std::int64_t>(1, a.hidden / a.heads);
    if (in.good() && a.hidden % a.heads != 0)
        in.complain("heads", fmt::format("{} heads do not divide the {} of 'hidden'; give "
                                         "'head_dim' if that is intended",
                                         a.heads, a.hidden));
}

/// Precondition: `heads` has been read.
void read_kv_heads(text::MappingReader& in, std::string_view key, Architecture& a) {
    a.kv_heads = a.heads;
    in.whole(key, a.kv_heads, 1, kMostHeads);
}

/// Precondition: `hidden` has been read.
void read_ffn(text::MappingReader& in, std::string_view key, Architecture& a) {
    a.ffn = 4 * a.hidden;
    in.whole(key, a.ffn, 1, kWidestMlp);
}

/// Precondition: `experts` has been read.
void read_experts_per_token(text::MappingReader& in, std::string_view key, Architecture& a) {
    if (a.experts > 0) in.demand(key);
    if (in.whole(key, a.experts_per_token, 1, kMostExperts) && a.experts == 0)
        in.complain(key, "the model has no 'experts' for them");
}

/// Precondition: the keys of images have been read.
void read_max_positions(text::MappingReader& in, std::string_view key, Architecture& a) {
    if (!weight_format(a.family).patches) {
        for (const std::string_view image : {"image_size", "patch_size", "channels"})
            if (in.has(image)) in.complain(image, fmt::format("only a vit has '{}'", image));
        in.demand(key);
    } else {
        in.demand("image_size");
        in.demand("patch_size");
        a.max_positions = vit_positions(a);
    }
    in.whole(key, a.max_positions, 1, kMostPositions);
}

void read_sharding(text::MappingReader& model, std::string_view key, Architecture& a) {
    const text::NodePtr table = model.value(key);
    if (!table) return;
    text::MappingReader in(table, key, model.mistakes());
    for (const text::Node::Entry& entry : in.mapping()->entries) {
        ShardingOverride line{entry.key, Sharding::Replicated};
        if (in.word(entry.key, line.sharding, kShardings, "sharding"))
            a.sharding.push_back(std::move(line));
    }
}

const Fields<Architecture>& family_fields() {
    static const Fields<Architecture> kFields{
        {"family", required(word(&Architecture::family, kFamilies)),
         "The kind of network, which decides the tensors' names and the defaults of other keys.",
         "llama"}};
    return kFields;
}

const Fields<Architecture>& architecture_fields() {
    static const Fields<Architecture> kFields{
        {"name", free_text(&Architecture::name), "The model's name.", "my-llama", "inline"},
        {"source", free_text(&Architecture::source), "The paper or repository of the figures.",
         "arXiv:2407.21783, table 3", "none"},
        {"layers", required(whole(&Architecture::layers, 1, kMostLayers, "layers")),
         "Transformer layers.", "32"},
        {"hidden", required(whole(&Architecture::hidden, 1, kWidest)),
         "The width of the hidden state.", "4096"},
        {"heads", required(whole(&Architecture::heads, 1, kMostHeads, "heads")),
         "Attention heads of a layer.", "32"},
        {"vocab", required(whole(&Architecture::vocab, 1, kLargestVocabulary)),
         "The number of tokens; of classes for a vit.", "128256"},
        {"kv_heads", custom(read_kv_heads, {Form{text::WholeForm{1, kMostHeads, "heads"}}}),
         "Heads of keys and values (grouped-query attention).", "8", "heads"},
        {"head_dim", custom(read_head_dim, {Form{text::WholeForm{1, kWidest, {}}}}),
         "The width of a head.", "128", "hidden / heads"},
        {"ffn", custom(read_ffn, {Form{text::WholeForm{1, kWidestMlp, {}}}}),
         "The inner width of the MLP; the width of each half if it is gated.", "14336",
         "4 x hidden"},
        {"experts", whole(&Architecture::experts, 1, kMostExperts, "experts"),
         "MLPs of a layer that a router chooses from.", "8", "none: one MLP for every token"},
        {"experts_per_token",
         custom(read_experts_per_token, {Form{text::WholeForm{1, kMostExperts, "experts"}}}),
         "Experts that the router chooses for a token.", "2", "none: with experts it is required"},
        {"image_size", whole(&Architecture::image_size, 1, kLargestImage, "pixels"),
         "The side of the image; a vit requires it.", "224", "none"},
        {"patch_size", whole(&Architecture::patch_size, 1, kLargestImage, "pixels"),
         "The side of a patch of the image; a vit requires it.", "16", "none"},
        {"channels", whole(&Architecture::channels, 1, kLargestImage, "channels"),
         "The channels of the image, for a vit.", "3"},
        {"max_positions",
         custom(read_max_positions, {Form{text::WholeForm{1, kMostPositions, "tokens"}}}),
         "Tokens of the longest sample.", "8192",
         "required; of a vit, its patches and the class token"},
        {"norm", word(&Architecture::norm, kNorms), "The norm of the layers.", "rms_norm"},
        {"activation", word(&Architecture::activation, kActivations),
         "The MLP's activation; swiglu is gated.", "swiglu"},
        {"positions", word(&Architecture::positions, kPositions),
         "How positions are told: a learned table, rotated queries and keys, or not at all.",
         "rope"},
        {"linear_bias", flag(&Architecture::linear_bias),
         "The projections of attention and MLP have biases.", "false"},
        {"tied_embedding", flag(&Architecture::tied_embedding), "The head is the token embedding.",
         "false"},
        {"causal", flag(&Architecture::causal), "A token sees only those before it.", "false"},
        {"dropout", real(&Architecture::dropout, 0, 0.999, "share"),
         "The probability of dropout in the published recipe.", "0.1"},
        {"norm_eps", real(&Architecture::norm_eps, 0, 1),
         "The term that keeps a norm's denominator from 0.", "1e-5"},
        {"rope_theta", real(&Architecture::rope_theta, 1, 1e12),
         "The base of the angles of rotary positions.", "500000"},
        {"sharding",
         custom(read_sharding,
                {Form{text::TableForm{
                    "PATTERN", "^.+$", {Form{text::WordForm{names_of(kShardings)}}}}}}),
         "Parameters that tensor parallelism cuts in another way than Megatron's, by patterns of "
         "their names.",
         "{h.*.mlp.c_proj.weight: row}", "Megatron's cut"}};
    return kFields;
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
    Architecture by_name;
    read_fields(in, family_fields(), by_name);
    Architecture a = of_family(by_name.family);
    a.name = "inline";
    read_fields(in, architecture_fields(), a);
    in.finish();
    if (in.good()) check_architecture(a, in);
    if (in.good()) check_sharding(a, in.value("sharding"), mistakes);
    return a;
}

}  // namespace

std::vector<text::Key> architecture_keys() {
    std::vector<std::pair<std::string, std::vector<text::Key>>> families;
    for (const auto& [name, family] : kFamilies) {
        Architecture fresh = of_family(family);
        std::vector<text::Key> keys = described(family_fields(), fresh);
        const std::vector<text::Key> more = described(architecture_fields(), fresh);
        keys.insert(keys.end(), more.begin(), more.end());
        families.emplace_back(name, std::move(keys));
    }
    return text::merged_variants(families);
}

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
