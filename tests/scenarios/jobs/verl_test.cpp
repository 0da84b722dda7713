#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/job.h"
#include "scenarios/read/read_scenario.h"

/// Made-up launch scripts of verl, of the shape of its examples.
namespace debubble::jobs {
namespace {

using scenarios::Override;
using scenarios::Scenario;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

/// A script whose overrides are those and more.
std::string verl_script(const std::string& more) {
    return "set -x\n"
           "LENGTH=$((1024 * 3))\n"
           "python3 -m verl.trainer.main_ppo \\\n"
           "    data.max_prompt_length=1024 data.max_response_length=$LENGTH \\\n"
           "    data.train_batch_size=512 actor_rollout_ref.rollout.n=8 \\\n"
           "    actor_rollout_ref.actor.ppo_mini_batch_size=64 \\\n"
           "    trainer.n_gpus_per_node=8 trainer.nnodes=2 " +
           more + "\n";
}

Imported imported_verl(const std::string& more) {
    return import_text(verl_script(more), "run.sh", "", {{"cluster", "hgx-h100"}});
}

Scenario planned_verl(const std::string& more) {
    return scenarios::parse_scenario(imported_verl(more).text, "back.yaml");
}

std::string refused_verl(const std::string& more) {
    try {
        imported_verl(more);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

constexpr const char* kVerlMegatron =
    "--config-name='ppo_megatron_trainer' "
    "actor_rollout_ref.model.path=$HOME/models/Qwen/Qwen2.5-7B-Instruct "
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 "
    "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 "
    "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 "
    "actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size=null "
    "+actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full "
    "actor_rollout_ref.ref.megatron.tensor_model_parallel_size=8 ";

TEST(VerlJob, OfMegatronIsTheUpdateOfTheActor) {
    const Scenario s = planned_verl(kVerlMegatron);
    EXPECT_EQ(s.gpus, 16);
    EXPECT_EQ(s.parallel.tensor, 2);  // not the reference's 8
    EXPECT_EQ(s.parallel.pipeline, 2);
    EXPECT_TRUE(s.parallel.sequence);
    EXPECT_EQ(s.parallel.zero_stage, 1);
    EXPECT_EQ(s.training.global_batch, 64 * 8);
    EXPECT_EQ(s.training.micro_batch, 2);
    EXPECT_EQ(s.training.seq_length, 4096);
    EXPECT_EQ(s.training.recompute, models::Recompute::Full);
    EXPECT_EQ(s.model.name, "qwen2.5-7b");
    EXPECT_THAT(imported_verl(kVerlMegatron).notes,
                Contains(HasSubstr("only the actor's update of a step is planned")));
}

TEST(VerlJob, OfFsdpCutsParametersAndSamples) {
    const Scenario s = planned_verl(
        "actor_rollout_ref.model.path=Qwen/Qwen3-0.6B actor_rollout_ref.actor.strategy=fsdp2 "
        "actor_rollout_ref.actor.use_dynamic_bsz=True "
        "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=8192 "
        "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 "
        "actor_rollout_ref.actor.fsdp_config.fsdp_size=8");
    EXPECT_EQ(s.parallel.zero_stage, 3);
    EXPECT_EQ(s.parallel.context, 2);
    EXPECT_EQ(s.parallel.shard, 8);
    EXPECT_TRUE(s.framework.casts_shards);
    EXPECT_EQ(s.training.micro_batch, 4);  // 2 GPUs of 8192 tokens, samples of 4096
    EXPECT_EQ(s.training.recompute, models::Recompute::Full);  // verl's default
}

TEST(VerlJob, OfDynamicBatchesByMegatronFillsMicrobatches) {
    const Scenario s = planned_verl(std::string(kVerlMegatron) +
                                    "actor_rollout_ref.actor.use_dynamic_bsz=True "
                                    "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=16384");
    EXPECT_EQ(s.training.micro_batch, 4);
}

TEST(VerlJob, AsksAndRefusesByName) {
    EXPECT_THAT(refused_verl("actor_rollout_ref.model.path=Qwen/Qwen2.5-VL-7B-Instruct "
                             "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2"),
                HasSubstr("the model 'Qwen/Qwen2.5-VL-7B-Instruct' is not in the zoo"));
    EXPECT_THAT(refused_verl("actor_rollout_ref.model.path=Qwen/Qwen3-0.6B "
                             "actor_rollout_ref.model.lora_rank=32"),
                AllOf(HasSubstr("run.sh:7:"), HasSubstr("adapters are not supported"),
                      HasSubstr("how many samples does a microbatch have?")));
    EXPECT_THAT(refused_verl("actor_rollout_ref.model.path=Qwen/Qwen3-0.6B "
                             "actor_rollout_ref.actor.strategy=veomni "
                             "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1"),
                HasSubstr("the strategy 'veomni' is not supported"));
    EXPECT_THAT(refused_verl(std::string(kVerlMegatron) +
                             "+actor_rollout_ref.actor.megatron.override_transformer_config."
                             "experimental_attention_variant=dsa"),
                HasSubstr("it changes the model named by the job"));
}

}  // namespace
}  // namespace debubble::jobs
