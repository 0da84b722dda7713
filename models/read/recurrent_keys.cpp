#include "models/network/architecture_limits.h"
#include "models/read/layer_file.h"

namespace debubble::models {
namespace {

using text::custom;
using text::Fields;
using text::flag;
using text::Form;
using text::whole;

const Fields<Mamba>& mamba_fields() {
    static const Fields<Mamba> kFields{
        {"heads", text::required(whole(&Mamba::heads, 1, kMostHeads, "heads")), "Heads.", "128"},
        {"head_dim", whole(&Mamba::head_dim, 1, kWidest), "The head dimension.", "64"},
        {"state", whole(&Mamba::state, 1, kWidest), "The state size per column of a head.", "128"},
        {"groups", whole(&Mamba::groups, 1, kMostHeads),
         "The number of head groups that share B and C.", "8"},
        {"convolution", whole(&Mamba::convolution, 1, kWidest, "tokens"),
         "The kernel size of the convolution before the scan.", "4"},
        {"chunk", whole(&Mamba::chunk, 1, kMostPositions, "tokens"), "The chunk size of the scan.",
         "128"},
        {"convolution_bias", flag(&Mamba::convolution_bias), "The convolution has a bias.", "true"},
        {"norm", flag(&Mamba::norm), "The output of the scan has an RMS norm per group.", "false"},
        {"step_rank", whole(&Mamba::step_rank, 1, kWidest),
         "The rank of the step size, which makes the layer Mamba-1's, whose heads x head_dim "
         "columns decay independently.",
         "256", "none: the layer is Mamba-2's"},
        {"step_norms", flag(&Mamba::step_norms),
         "The step size, B and C of Mamba-1 have RMS norms (Jamba).", "true"}};
    return kFields;
}

const Fields<DeltaNet>& delta_net_fields() {
    static const Fields<DeltaNet> kFields{
        {"key_heads", text::required(whole(&DeltaNet::key_heads, 1, kMostHeads, "heads")),
         "The number of query and key heads.", "16"},
        {"value_heads", text::required(whole(&DeltaNet::value_heads, 1, kMostHeads, "heads")),
         "The number of value heads, each with its own state.", "32"},
        {"key_dim", whole(&DeltaNet::key_dim, 1, kWidest), "The head dimension of keys.", "128"},
        {"value_dim", whole(&DeltaNet::value_dim, 1, kWidest), "The head dimension of values.",
         "128"},
        {"convolution", whole(&DeltaNet::convolution, 1, kWidest, "tokens"),
         "The kernel size of the convolution before the recurrence.", "4"},
        {"chunk", whole(&DeltaNet::chunk, 1, kMostPositions, "tokens"),
         "The chunk size of the recurrence.", "64"},
        {"channel_decay", flag(&DeltaNet::channel_decay),
         "Each channel of a key has its own decay (Kimi Delta Attention).", "true"},
        {"gate_rank", whole(&DeltaNet::gate_rank, 1, kWidest),
         "The rank of the low-rank projections into these decays and into the output gate.", "128"},
        {"full_output_gate", flag(&DeltaNet::full_output_gate),
         "The output gate is one full-rank projection.", "true"},
        {"full_decay_gate", flag(&DeltaNet::full_decay_gate),
         "These decays are one full-rank projection.", "true"},
        {"fixed_decay", flag(&DeltaNet::fixed_decay),
         "States accumulate keys and values and decay by a fixed factor per head, without a "
         "convolution (Lightning attention).",
         "true"}};
    return kFields;
}

/// Reads the sizes of a recurrent layer.
template <class Kind>
void read_sizes(text::MappingReader& in, std::string_view key, const Fields<Kind>& fields,
                std::optional<Kind>& sizes) {
    const text::NodePtr map = in.value(key);
    if (!map) return;
    text::MappingReader inner(map, key, in.mistakes());
    read_fields(inner, fields, sizes.emplace());
    inner.finish();
}

void read_mamba(text::MappingReader& in, std::string_view key, LayerFile& file) {
    read_sizes(in, key, mamba_fields(), file.keys.mamba);
}

void read_delta_net(text::MappingReader& in, std::string_view key, LayerFile& file) {
    read_sizes(in, key, delta_net_fields(), file.keys.delta_net);
}

}  // namespace

const Fields<LayerFile>& recurrent_fields() {
    static const Fields<LayerFile> kFields{
        {"mamba", custom(read_mamba, {Form{text::MapForm{described(mamba_fields())}}}),
         "The sizes of the state-space layer selected by 'mixer: mamba'.",
         "{heads: 128, head_dim: 64, state: 128, groups: 8, chunk: 128}", "none"},
        {"delta_net", custom(read_delta_net, {Form{text::MapForm{described(delta_net_fields())}}}),
         "The sizes of the gated delta net selected by 'mixer: delta_net'.",
         "{key_heads: 16, value_heads: 32, key_dim: 128, value_dim: 128}", "none"}};
    return kFields;
}

}  // namespace debubble::models
