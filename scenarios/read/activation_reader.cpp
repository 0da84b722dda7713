#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/read/draft.h"

/// The keys `training.recompute`, `training.offload`, `training.router` and `training.lora`.
namespace debubble::scenarios {
namespace {

using models::Module;
using models::Modules;
using models::Recompute;
using text::custom;
using text::described;
using text::Fields;
using text::Form;
using text::MappingReader;
using text::names_of;
using text::Node;
using text::NodePtr;
using text::read_fields;
using text::real;
using text::whole;
using text::word;

constexpr int kMostLayersChosen = 100'000;
constexpr double kHighestExpertLoad = 4096;
constexpr std::int64_t kHighestRank = 1'000'000;
constexpr std::int64_t kMostTensorElements = 1'000'000'000'000;
constexpr std::string_view kChosenByPlaying = "auto";

/// Unset: chosen (auto).
constexpr std::pair<std::string_view, std::optional<Recompute>> kRecomputes[] = {
    {"none", Recompute::None},
    {"selective", Recompute::Selective},
    {"full", Recompute::Full},
    {"selective-op", Recompute::Products},
    {kChosenByPlaying, std::nullopt}};
constexpr std::pair<std::string_view, Module> named(Module module) {
    return {models::name_of(module), module};
}
constexpr std::pair<std::string_view, Module> kRecomputed[] = {
    named(Module::CoreAttention),   named(Module::MoeActivation), named(Module::LayerNorm),
    named(Module::MlaUpProjection), named(Module::Mlp),           named(Module::Moe),
    named(Module::SharedExperts)};
/// One module, or the first and the last of several.
using ModuleSpan = std::pair<Module, Module>;
constexpr std::pair<std::string_view, ModuleSpan> spanned(Module module) {
    return {models::name_of(module), {module, module}};
}
/// The saved tensors of Megatron-Core's fused grouped MLP are one word there.
constexpr std::pair<std::string_view, ModuleSpan> kOffloaded[] = {
    spanned(Module::AttentionNorm),
    spanned(Module::QkvLinear),
    spanned(Module::CoreAttention),
    spanned(Module::AttentionProjection),
    spanned(Module::MlpNorm),
    spanned(Module::ExpertFc1),
    spanned(Module::MoeActivation),
    {"fused_group_mlp", {Module::ExpertFc1, Module::MoeActivation}}};

constexpr std::pair<std::string_view, bool> kOffloadWords[] = {{"none", false},
                                                               {kChosenByPlaying, true}};

enum class Method { Block, Uniform };
constexpr std::pair<std::string_view, Method> kMethods[] = {{"block", Method::Block},
                                                            {"uniform", Method::Uniform}};
enum class Routing { Balanced, Learned };
constexpr std::pair<std::string_view, Routing> kRoutings[] = {{"balanced", Routing::Balanced},
                                                              {"learned", Routing::Learned}};
enum class Target { Qkv, Projection, Fc1, Fc2 };
constexpr std::pair<std::string_view, Target> kTargets[] = {{"linear_qkv", Target::Qkv},
                                                            {"linear_proj", Target::Projection},
                                                            {"linear_fc1", Target::Fc1},
                                                            {"linear_fc2", Target::Fc2}};

/// Calls `take` for every word of the list; false if there is none, or one is unknown.
template <class E, std::size_t N>
bool read_words(MappingReader& in, std::string_view key, std::string_view what,
                const std::pair<std::string_view, E> (&words)[N], const auto& take) {
    std::vector<std::string> given;
    if (!in.texts(key, given)) return false;
    if (given.empty()) in.complain(key, fmt::format("'{}' is empty", key));
    bool good = !given.empty();
    const std::vector<std::string> known = names_of(words);
    for (const std::string& name : given) {
        const auto* found =
            std::ranges::find(words, name, [](const auto& row) { return row.first; });
        good = good && found != std::end(words);
        if (found == std::end(words))
            in.complain_unknown(key, what, name, known);
        else
            take(found->second);
    }
    return good;
}

Form list_of(std::vector<std::string> words) {
    return Form{text::ListForm{{Form{text::WordForm{std::move(words)}}}, {}}};
}

/// The keys of a map under `recompute`.
struct RecomputeKeys {
    Modules modules;
    std::optional<int> layers;
    std::optional<Method> method;
};

void read_modules(MappingReader& in, std::string_view key, RecomputeKeys& keys) {
    const NodePtr value = in.value(key);
    if (value && value->is(Node::Kind::Scalar) && value->scalar == kChosenByPlaying) {
        in.complain(key, "modules and layers are chosen together: write 'recompute: auto'");
        return;
    }
    read_words(in, key, "module", kRecomputed, [&](Module module) { keys.modules.add(module); });
}

const Fields<RecomputeKeys>& recompute_fields() {
    static const Fields<RecomputeKeys> kFields{
        {"modules", custom(read_modules, {list_of(names_of(kRecomputed))}),
         "The modules to recompute (Megatron-Core's recompute_modules): outputs of moe_act, "
         "layernorm and mla_up_proj are discarded, other modules are checkpointed.",
         "[moe_act, layernorm]", "none: whole layers are recomputed"},
        {"layers", whole(&RecomputeKeys::layers, 1, kMostLayersChosen, "layers"),
         "With block, the number of layers at the start of every stage to recompute; with uniform, "
         "the number of consecutive layers per checkpoint.",
         "8", "all layers; 1 with uniform"},
        {"method", word(&RecomputeKeys::method, kMethods, "method"),
         "The meaning of layers (Megatron-LM's recompute_method).", "block", "block"}};
    return kFields;
}

void read_recompute(MappingReader& training, std::string_view key, Draft& draft) {
    Training& t = draft.scenario.training;
    const NodePtr value = training.value(key);
    if (!value) return;
    if (!value->is(Node::Kind::Map)) {
        std::optional<Recompute> word = t.recompute;
        if (!training.word(key, word, kRecomputes)) return;
        t.chooses_recompute = !word;
        t.recompute = word.value_or(Recompute::None);
        return;
    }
    MappingReader in(value, key, training.mistakes());
    RecomputeKeys keys;
    read_fields(in, recompute_fields(), keys);
    in.finish();
    const bool uniform = keys.method == Method::Uniform;
    if (!in.has("modules") && !in.has("layers") && !in.has("method"))
        training.complain(key, "'recompute' needs 'modules', 'layers' or both");
    if (!keys.modules.empty() && uniform)
        in.complain("method",
                    "uniform checkpoints whole layers and cannot be combined with 'modules'");
    t.recompute = keys.modules.empty() ? Recompute::Full : Recompute::Modules;
    t.recompute_extent.modules = keys.modules;
    if (uniform)
        t.recompute_extent.together = keys.layers.value_or(1);
    else
        t.recompute_extent.layers = keys.layers;
}

/// Megatron-Core takes the output of attention's projection away only with the rest of attention.
void read_offloaded(MappingReader& in, std::string_view key, models::OffloadExtent& offload) {
    read_words(in, key, "module", kOffloaded, [&](const ModuleSpan& modules) {
        offload.modules.add(modules.first);
        offload.modules.add(modules.second);
    });
    if (offload.modules.has(Module::AttentionProjection) &&
        !offload.modules.has(Module::CoreAttention))
        in.complain(key, "attn_proj is offloaded only together with core_attn");
}

const Fields<models::OffloadExtent>& offload_fields() {
    static const Fields<models::OffloadExtent> kFields{
        {"modules", custom(read_offloaded, {list_of(names_of(kOffloaded))}),
         "The modules whose inputs are offloaded (Megatron-Core's offload_modules).",
         "[expert_fc1, moe_act]", "none: everything a layer saves is offloaded"},
        {"layers", whole(&models::OffloadExtent::layers, 1, kMostLayersChosen, "layers"),
         "The number of layers at the start of every stage whose activations are offloaded.", "8",
         "all layers"},
        {"min_offloaded_tensor_size",
         whole(&models::OffloadExtent::fewest_elements, 1, kMostTensorElements, "elements"),
         "The minimum size of offloaded tensors, in elements.", "250000000",
         "1048576, Megatron-Core's"}};
    return kFields;
}

void read_offload(MappingReader& training, std::string_view key, Draft& draft) {
    const NodePtr value = training.value(key);
    if (!value) return;
    if (!value->is(Node::Kind::Map)) {
        Training& t = draft.scenario.training;
        bool chooses = t.chooses_offload;
        if (training.word(key, chooses, kOffloadWords)) t.chooses_offload = chooses;
        if (t.chooses_offload && !t.chooses_recompute)
            training.complain(key, "'offload: auto' needs 'recompute: auto'");
        return;
    }
    MappingReader in(value, key, training.mistakes());
    models::OffloadExtent& offload = draft.scenario.training.offload;
    read_fields(in, offload_fields(), offload);
    in.finish();
    offload.everything = !in.has("modules");
    if (offload.everything && !in.has("layers"))
        training.complain(key, "'offload' needs 'modules', 'layers' or both");
}

struct RouterKeys {
    std::optional<double> load;
};
const Fields<RouterKeys>& router_load_fields() {
    static const Fields<RouterKeys> kFields{
        {"load",
         real([](RouterKeys& keys) -> decltype(auto) { return (keys.load); }, 1, kHighestExpertLoad,
              "ratio"),
         "Tokens at the experts of the most loaded rank, relative to the mean of all ranks; the "
         "same as training.expert_load.",
         "1.2", "1"}};
    return kFields;
}

/// Precondition: `expert_load` has been read.
void read_router(MappingReader& training, std::string_view key, Draft& draft) {
    Training& t = draft.scenario.training;
    const NodePtr value = training.value(key);
    if (!value) return;
    std::optional<double> load;
    if (value->is(Node::Kind::Map)) {
        MappingReader in(value, key, training.mistakes());
        RouterKeys keys;
        read_fields(in, router_load_fields(), keys);
        in.demand("load");
        in.finish();
        load = keys.load;
    } else {
        Routing routing{};
        if (!training.word(key, routing, kRoutings)) return;
        t.expert_load_unknown = routing == Routing::Learned && !training.has("expert_load");
        if (routing == Routing::Balanced) load = 1;
    }
    if (load && training.has("expert_load") && *load != t.expert_load)
        training.complain(key, fmt::format("the router's load is {}, but 'expert_load' is {}",
                                           *load, t.expert_load));
    if (load) t.expert_load = *load;
}

void read_targets(MappingReader& in, std::string_view key, models::Lora& lora) {
    if (!in.value(key)) return;
    models::Lora none;
    none.rank = lora.rank;
    none.qkv = false;
    lora = none;
    read_words(in, key, "target", kTargets, [&](Target target) {
        switch (target) {
            case Target::Qkv: lora.qkv = true; break;
            case Target::Projection: lora.projection = true; break;
            case Target::Fc1: lora.fc1 = true; break;
            case Target::Fc2: lora.fc2 = true; break;
        }
    });
}

const Fields<models::Lora>& lora_fields() {
    static const Fields<models::Lora> kFields{
        {"rank", whole(&models::Lora::rank, 1, kHighestRank, "columns"),
         "The rank of the adapters.", "8"},
        {"targets", custom(read_targets, {list_of(names_of(kTargets))}),
         "The linear layers with an adapter, by Megatron-Core's names.", "[linear_qkv, linear_fc1]",
         "[linear_qkv], attention's alone, as in arXiv:2106.09685 and in NVIDIA's measured "
         "recipes"}};
    return kFields;
}

void read_lora(MappingReader& training, std::string_view key, Draft& draft) {
    const NodePtr value = training.value(key);
    if (!value) return;
    MappingReader in(value, key, training.mistakes());
    read_fields(in, lora_fields(), draft.scenario.training.lora.emplace());
    in.demand("rank");
    in.finish();
}

}  // namespace

const Fields<Draft>& activation_fields() {
    static const Fields<Draft> kFields{
        {"recompute",
         custom(read_recompute, {Form{text::WordForm{names_of(kRecomputes)}},
                                 Form{text::MapForm{described(recompute_fields())}}}),
         "Activations that the backward recomputes instead of keeping them: those of core "
         "attention (selective), of whole layers (full) or of modules; auto: the modules and "
         "layers with the shortest step that fits in memory.",
         "selective", "none"},
        {"offload",
         custom(read_offload, {Form{text::WordForm{names_of(kOffloadWords)}},
                               Form{text::MapForm{described(offload_fields())}}}),
         "Activations that are offloaded to host memory after the forward and fetched back before "
         "the backward, overlapping the kernels; auto: recompute: auto also chooses the modules "
         "whose inputs are offloaded.",
         "{modules: [expert_fc1, moe_act]}", "none"},
        {"router",
         custom(read_router, {Form{text::WordForm{names_of(kRoutings)}},
                              Form{text::MapForm{described(router_load_fields())}}}),
         "How the router distributes tokens over experts: evenly, as learned (unknown, and priced "
         "as even), or with a given load of the most loaded rank.",
         "{load: 1.2}", "balanced"},
        {"lora", custom(read_lora, {Form{text::MapForm{described(lora_fields())}}}),
         "Low-rank adapters (LoRA): only these are trained, all other weights are frozen.",
         "{rank: 8}", "none: all weights are trained"}};
    return kFields;
}

std::string recompute_text(const Training& training) {
    if (training.chooses_recompute) return std::string(kChosenByPlaying);
    switch (training.recompute) {
        case Recompute::None: return "none";
        case Recompute::Selective: return "selective";
        case Recompute::Products: return "selective-op";
        case Recompute::Full:
        case Recompute::Modules: break;
    }
    const models::RecomputeExtent& extent = training.recompute_extent;
    std::vector<std::string> keys;
    std::vector<std::string_view> modules;
    for (const Module module : models::kModules)
        if (extent.modules.has(module)) modules.push_back(models::name_of(module));
    if (!modules.empty()) keys.push_back(fmt::format("modules: [{}]", fmt::join(modules, ", ")));
    if (extent.layers) keys.push_back(fmt::format("layers: {}, method: block", *extent.layers));
    if (extent.together > 1)
        keys.push_back(fmt::format("layers: {}, method: uniform", extent.together));
    return keys.empty() ? "full" : fmt::format("{{{}}}", fmt::join(keys, ", "));
}

std::string offload_text(const Training& training) {
    if (training.chooses_offload) return std::string(kChosenByPlaying);
    const models::OffloadExtent& extent = training.offload;
    if (!extent.any()) return "none";
    std::vector<std::string> keys;
    std::vector<std::string_view> modules;
    for (const Module module : models::kModules)
        if (extent.modules.has(module)) modules.push_back(models::name_of(module));
    if (!modules.empty()) keys.push_back(fmt::format("modules: [{}]", fmt::join(modules, ", ")));
    if (extent.layers) keys.push_back(fmt::format("layers: {}", *extent.layers));
    if (extent.fewest_elements != models::OffloadExtent{}.fewest_elements)
        keys.push_back(fmt::format("min_offloaded_tensor_size: {}", extent.fewest_elements));
    return fmt::format("{{{}}}", fmt::join(keys, ", "));
}

}  // namespace debubble::scenarios
