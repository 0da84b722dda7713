#include <fmt/format.h>

#include "scenarios/draft.h"

namespace debubble::scenarios {
namespace {

using models::AttentionKernel;
using models::DataType;
using models::Recompute;
using text::MappingReader;
using text::Node;
using text::NodePtr;

constexpr std::pair<std::string_view, Recompute> kRecomputes[] = {
    {"none", Recompute::None}, {"selective", Recompute::Selective}, {"full", Recompute::Full}};
constexpr std::pair<std::string_view, AttentionKernel> kAttentions[] = {
    {"flash", AttentionKernel::Flash}, {"unfused", AttentionKernel::Unfused}};
constexpr std::pair<std::string_view, DataType> kTypes[] = {
    {"fp32", DataType::Fp32}, {"fp16", DataType::Fp16}, {"bf16", DataType::Bf16}};
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

/// Reads a word, or a map that changes parts of the word in its `base` (bf16).
void read_precision(MappingReader& training, Precision& precision) {
    const NodePtr value = training.value("precision");
    if (!value) return;
    if (!value->is(Node::Kind::Map)) {
        training.word("precision", precision, kPrecisions);
        return;
    }
    MappingReader in(value, "precision", training.mistakes());
    in.word("base", precision, kPrecisions);
    if (in.word("compute", precision.compute, kTypes))
        precision.loss_scaling = precision.compute == DataType::Fp16;
    in.word("main_params", precision.main_params, kMainTypes);
    in.word("grads", precision.grads, kTypes);
    in.word("moments", precision.moments, kTypes);
    in.flag("loss_scaling", precision.loss_scaling);
    in.finish();
}

template <class T>
void read_optional(MappingReader& in, std::string_view key, std::optional<T>& out,
                   std::type_identity_t<T> most) {
    T value{};
    if (in.whole(key, value, 1, most)) out = value;
}

}  // namespace

void read_training(Draft& draft) {
    MappingReader& in = draft.training;
    Training& training = draft.scenario.training;
    read_optional(in, "global_batch", draft.global_batch, kMostSamples);
    read_optional(in, "micro_batch", draft.micro_batch, kMostSamples);
    read_optional(in, "micro_batches", draft.micro_batches, kMostMicroBatches);
    read_optional(in, "seq_length", draft.seq_length, kLongestSequence);
    read_precision(in, training.precision);
    in.word("recompute", training.recompute, kRecomputes);
    in.word("attention", training.attention, kAttentions);
    in.flag("offload_optimizer", training.offload_optimizer);
    in.flag("offload_activations", training.offload_activations);
    double dropout = 0;
    if (in.real("dropout", dropout, 0, 0.999)) training.dropout = dropout;
    in.real("expert_load", training.expert_load, 1, 4096);
    read_run_keys(draft);
    in.finish();
}

}  // namespace debubble::scenarios
