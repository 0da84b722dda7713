#include "models/architecture_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/hf/hf_config.h"
#include "models/network/architecture_limits.h"
#include "models/network/weight_format.h"
#include "models/read/architecture_words.h"
#include "models/read/layer_reader.h"
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

/// A model's file: the network, and the keys that all of its layers share.
struct ArchitectureFile {
    Architecture network;
    LayerKeys layer;
    int layers = 1;
    Positions positions = Positions::Learned;
};

/// The values that every member of a family has, unless its file gives others.
ArchitectureFile of_family(Family family) {
    ArchitectureFile file;
    Architecture& a = file.network;
    a.family = family;
    switch (family) {
        case Family::Gpt2: break;
        case Family::GptNeox:
            a.learned_positions = false;
            a.tied_embedding = false;
            file.layer.activation = Activation::Gelu;
            file.layer.rotary = true;
            file.layer.parallel_residual = true;
            file.positions = Positions::Rope;
            break;
        case Family::Mpt:
            a.learned_positions = false;
            a.norm_bias = false;
            file.layer.activation = Activation::Gelu;
            file.layer.alibi = true;
            file.layer.linear_bias = false;
            file.positions = Positions::Alibi;
            break;
        case Family::Llama:
        case Family::Phi3:
        case Family::Deepseek:
        case Family::Qwen3Next:
        case Family::GptOss:
        case Family::Llama4:
        case Family::Planned:
            a.norm = Norm::RmsNorm;
            a.learned_positions = false;
            a.tied_embedding = false;
            file.layer.activation = Activation::Swiglu;
            file.layer.rotary = true;
            file.positions = Positions::Rope;
            file.layer.linear_bias = false;
            break;
        case Family::NemotronH:
            a.norm = Norm::RmsNorm;
            a.learned_positions = false;
            a.tied_embedding = false;
            file.layer.activation = Activation::SquaredRelu;
            file.positions = Positions::None;
            file.layer.linear_bias = false;
            break;
        case Family::Vit:
            file.layer.activation = Activation::Gelu;
            a.tied_embedding = false;
            a.causal = false;
            a.norm_eps = 1e-12;
            a.channels = 3;
            break;
    }
    return file;
}

/// Precondition: the keys of images have been read.
void read_max_positions(text::MappingReader& in, std::string_view key, ArchitectureFile& file) {
    Architecture& a = file.network;
    if (!weight_format(a.family).patches) {
        for (const std::string_view image : {"image_size", "patch_size", "channels"})
            if (in.has(image)) in.complain(image, fmt::format("'{}' is only for a vit", image));
        in.demand(key);
    } else {
        in.demand("image_size");
        in.demand("patch_size");
        a.max_positions = vit_positions(a);
    }
    in.whole(key, a.max_positions, 1, kMostPositions);
}

void read_sharding(text::MappingReader& model, std::string_view key, ArchitectureFile& file) {
    const text::NodePtr table = model.value(key);
    if (!table) return;
    text::MappingReader in(table, key, model.mistakes());
    for (const text::Node::Entry& entry : in.mapping()->entries) {
        ShardingOverride line{entry.key, Sharding::Replicated};
        if (in.word(entry.key, line.sharding, kShardings, "sharding"))
            file.network.sharding.push_back(std::move(line));
    }
}

void read_vision(text::MappingReader& model, std::string_view key, ArchitectureFile& file) {
    read_tower(model, key, file.network);
}

auto of_network(auto Architecture::*member) {
    return [member](ArchitectureFile & file) -> auto& {
        return file.network.*member;
    };
}

const Fields<ArchitectureFile>& family_fields() {
    static const Fields<ArchitectureFile> kFields{
        {"family", required(word(of_network(&Architecture::family), kFamilies)),
         "The model family, which decides tensor names in checkpoints and the defaults of other "
         "keys.",
         "llama"}};
    return kFields;
}

