#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/job.h"
#include "scenarios/read/read_scenario.h"

/// Made-up launch scripts of ms-swift, of the shape of its examples.
namespace debubble::jobs {
namespace {

using scenarios::Scenario;
using testing::Contains;
using testing::HasSubstr;

Imported imported_swift(const std::string& flags) {
    return import_text(
        "NNODES=1 NPROC_PER_NODE=8 \\\nmegatron sft --model Qwen/Qwen2.5-7B-Instruct "
        "--tensor_model_parallel_size 2 --micro_batch_size 2 --global_batch_size 16 "
        "--max_length 2048 " +
            flags + "\n",
        "run.sh", "", {{"cluster", "hgx-h100"}, {"gpus", "8"}});
}

Scenario planned_swift(const std::string& flags) {
    return scenarios::parse_scenario(imported_swift(flags).text, "back.yaml");
}

std::string refused_swift(const std::string& flags) {
    try {
        imported_swift(flags);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(SwiftJob, PlansAdaptersOfDenseNetworks) {
    const Scenario s =
        planned_swift("--tuner_type lora --lora_rank 16 --target_modules all-linear");
    ASSERT_TRUE(s.training.lora);
    EXPECT_EQ(s.training.lora->rank, 16);
    EXPECT_FALSE(planned_swift("--tuner_type full").training.lora);
    EXPECT_THAT(refused_swift("--tuner_type lora --target_modules q_proj"),
                HasSubstr("adapters of 'q_proj' are not supported"));
    EXPECT_THAT(refused_swift("--tuner_type longlora"), HasSubstr("adapters ('longlora')"));
}

TEST(SwiftJob, RefusesOtherHeadsAndChangedNetworks) {
    EXPECT_THAT(refused_swift("--task_type seq_cls"), HasSubstr("the head of the task 'seq_cls'"));
    EXPECT_THAT(refused_swift("--rlhf_type rm"), HasSubstr("a reward model has another head"));
    EXPECT_THAT(refused_swift("--num_layers 2"), HasSubstr("model"));
    EXPECT_THAT(refused_swift("--moe_router_topk 2"),
                HasSubstr("it changes the model named by the job"));
    EXPECT_EQ(planned_swift("--mtp_num_layers 1").model.mtp_layers, 1);
    EXPECT_EQ(planned_swift("--mtp_num_layers 1 --model Qwen/Qwen3-0.6B").model.mtp_layers, 1);
    EXPECT_THAT(imported_swift("--rlhf_type dpo").notes,
                Contains(HasSubstr("for 'dpo' only the update of the trained network is planned")));
}

}  // namespace
}  // namespace debubble::jobs
