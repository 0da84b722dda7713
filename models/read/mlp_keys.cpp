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
        in.complain(key, "the model has no 'experts' for them");
}

}  // namespace

const Fields<LayerFile>& mlp_fields() {
    static const Fields<LayerFile> kFields{
        {"ffn", whole(of_keys(&LayerKeys::ffn), 1, kWidestMlp),
         "The inner width of the MLP, or of an expert; the width of each half if it is gated.",
         "14336", "4 x hidden"},
        {"experts", whole(of_keys(&LayerKeys::experts), 0, kMostExperts, "experts"),
         "MLPs of a layer that a router chooses from; 0 is one MLP for every token.", "8", "0"},
        {"experts_per_token",
         custom(read_experts_per_token, {Form{text::WholeForm{1, kMostExperts, "experts"}}}),
         "Experts that the router chooses for a token.", "2", "none: with experts it is required"},
        {"activation", word(of_keys(&LayerKeys::activation), kActivations),
         "The MLP's activation; swiglu is gated.", "swiglu"},
        {"linear_bias", flag(of_keys(&LayerKeys::linear_bias)),
         "The products of attention, MLP and experts have biases.", "false"},
        {"shared_ffn", whole(of_keys(&LayerKeys::shared_ffn), 0, kWidestMlp),
         "The inner width of the experts that every token goes through, of all together.", "2048",
         "0: none"},
        {"shared_gate", flag(of_keys(&LayerKeys::shared_gate)),
         "The shared experts' result is multiplied by the sigmoid of one logit.", "true"},
        {"expert_latent", whole(of_keys(&LayerKeys::expert_latent), 0, kWidest),
         "The width of the narrower value that experts read and give, between two products of the "
         "layer (Megatron-Core's moe_latent_size).",
         "1024", "0: experts read the hidden state"},
        {"expert_latent_norm", flag(of_keys(&LayerKeys::expert_latent_norm)),
         "What experts of a narrower value give has an RMS norm.", "true"},
        {"beside_ffn", whole(of_keys(&LayerKeys::beside_ffn), 0, kWidestMlp),
         "The inner width of a dense MLP beside the experts, with norms of its own (Gemma 4).",
         "2112", "0: none"},
        {"hashed_router", flag(of_keys(&LayerKeys::hashed_router)),
         "The experts of a token are those of a fixed table.", "true"},
        {"router", word(of_keys(&LayerKeys::router), kRouters),
         "The function by which a router scores experts.", "sigmoid"},
        {"router_groups", whole(of_keys(&LayerKeys::router_groups), 1, kMostExperts, "groups"),
         "Equal groups of experts, of which a token goes to some.", "8"},
        {"router_groups_chosen",
         whole(of_keys(&LayerKeys::router_groups_chosen), 1, kMostExperts, "groups"),
         "Groups of experts that a token goes to.", "4"},
        {"router_renormalises", flag(of_keys(&LayerKeys::router_renormalises)),
         "A sigmoid router divides the chosen scores by their sum.", "false"},
        {"router_scaling", real(of_keys(&LayerKeys::router_scaling), 0, 1e6),
         "The factor of a router's weights.", "2.5"},
        {"router_dtype", word(of_keys(&LayerKeys::router_dtype), kRouterDtypes, "router_dtype"),
         "The type of a router's logits and of their gradients: that of the training, or fp32 in "
         "any training (Megatron-Core's --moe-router-dtype).",
         "fp32"},
        {"router_bias", flag(of_keys(&LayerKeys::router_bias)),
         "A router's logits have a learned bias.", "true"},
        {"router_bias_correction", flag(of_keys(&LayerKeys::router_bias_correction)),
         "A bias of every expert, which no gradient changes, is added to its score for the choice.",
         "true"},
        {"weighs_experts_input", flag(of_keys(&LayerKeys::weighs_experts_input)),
         "A token's weight multiplies its expert's input instead of the output.", "true"}};
    return kFields;
}

}  // namespace debubble::models