/// The keys that come before those of the layers, which refer to them.
const Fields<ArchitectureFile>& size_fields() {
    static const Fields<ArchitectureFile> kFields{
        {"name", free_text(of_network(&Architecture::name)), "The model's name.", "my-llama",
         "inline"},
        {"source", free_text(of_network(&Architecture::source)),
         "The paper or repository of the figures.", "arXiv:2407.21783, table 3", "none"},
        {"layers", required(whole(&ArchitectureFile::layers, 1, kMostLayers, "layers")),
         "Transformer layers.", "32"},
        {"hidden", required(whole(of_network(&Architecture::hidden), 1, kWidest)),
         "The hidden size.", "4096"},
        {"vocab", required(whole(of_network(&Architecture::vocab), 1, kLargestVocabulary)),
         "The vocabulary size; for a vit, the number of classes.", "128256"}};
    return kFields;
}

const Fields<ArchitectureFile>& network_fields() {
    static const Fields<ArchitectureFile> kFields{
        {"image_size", whole(of_network(&Architecture::image_size), 1, kLargestImage, "pixels"),
         "The image size in pixels per side; required for a vit.", "224", "none"},
        {"patch_size", whole(of_network(&Architecture::patch_size), 1, kLargestImage, "pixels"),
         "The patch size in pixels per side; required for a vit.", "16", "none"},
        {"channels", whole(of_network(&Architecture::channels), 1, kLargestImage, "channels"),
         "The number of image channels, for a vit.", "3"},
        {"max_positions",
         custom(read_max_positions, {Form{text::WholeForm{1, kMostPositions, "tokens"}}}),
         "The maximum sequence length, in tokens.", "8192",
         "required; for a vit, its patches and the class token"},
        {"norm", word(of_network(&Architecture::norm), kNorms), "The normalization of the layers.",
         "rms_norm"},
        {"tied_embedding", flag(of_network(&Architecture::tied_embedding)),
         "The output head shares its weight with the token embedding.", "false"},
        {"causal", flag(of_network(&Architecture::causal)), "Attention is causal.", "false"},
        {"dropout", real(of_network(&Architecture::dropout), 0, 0.999, "share"),
         "The dropout probability of the published recipe.", "0.1"},
        {"norm_eps", real(of_network(&Architecture::norm_eps), 0, 1), "The epsilon of the norms.",
         "1e-5"},
        {"norm_bias", flag(of_network(&Architecture::norm_bias)),
         "Layer norms have biases; RMS norms never do.", "false"},
        {"zero_centred_norms", flag(of_network(&Architecture::zero_centred_norms)),
         "Checkpoints store norm weights minus 1.", "true"},
        {"scaled_embedding", flag(of_network(&Architecture::scaled_embedding)),
         "Token embeddings are multiplied by the square root of 'hidden'.", "true"},
        {"logit_softcap", real(of_network(&Architecture::logit_softcap), kLeastCap, kMostCap),
         "Soft cap of the logits: cap tanh(logit / cap).", "30", "none"},
        {"mtp_layers", whole(of_network(&Architecture::mtp_layers), 0, kMostMtpLayers, "layers"),
         "Number of multi-token prediction depths, each with a layer like the last one; also "
         "`mtp`.",
         "1"},
        {"streams", whole(of_network(&Architecture::streams), 1, kMostStreams),
         "Number of residual streams, which the parts of each layer mix (hyper-connections).", "4"},
        {"residual_block",
         zero_unsets(whole(of_network(&Architecture::residual_block), 0, kMostLayers)),
         "Number of layers after which the residual sum is stored and restarted (Kimi K3).", "12",
         "0: one sum"},
        {"vision", custom(read_vision, {tower_form()}),
         "The vision transformer and the projector into 'hidden'.",
         "{layers: 27, hidden: 1152, heads: 16, ffn: 4304, patch_values: 1536, projector: [4608, "
         "4096]}",
         "none"},
        {"sharding",
         custom(read_sharding,
                {Form{text::TableForm{
                    "PATTERN", "^.+$", {Form{text::WordForm{names_of(kShardings)}}}}}}),
         "Exceptions from Megatron's tensor-parallel sharding, by patterns of their names.",
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
        in.complain(pattern,
                    fmt::format("a sharding table can have at most {} lines of {} characters",
                                kMostShardings, kLongestPattern));
        return;
    }
    for (int layer = 0; layer < a.layers.count() && !unmatched.empty(); ++layer) {
        auto names = parameter_names(a, {layer, 1, layer == 0, layer == 0});
        std::erase_if(names, is_of_tower);
        std::erase_if(unmatched, [&](const ShardingOverride& line) {
            return std::any_of(names.begin(), names.end(),
                               [&](const std::string& name) { return line.matches(name); });
        });
    }
    for (const ShardingOverride& line : unmatched)
        in.complain(line.pattern,
                    fmt::format("'{}' does not match any parameter of the model", line.pattern));
}

Architecture read_map(const text::NodePtr& written, text::Mistakes& mistakes) {
    const text::NodePtr map = with_layer_groups(written, mistakes);
    text::MappingReader in(map, "model", mistakes);
    ArchitectureFile by_name;
    read_fields(in, family_fields(), by_name);
    ArchitectureFile file = of_family(by_name.network.family);
    Architecture& a = file.network;
    a.name = "inline";
    in.demand("heads");
    read_fields(in, size_fields(), file);
    file.layer.ffn = 4 * a.hidden;
    read_layer_keys(in, a.hidden, file.layer);
    if (in.has("positions")) in.word("positions", file.positions, kPositions);
    read_fields(in, network_fields(), file);
    read_tower_use(in, a);
    a.learned_positions = file.positions == Positions::Learned;
    a.layers = read_layers(in, file.layers, a.hidden, file.layer);
    in.finish();
    if (in.good()) check_architecture(a, in);
    if (in.good()) check_sharding(a, in.value("sharding"), mistakes);
    return std::move(file.network);
}

}  // namespace

