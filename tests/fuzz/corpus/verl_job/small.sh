set -x
LENGTH=$((1024 * 3))
python3 -m verl.trainer.main_ppo --config-name='ppo_megatron_trainer' \
    data.max_prompt_length=1024 data.max_response_length=$LENGTH data.train_batch_size=512 \
    actor_rollout_ref.model.path=$HOME/models/Qwen/Qwen2.5-7B-Instruct actor_rollout_ref.rollout.n=8 \
    actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \
    actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size=null \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full \
    trainer.n_gpus_per_node=8 trainer.nnodes=8
