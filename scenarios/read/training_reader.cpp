#include <fmt/format.h>

#include "scenarios/read/draft.h"

namespace debubble::scenarios {
namespace {

using models::AttentionKernel;
using models::DataType;
using models::Recipe;
using text::custom;
using text::described;
using text::Fields;
using text::flag;
using text::Form;
using text::MappingReader;
using text::names_of;
using text::Node;
using text::NodePtr;
using text::read_fields;
using text::real;
using text::whole;
using text::word;

constexpr std::pair<std::string_view, AttentionKernel> kAttentions[] = {
    {"flash", AttentionKernel::Flash}, {"unfused", AttentionKernel::Unfused}};
constexpr std::pair<std::string_view, DataType> kTypes[] = {
    {"fp32", DataType::Fp32}, {"fp16", DataType::Fp16}, {"bf16", DataType::Bf16}};
constexpr std::pair<std::string_view, DataType> kMomentTypes[] = {{"fp32", DataType::Fp32},
                                                                  {"fp16", DataType::Fp16},
                                                                  {"bf16", DataType::Bf16},
                                                                  {"fp8", DataType::Fp8}};
constexpr std::pair<std::string_view, Recipe> kRecipes[] = {{"bf16", Recipe::None},
                                                            {"fp8-delayed", Recipe::Fp8Delayed},
                                                            {"fp8-current", Recipe::Fp8Current},
                                                            {"fp8-blockwise", Recipe::Fp8Blockwise},
                                                            {"fp8-rowwise", Recipe::Fp8Rowwise},
                                                            {"mxfp8", Recipe::MxFp8},
                                                            {"nvfp4", Recipe::NvFp4}};
constexpr std::pair<std::string_view, ParamGather> kParamGathers[] = {
    {"bf16", ParamGather::Bf16}, {"fp8", ParamGather::Fp8}, {"fp4", ParamGather::Fp4}};
constexpr std::pair<std::string_view, bool> kAttentionTypes[] = {{"bf16", false}, {"fp8", true}};
constexpr std::pair<std::string_view, bool> kActivationTypes[] = {{"bf16", false}, {"fp8", true}};
constexpr std::pair<std::string_view, bool> kMainGrads[] = {{"fp32", true}, {"none", false}};
constexpr std::pair<std::string_view, RouterOptions::Balancing> kBalancings[] = {
    {"aux_loss", RouterOptions::Balancing::AuxLoss},
    {"seq_aux_loss", RouterOptions::Balancing::SeqAuxLoss},
    {"global_aux_loss", RouterOptions::Balancing::GlobalAuxLoss}};
constexpr std::pair<std::string_view, std::optional<DataType>> kMainTypes[] = {
    {"fp32", DataType::Fp32}, {"none", std::nullopt}};

constexpr Precision mixed(DataType compute, bool loss_scaling) {
    return {compute, DataType::Fp32, DataType::Fp32, DataType::Fp32, loss_scaling};
}
constexpr Precision pure(DataType type) {
    return {type, std::nullopt, type, type, false};
}
/// Products of layers in 8 or 4 bits, everything else as bf16.
constexpr Precision narrow(Recipe recipe) {
    Precision precision = mixed(DataType::Bf16, false);
    precision.recipe = recipe;
    return precision;
}
constexpr std::pair<std::string_view, Precision> kPrecisions[] = {
    {"bf16", mixed(DataType::Bf16, false)},
    {"pure-bf16", pure(DataType::Bf16)},
    {"fp16", mixed(DataType::Fp16, true)},
    {"fp32", pure(DataType::Fp32)},
    {"fp8-delayed", narrow(Recipe::Fp8Delayed)},
    {"fp8-current", narrow(Recipe::Fp8Current)},
    {"fp8-blockwise", narrow(Recipe::Fp8Blockwise)},
    {"fp8-rowwise", narrow(Recipe::Fp8Rowwise)},
    {"mxfp8", narrow(Recipe::MxFp8)},
    {"nvfp4", narrow(Recipe::NvFp4)}};

/// The place of a member of RouterOptions.
auto in_routers(auto member) {
    return [member](Draft& draft) -> decltype(auto) {
        return (draft.scenario.training.routers.*member);
    };
}

/// The place of a member of Training.
auto in_training(auto member) {
    return [member](Draft& draft) -> decltype(auto) { return (draft.scenario.training.*member); };
}

void read_compute(MappingReader& in, std::string_view key, Precision& precision) {
    if (in.word(key, precision.compute, kTypes))
        precision.loss_scaling = precision.compute == DataType::Fp16;
}

void read_main_params(MappingReader& in, std::string_view key, Precision& precision) {
    in.word(key, precision.main_params, kMainTypes);
}

void read_base(MappingReader& in, std::string_view key, Precision& precision) {
    in.word(key, precision, kPrecisions);
}

constexpr int kMostLayers = 1 << 20;

const Fields<Precision>& bf16_layers_fields() {
    static const Fields<Precision> kFields{
        {"first", whole(&Precision::bf16_first, 0, kMostLayers, "layers"),
         "The number of layers at the beginning.", "1"},
        {"last", whole(&Precision::bf16_last, 0, kMostLayers, "layers"),
         "The number of layers at the end.", "1"}};
    return kFields;
}

void read_bf16_layers(MappingReader& in, std::string_view key, Precision& precision) {
    const NodePtr value = in.value(key);
    if (!value) return;
    MappingReader ends(value, key, in.mistakes());
    read_fields(ends, bf16_layers_fields(), precision);
    ends.finish();
}

const Fields<Precision>& precision_fields() {
    static const Fields<Precision> kFields{
        {"base", custom(read_base, {Form{text::WordForm{names_of(kPrecisions)}}}),
         "The precision whose types apply where the map gives no others.", "fp16", "bf16"},
        {"compute", custom(read_compute, {Form{text::WordForm{names_of(kTypes)}}}),
         "The compute type of activations and of the parameters that kernels read.", "fp16",
         "that of base"},
        {"main_params", custom(read_main_params, {Form{text::WordForm{names_of(kMainTypes)}}}),
         "The type of the optimizer's main parameters; none: there is no separate copy.", "none",
         "that of base"},
        {"grads", word(&Precision::grads, kTypes),
         "The type in which gradients are summed over microbatches.", "bf16", "that of base"},
        {"moments", word(&Precision::moments, kMomentTypes), "The type of the optimizer's moments.",
         "bf16", "that of base"},
        {"main_grads", word(&Precision::main_grads, kMainGrads),
         "fp32: the optimizer converts gradients of another type; none: it reads them unconverted "
         "(Megatron's --use-precision-aware-optimizer).",
         "none"},
        {"recipe", word(&Precision::recipe, kRecipes),
         "The recipe of 8-bit or 4-bit GEMMs in layers; bf16: no low precision.", "mxfp8",
         "that of base"},
        {"param_gather", word(&Precision::param_gather, kParamGathers),
         "The type in which weights of low-precision GEMMs are kept and gathered by data-parallel "
         "ranks (Megatron's --fp8-param-gather).",
         "fp8"},
        {"attention", word(&Precision::fp8_attention, kAttentionTypes),
         "The type of the GEMMs of fused attention.", "fp8"},
        {"activations", word(&Precision::fp8_activations, kActivationTypes),
         "The type in which inputs of activation functions in MoE layers are kept for the "
         "backward; with fp8, the output of fused attention is also kept in 12 bits (DeepSeek-V3, "
         "arXiv:2412.19437, 3.3.3). Takes the recipe fp8-blockwise.",
         "fp8"},
        {"bf16_layers",
         custom(read_bf16_layers, {Form{text::MapForm{described(bf16_layers_fields())}}}),
         "Layers whose GEMMs stay in bf16 (Megatron's --first-last-layers-bf16).",
         "{first: 1, last: 1}", "none, as in Megatron-Core"},
        {"loss_scaling", flag(&Precision::loss_scaling),
         "The loss is scaled to prevent underflow of gradients.", "false",
         "true if compute is fp16, else that of base"}};
    return kFields;
}

/// The reasons why this GPU and this network do not take the recipe.
void check_recipe(const Draft& draft, const auto& complain) {
    const Precision& precision = draft.scenario.training.precision;
    const Gpu& gpu = draft.scenario.cluster.gpu;
    const Recipe recipe = precision.recipe;
    const std::string name{models::name_of(recipe)};
    if (precision.fp8_attention && !gpu.fp8_flops_per_s)
        complain("attention",
                 fmt::format("attention in fp8 needs gpu.fp8_flops, which '{}' does not have",
                             gpu.name));
    if (precision.fp8_activations && recipe != Recipe::Fp8Blockwise)
        complain("activations",
                 fmt::format("activations are kept in 8 bits with a scale per block: 'recipe' must "
                             "be fp8-blockwise, not {}",
                             name));
    if (precision.fp8_activations && !draft.scenario.framework.kernels.fused_bias_activation)
        complain("activations",
                 "framework.fused_bias_activation is false: an unfused activation keeps its input "
                 "in bf16");
    if (recipe == Recipe::None) {
        if (precision.param_gather != ParamGather::Bf16)
            complain("param_gather", "no GEMM is in 8 or 4 bits: give a 'recipe'");
        return;
    }
    if (precision.compute != DataType::Bf16)
        complain("recipe", fmt::format("{} needs 'compute: bf16'", name));
    if (recipe == Recipe::NvFp4 && !gpu.fp4_flops_per_s)
        complain("recipe",
                 fmt::format("nvfp4 needs gpu.fp4_flops, which '{}' does not have", gpu.name));
    else if (recipe == Recipe::MxFp8 && !gpu.fp4_flops_per_s)
        complain("recipe", fmt::format("mxfp8 needs matrix units with block scaling (Blackwell), "
                                       "which also have gpu.fp4_flops; '{}' has none",
                                       gpu.name));
    else if (recipe != Recipe::NvFp4 && !gpu.fp8_flops_per_s)
        complain("recipe",
                 fmt::format("{} needs gpu.fp8_flops, which '{}' does not have", name, gpu.name));
    if ((recipe == Recipe::NvFp4) ? precision.param_gather == ParamGather::Fp8
                                  : precision.param_gather == ParamGather::Fp4)
        complain("param_gather", fmt::format("weights of {} can be gathered in bf16 or {}", name,
                                             recipe == Recipe::NvFp4 ? "fp4" : "fp8"));
    const int layers = draft.scenario.model.layers.count();
    if (layers > 0 && precision.bf16_first + precision.bf16_last > layers)
        complain("bf16_layers", fmt::format("{} first and {} last layers exceed the {}",
                                            precision.bf16_first, precision.bf16_last, layers));
}

/// Reads a word, or a map that changes parts of the word in its `base`.
void read_precision(MappingReader& training, std::string_view key, Draft& draft) {
    Precision& precision = draft.scenario.training.precision;
    const NodePtr value = training.value(key);
    if (!value) return;
    if (!value->is(Node::Kind::Map)) {
        training.word(key, precision, kPrecisions);
        check_recipe(draft, [&](std::string_view, std::string sentence) {
            training.complain(key, std::move(sentence));
        });
        return;
    }
    MappingReader in(value, key, training.mistakes());
    read_fields(in, precision_fields(), precision);
    in.finish();
    if (in.good())
        check_recipe(draft, [&](std::string_view part, std::string sentence) {
            in.complain(part, std::move(sentence));
        });
}

const Fields<Draft>& training_fields() {
    static const Fields<Draft> kFields{
        {"global_batch", whole(&Draft::global_batch, 1, kMostSamples, "samples"),
         "The number of samples per step, over all replicas.", "64",
         "micro_batch x micro_batches x data"},
        {"micro_batch", whole(&Draft::micro_batch, 1, kMostSamples, "samples"),
         "The number of samples per microbatch of one replica.", "2",
         "1; given by global_batch and micro_batches"},
        {"micro_batches", whole(&Draft::micro_batches, 1, kMostMicroBatches, "microbatches"),
         "The number of microbatches per step of one replica; may replace micro_batch, and must "
         "agree with it.",
         "16", "1; given by global_batch"},
        {"seq_length", whole(&Draft::seq_length, 1, kLongestSequence, "tokens"),
         "The sequence length: tokens per sample.", "4096", "model.max_positions"},
        {"precision",
         custom(read_precision, {Form{text::WordForm{names_of(kPrecisions)}},
                                 Form{text::MapForm{described(precision_fields())}}}),
         "The data types: bf16 and fp16 keep parameters, gradients and moments in fp32 too (18 "
         "bytes a parameter), fp16 scales the loss, pure-bf16 has everything in bf16; with "
         "fp8-..., mxfp8 and nvfp4 the GEMMs of layers are in 8 or 4 bits.",
         "fp16", "bf16"},
        {"attention", word(in_training(&Training::attention), kAttentions),
         "The attention kernel: flash never materializes the scores.", "unfused"},
        {"offload_optimizer", flag(in_training(&Training::offload_optimizer)),
         "The optimizer state is in host memory (ZeRO-Offload).", "true"},
        {"dropout", real(in_training(&Training::dropout), 0, 0.999, "share"),
         "The dropout probability of hidden values and of attention.", "0.1", "model.dropout"},
        {"expert_load", real(in_training(&Training::expert_load), 1, 4096, "ratio"),
         "Tokens at the experts of the most loaded rank, relative to the mean of all ranks.",
         "1.2"},
        {"moe_router_load_balancing_type", word(in_routers(&RouterOptions::balancing), kBalancings),
         "The scope of the load-balancing loss: the tokens of a microbatch, of each sequence, or "
         "of the step's microbatches so far on all replicas.",
         "seq_aux_loss"},
        {"moe_aux_loss_coeff", real(in_routers(&RouterOptions::aux_loss_coeff), 0, 1e6),
         "The coefficient of the load-balancing auxiliary loss; 0: none.", "0.001"},
        {"moe_z_loss_coeff", real(in_routers(&RouterOptions::z_loss_coeff), 0, 1e6),
         "The coefficient of the router's z-loss; 0: none.", "0.001"},
        {"moe_router_bias_update_rate", real(in_routers(&RouterOptions::bias_update_rate), 0, 1),
         "The update rate of the expert bias per step: up for experts with fewer tokens than the "
         "mean, down for those with more.",
         "0.001"},
        {"mtp_loss_scaling_factor", real(in_training(&Training::mtp_loss_scaling_factor), 0, 1e6),
         "The scaling factor of the multi-token prediction loss, of which the mean over its depths "
         "is taken.",
         "0.3"}};
    return kFields;
}

}  // namespace

std::vector<text::Key> training_keys(Draft& fresh) {
    std::vector<text::Key> keys = described(training_fields(), fresh);
    const auto append = [&](const std::vector<text::Key>& more) {
        keys.insert(keys.end(), more.begin(), more.end());
    };
    append(described(activation_fields(), fresh));
    append(described(run_fields(), fresh));
    return keys;
}

/// A key of earlier versions. All saved tensors of a forward were copied at once, faster than
/// copies complete: steps got longer, and little or no memory was saved.
void refuse_offload_activations(Draft& draft) {
    constexpr std::string_view kKey = "offload_activations";
    if (!draft.training.has(kKey)) return;
    draft.training.value(kKey);  // a known one
    draft.training.complain(
        kKey,
        "'offload_activations' has been removed: use 'offload' to choose what is offloaded to host "
        "memory, as in offload: {modules: [core_attn, expert_fc1]} or offload: {layers: 8}");
}

void read_training(Draft& draft) {
    refuse_offload_activations(draft);
    read_fields(draft.training, training_fields(), draft);
    read_fields(draft.training, activation_fields(), draft);
    read_fields(draft.training, run_fields(), draft);
    draft.training.finish();
}

}  // namespace debubble::scenarios