std::vector<text::Key> architecture_keys() {
    std::vector<std::pair<std::string, std::vector<text::Key>>> families;
    for (const auto& [name, family] : kFamilies) {
        ArchitectureFile fresh = of_family(family);
        std::vector<text::Key> keys = described(family_fields(), fresh);
        for (const std::vector<text::Key>& more :
             {described(size_fields(), fresh),
              described_layer_keys(fresh.layer, fresh.positions),
              {layer_groups_key()},
              described(network_fields(), fresh),
              tower_use_keys()})
            keys.insert(keys.end(), more.begin(), more.end());
        families.emplace_back(name, std::move(keys));
    }
    std::vector<text::Key> keys = text::merged_variants(families);
    for (text::Key& key : keys) {
        if (key.name != "layers") continue;
        key.forms.push_back(Form{text::ListForm{{Form{text::MapForm{}}}, {}}});
        key.meaning +=
            " Or a list of them: {count: 3, attention: {kind: mla, ...}, mlp: {kind: dense, ...}}, "
            "whose other keys are those of 'layer_groups'; kinds are mha, gqa, mqa, mla, mamba2, "
            "gated_delta_net and none, and dense, moe and none.";
    }
    return keys;
}

Architecture read_own_architecture(const text::NodePtr& map, text::Mistakes& mistakes) {
    return read_map(map, mistakes);
}

Architecture read_architecture(const text::NodePtr& value, text::ShippedFiles& shipped,
                               text::Mistakes& mistakes) {
    // A number of layers cuts a list of them short only where both are keys of their own.
    const text::NodePtr map = shipped.resolve(
        value, "model", "models/zoo", mistakes,
        [&](const text::NodePtr& base) { return with_layer_groups(base, mistakes); });
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
