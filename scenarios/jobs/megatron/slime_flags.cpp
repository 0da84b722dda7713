#include "scenarios/jobs/megatron/flags.h"

#include <algorithm>

/// Flags of THUDM/slime 624b824a8, slime/utils/arguments.py. Its step of training is the actor's
/// update by Megatron-LM; rollouts, rewards and the reference's passes are other parts of its loop.
namespace debubble::jobs {
namespace {

/// Of rollouts, rewards, losses, data, logs and the transfer of weights between phases.
constexpr std::string_view kSlimeSilent =
    "address advantage_estimator apply_chat_template apply_chat_template_kwargs balance_by_flops "
    "balance_data buffer_filter_path colocate data_source_path disable_grpo_std_normalization "
    "disable_rewards_normalization dynamic_sampling_filter_path entropy_coef eps_clip eps_clip_c "
    "eps_clip_high gamma group_rm hf_checkpoint input_key kl_coef kl_loss_coef kl_loss_type "
    "label_key lambd loss_mask_type loss_type metadata_key model_name multimodal_keys "
    "n_samples_per_eval_prompt n_samples_per_prompt normalize_advantages num_epoch num_rollout "
    "num_steps_per_rollout offload offload_rollout offload_train over_sampling_batch_size "
    "partial_rollout prompt_data ref_load ref_ckpt_step ref_update_interval reward_key rm_type "
    "rm_url runtime_env_json skip_eval_before_train start_rollout_id tool_key tis_clip "
    "tis_clip_low train_env_vars use_fault_tolerance use_kl_loss use_rollout_entropy "
    "use_rollout_logprobs use_tis use_unbiased_kl value_clip num_gpus_per_node "
    "num_critic_only_steps megatron_to_hf_mode megatron_config_path use_tensorboard use_wandb "
    "log_passrate log_multi_turn log_correct_samples log_reward_category dump_details "
    "log_probs_chunk_size log_probs_max_tokens_per_gpu data_pad_size_multiplier "
    "enable_mtp_training opsm_delta use_opsm release_train reset_optimizer_states "
    "update_weights_interval only_eval";

constexpr std::string_view kSlimeSilentStarts[] = {
    "sglang_", "rollout_", "router_",        "actor_num_", "eval_",  "custom_",
    "ci_",     "debug_",   "update_weight_", "buffer_",    "wandb_", "dynamic_sampling_",
    "memory_", "tb_",      "prefill_"};

struct SlimeFact {
    std::string_view name, sentence;
};
constexpr SlimeFact kSlimeRefused[] = {
    {"custom_model_provider_path",
     "a function of the job builds the network, which cannot be read"},
    {"freeze_indexer", "a part of the network is frozen, which is not modelled"},
    {"opd_teacher_load", "a teacher's logits are not modelled"}};
constexpr SlimeFact kSlimeNoted[] = {
    {"only_train_params_name_list", "all parameters are planned as trainable"},
    {"freeze_params_name_list", "all parameters are planned as trainable"},
    {"keep_old_actor", "the old weights in addition to the actor's are not modelled"},
    {"use_stateless_adam", "an optimizer without state is planned with state"},
    {"recompute_loss_function", "a recomputed loss is planned as kept"},
    {"use_opd", "a teacher's logits are not modelled"},
    {"use_routing_replay", "replayed routing of rollouts is not modelled"},
    {"use_rollout_routing_replay", "replayed routing of rollouts is not modelled"}};

bool names(std::string_view list, std::string_view name) {
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t end = std::min(list.find(' ', at), list.size());
        if (list.substr(at, end - at) == name) return true;
        at = end + 1;
    }
    return false;
}

}  // namespace

bool is_slime(Settings& in) {
    return in.contains("rollout_batch_size") || in.contains("num_rollout") ||
           in.contains("actor_num_nodes") || in.contains("rollout_num_gpus");
}

bool sort_slime_flag(Reading& job, const Setting& setting) {
    for (const SlimeFact& fact : kSlimeRefused)
        if (setting.name == fact.name) {
            if (!job.has_model()) job.refuse_network(setting, std::string(fact.sentence));
            return true;
        }
    for (const SlimeFact& fact : kSlimeNoted)
        if (setting.name == fact.name) {
            job.note(setting, std::string(fact.sentence));
            return true;
        }
    const bool silent = names(kSlimeSilent, setting.name) ||
                        std::ranges::any_of(kSlimeSilentStarts, [&](std::string_view start) {
                            return setting.name.starts_with(start);
                        });
    if (silent) job.count_silent();
    return silent;
}

}  // namespace debubble::jobs
