#include "scenarios/draft.h"

namespace debubble::scenarios {
namespace {

using models::AttentionKernel;
using models::DataType;
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
constexpr std::pair<std::string_view, RouterOptions::Balancing> kBalancings[] = {
    {"aux_loss", RouterOptions::Balancing::AuxLoss},
    {"seq_aux_loss", RouterOptions::Balancing::SeqAuxLoss}};
constexpr std::pair<std::string_view, std::optional<DataType>> kMainTypes[] = {
    {"fp32", DataType::Fp32}, {"none", std::nullopt}};

constexpr Precision mixed(DataType compute, bool loss_scaling) {
    return {compute, DataType::Fp32, DataType::Fp32, DataType::Fp32, loss_scaling};
}
constexpr Precision pure(DataType type) {
    return {type, std::nullopt, type, type, false};
}
constexpr std::pair<std::string_view, Precision> kPrecisions[] = {
    {"bf16", mixed(DataType::Bf16, false)},
    {"pure-bf16", pure(DataType::Bf16)},
    {"fp16", mixed(DataType::Fp16, true)},
    {"fp32", pure(DataType::Fp32)}};

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

const Fields<Precision>& precision_fields() {
    static const Fields<Precision> kFields{
        {"base", custom(read_base, {Form{text::WordForm{names_of(kPrecisions)}}}),
         "The word whose types hold where the map gives no others.", "fp16", "bf16"},
        {"compute", custom(read_compute, {Form{text::WordForm{names_of(kTypes)}}}),
         "The type of activations and of the parameters that kernels read.", "fp16",
         "that of base"},
        {"main_params", custom(read_main_params, {Form{text::WordForm{names_of(kMainTypes)}}}),
         "The type of the optimizer's own copy of the parameters; none: it has no copy.", "none",
         "that of base"},
        {"grads", word(&Precision::grads, kTypes),
         "The type in which gradients are summed over microbatches.", "bf16", "that of base"},
        {"moments", word(&Precision::moments, kTypes), "The type of the optimizer's moments.",
         "bf16", "that of base"},
        {"loss_scaling", flag(&Precision::loss_scaling),
         "The loss is scaled against underflow of the gradients.", "false",
         "true if compute is fp16, else that of base"}};
    return kFields;
}

/// Reads a word, or a map that changes parts of the word in its `base`.
void read_precision(MappingReader& training, std::string_view key, Draft& draft) {
    Precision& precision = draft.scenario.training.precision;
    const NodePtr value = training.value(key);
    if (!value) return;
    if (!value->is(Node::Kind::Map)) {
        training.word(key, precision, kPrecisions);
        return;
    }
    MappingReader in(value, key, training.mistakes());
    read_fields(in, precision_fields(), precision);
    in.finish();
}

const Fields<Draft>& training_fields() {
    static const Fields<Draft> kFields{
        {"global_batch", whole(&Draft::global_batch, 1, kMostSamples, "samples"),
         "Samples of a step, of all replicas together.", "64",
         "micro_batch x micro_batches x data"},
        {"micro_batch", whole(&Draft::micro_batch, 1, kMostSamples, "samples"),
         "Samples of a microbatch, of one replica.", "2",
         "1; with global_batch and micro_batches, what they leave"},
        {"micro_batches", whole(&Draft::micro_batches, 1, kMostMicroBatches, "microbatches"),
         "Microbatches of a step, of one replica; may replace micro_batch, and must agree with it.",
         "16", "1; with global_batch, what it leaves"},
        {"seq_length", whole(&Draft::seq_length, 1, kLongestSequence, "tokens"),
         "Tokens of a sample.", "4096", "model.max_positions"},
        {"precision",
         custom(read_precision, {Form{text::WordForm{names_of(kPrecisions)}},
                                 Form{text::MapForm{described(precision_fields())}}}),
         "The data types: bf16 and fp16 keep parameters, gradients and moments in fp32 too (18 "
         "bytes "
         "a parameter), fp16 scales the loss, pure-bf16 has everything in bf16.",
         "fp16", "bf16"},
        {"attention", word(in_training(&Training::attention), kAttentions),
         "The kernel of the attention: flash never writes the scores out.", "unfused"},
        {"offload_optimizer", flag(in_training(&Training::offload_optimizer)),
         "The optimizer state lies in the host's memory (ZeRO-Offload).", "true"},
        {"offload_activations", flag(in_training(&Training::offload_activations)),
         "Kept activations travel to the host's memory and back.", "true"},
        {"dropout", real(in_training(&Training::dropout), 0, 0.999, "share"),
         "The probability of dropout, of hidden values and of attention.", "0.1", "model.dropout"},
        {"expert_load", real(in_training(&Training::expert_load), 1, 4096, "ratio"),
         "Tokens at the experts of the fullest rank, relative to the mean of all ranks.", "1.2"},
        {"moe_router_load_balancing_type", word(in_routers(&RouterOptions::balancing), kBalancings),
         "The tokens that the auxiliary loss balances over experts: those of a microbatch, or of "
         "each sequence.",
         "seq_aux_loss"},
        {"moe_aux_loss_coeff", real(in_routers(&RouterOptions::aux_loss_coeff), 0, 1e6),
         "The factor of the auxiliary loss that balances the experts' tokens; 0: there is none.",
         "0.001"},
        {"moe_z_loss_coeff", real(in_routers(&RouterOptions::z_loss_coeff), 0, 1e6),
         "The factor of the loss that keeps a router's logits small; 0: there is none.", "0.001"},
        {"moe_router_bias_update_rate", real(in_routers(&RouterOptions::bias_update_rate), 0, 1),
         "What the bias by which a router corrects its choice changes by in a step: up for experts "
         "with fewer tokens than the mean, down for those with more.",
         "0.001"},
        {"mtp_loss_scaling_factor", real(in_training(&Training::mtp_loss_scaling_factor), 0, 1e6),
         "The factor of the loss of multi-token prediction, of which the mean over its depths is "
         "taken.",
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

void read_training(Draft& draft) {
    read_fields(draft.training, training_fields(), draft);
    read_fields(draft.training, activation_fields(), draft);
    read_fields(draft.training, run_fields(), draft);
    draft.training.finish();
}

}  // namespace debubble::scenarios
