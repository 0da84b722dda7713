#include "models/network/architecture_limits.h"
#include "models/read/layer_file.h"

namespace debubble::models {
namespace {

using text::custom;
using text::Fields;
using text::flag;
using text::Form;
using text::real;
using text::whole;
using text::word;

/// Precondition: `experts` has been read.
void read_experts_per_token(text::MappingReader& in, std::string_view key, LayerFile& file) {
    LayerKeys& keys = file.keys;
    if (in.whole(key, keys.experts_per_token, 1, kMostExperts) && keys.experts == 0)
        in.complain(key, "the model has no 'experts'");
}

}  // namespace

const Fields<LayerFile>& mlp_fields() {
    static const Fields<LayerFile> kFields{
        {"ffn", whole(of_keys(&LayerKeys::ffn), 1, kWidestMlp),
         "The intermediate size of the MLP or of an expert; of each half if it is gated.", "14336",
         "4 x hidden"},
        {"experts", whole(of_keys(&LayerKeys::experts), 0, kMostExperts, "experts"),
         "The number of routed experts per layer; 0: a dense MLP.", "8", "0"},
        {"experts_per_token",
         custom(read_experts_per_token, {Form{text::WholeForm{1, kMostExperts, "experts"}}}),
         "The number of experts per token (top-k).", "2", "none: required with experts"},
        {"activation", word(of_keys(&LayerKeys::activation), kActivations),
         "The activation of the MLP; swiglu is gated.", "swiglu"},
        {"linear_bias", flag(of_keys(&LayerKeys::linear_bias)),
         "Whether the GEMMs of attention, MLP and experts have biases.", "false"},
        {"shared_ffn", whole(of_keys(&LayerKeys::shared_ffn), 0, kWidestMlp),
         "The total intermediate size of the shared experts.", "2048", "0: none"},
        {"shared_gate", flag(of_keys(&LayerKeys::shared_gate)),
         "The output of the shared experts is multiplied by the sigmoid of one logit.", "true"},
        {"expert_latent", whole(of_keys(&LayerKeys::expert_latent), 0, kWidest),
         "The latent size of the experts' input and output, between two projections of the layer "
         "(Megatron-Core's moe_latent_size).",
         "1024", "0: experts read the hidden state"},
        {"expert_latent_norm", flag(of_keys(&LayerKeys::expert_latent_norm)),
         "The output of latent experts has an RMS norm.", "true"},
        {"beside_ffn", whole(of_keys(&LayerKeys::beside_ffn), 0, kWidestMlp),
         "The intermediate size of a dense MLP parallel to the experts, with its own norms (Gemma "
         "4).",
         "2112", "0: none"},
        {"hashed_router", flag(of_keys(&LayerKeys::hashed_router)),
         "Experts are chosen by a fixed table of token ids.", "true"},
        {"router", word(of_keys(&LayerKeys::router), kRouters),
         "The function by which a router scores experts.", "sigmoid"},
        {"router_groups", whole(of_keys(&LayerKeys::router_groups), 1, kMostExperts, "groups"),
         "The number of equal expert groups for group-limited routing.", "8"},
        {"router_groups_chosen",
         whole(of_keys(&LayerKeys::router_groups_chosen), 1, kMostExperts, "groups"),
         "The number of expert groups a token may be routed to.", "4"},
        {"router_renormalises", flag(of_keys(&LayerKeys::router_renormalises)),
         "A sigmoid router normalizes the top-k scores by their sum.", "false"},
        {"router_scaling", real(of_keys(&LayerKeys::router_scaling), 0, 1e6),
         "The scaling factor of the router's weights.", "2.5"},
        {"router_dtype", word(of_keys(&LayerKeys::router_dtype), kRouterDtypes, "router_dtype"),
         "The data type of the router's logits and their gradients: that of the training, or "
         "always fp32 (Megatron-Core's --moe-router-dtype).",
         "fp32"},
        {"router_bias", flag(of_keys(&LayerKeys::router_bias)),
         "The router's logits have a learned bias.", "true"},
        {"router_bias_correction", flag(of_keys(&LayerKeys::router_bias_correction)),
         "A bias without gradient is added to each expert's score for the top-k selection.",
         "true"},
        {"weighs_experts_input", flag(of_keys(&LayerKeys::weighs_experts_input)),
         "The routing weight multiplies the expert's input instead of its output.", "true"}};
    return kFields;
}

}  // namespace debubble::models
