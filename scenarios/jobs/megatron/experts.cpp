#include <fmt/format.h>

#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/megatron/network.h"

namespace debubble::jobs {
namespace {

void read_router(Reading& job) {
    Settings& in = job.in;
    if (in.word("moe_router_score_function") == "sigmoid")
        job.set("model.router", std::string("sigmoid"), in.find("moe_router_score_function"));
    else if (in.is_on("moe_router_pre_softmax"))
        job.set("model.router", std::string("pre_softmax"), in.find("moe_router_pre_softmax"));
    job.copy("model.router_groups", "moe_router_num_groups");
    job.copy("model.router_groups_chosen", "moe_router_group_topk");
    if (const auto factor = in.real("moe_router_topk_scaling_factor"))
        job.set_real("model.router_scaling", *factor, in.find("moe_router_topk_scaling_factor"));
    if (in.is_on("moe_router_enable_expert_bias"))
        job.set("model.router_bias_correction", true, in.find("moe_router_enable_expert_bias"));
    const std::string dtype = in.word("moe_router_dtype").value_or("");
    if (dtype == "fp32" || dtype == "fp64")
        job.set("model.router_dtype", std::string("fp32"), in.find("moe_router_dtype"));
    if (dtype == "fp64")
        job.note(*in.find("moe_router_dtype"), "the router's logits are planned in fp32");
    const std::string balancing = in.word("moe_router_load_balancing_type").value_or("aux_loss");
    const std::optional<double> coefficient = in.real("moe_aux_loss_coeff");
    if (balancing == "seq_aux_loss")
        job.set("training.moe_router_load_balancing_type", balancing,
                in.find("moe_router_load_balancing_type"));
    else if (balancing != "aux_loss" && balancing != "none")
        job.note(*in.find("moe_router_load_balancing_type"),
                 "this load balancing is planned as aux_loss");
    if (coefficient && *coefficient > 0 && balancing.ends_with("aux_loss"))
        job.set_real("training.moe_aux_loss_coeff", *coefficient, in.find("moe_aux_loss_coeff"));
    if (const auto z = in.real("moe_z_loss_coeff"); z && *z > 0)
        job.set_real("training.moe_z_loss_coeff", *z, in.find("moe_z_loss_coeff"));
    if (in.is_on("moe_router_force_load_balancing"))
        job.set("training.router", std::string("balanced"),
                in.find("moe_router_force_load_balancing"));
    else
        job.set("training.router", std::string("learned"), in.find("num_experts"),
                "no --moe-router-force-load-balancing");
}

void read_prediction(Reading& job) {
    Settings& in = job.in;
    const auto depths = in.whole("mtp_num_layers", 0, 16);
    if (!depths || *depths == 0) {
        in.find("mtp_loss_scaling_factor");
        return;
    }
    if (in.is_on("mtp_use_repeated_layer") && *depths > 1)
        job.refuse_network(*in.find("mtp_use_repeated_layer"),
                           "multi-token prediction depths with shared weights are not supported");
    if (!is_hybrid(job)) job.set("model.mtp_layers", *depths, in.find("mtp_num_layers"));
    if (const auto factor = in.real("mtp_loss_scaling_factor"); factor && *factor != 0.1)
        job.set_real("training.mtp_loss_scaling_factor", *factor,
                     in.find("mtp_loss_scaling_factor"));
}

void read_experts(Reading& job) {
    Settings& in = job.in;
    const std::optional<std::int64_t> experts = in.whole("num_experts", 0, 4096);
    if (!experts || *experts == 0) return;
    job.set("model.experts", *experts, in.find("num_experts"));
    const auto per_token = in.whole("moe_router_topk", 1, 4096);
    job.set("model.experts_per_token", per_token.value_or(2), in.find("moe_router_topk"),
            per_token ? "" : "the default of --moe-router-topk");
    if (const auto ffn = in.whole("moe_ffn_hidden_size", 1, kMost))
        job.set("model.ffn", *ffn, in.find("moe_ffn_hidden_size"));
    if (const auto shared = in.whole("moe_shared_expert_intermediate_size", 1, kMost))
        job.set("model.shared_ffn", *shared, in.find("moe_shared_expert_intermediate_size"));
    if (in.is_on("moe_shared_expert_gate"))
        job.set("model.shared_gate", true, in.find("moe_shared_expert_gate"));
    if (in.has("moe_latent_size") && !is_hybrid(job))
        job.refuse_network(*in.find("moe_latent_size"),
                           "latent experts are supported only in hybrid networks");
    else
        job.copy("model.expert_latent", "moe_latent_size");
    read_router(job);
}

}  // namespace

std::string megatron_latent(Reading& job) {
    Settings& in = job.in;
    const std::optional<std::int64_t> query = in.whole("q_lora_rank", 0, kMost);
    const std::int64_t key = in.whole("kv_lora_rank", 1, kMost).value_or(32);
    const std::int64_t own = in.whole("qk_head_dim", 1, kMost).value_or(128);
    const std::int64_t rope = in.whole("qk_pos_emb_head_dim", 1, kMost).value_or(64);
    const std::int64_t value = in.whole("v_head_dim", 1, kMost).value_or(128);
    in.find("qk_layernorm");
    return fmt::format(
        "{{query_rank: {}, key_rank: {}, head_dim: {}, rope_dim: {}, value_dim: {}}}",
        query.value_or(0), key, own, rope, value);
}

void read_megatron_experts(Reading& job) {
    Settings& in = job.in;
    if (in.is_on("multi_latent_attention") && !is_hybrid(job))
        job.set("model.latent_attention", megatron_latent(job), in.find("multi_latent_attention"));
    if (has_delta_nets(job) && !is_hybrid(job)) read_delta_net(job);
    read_prediction(job);
    read_experts(job);
    read_megatron_layers(job);
}

}  // namespace debubble::jobs
