#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/check/framework_checks.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::scenarios {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// A plan on 64 GPUs, with some of its lines replaced by others.
std::vector<std::string> said_of_plan(const std::string& framework, const std::string& model,
                                      const std::string& parallel, const std::string& schedule,
                                      const std::string& training) {
    const std::string text = fmt::format(
        "model: {}\ncluster: hgx-h100\ngpus: 64\nframework: {}\nparallel: {{{}}}\nschedule: {}\n"
        "training: {{seq_length: 2048, micro_batch: 1, {}}}\n",
        model, framework, parallel, schedule, training);
    std::vector<std::string> said;
    for (const FrameworkRefusal& one : framework_refusals(parse_scenario(text, "plan.yaml")))
        said.push_back(refusal_text(one));
    return said;
}

const std::string kLlama8b = "llama3-8b";
const std::string kMegatron = "megatron-2026";

TEST(FrameworkChecks, SayNothingOfWhatTheFrameworkRuns) {
    EXPECT_THAT(said_of_plan(kMegatron, kLlama8b, "tensor: 2, pipeline: 4, sequence: true",
                             "{name: interleaved-1f1b, stages_per_rank: 2}", "global_batch: 64"),
                IsEmpty());
    EXPECT_THAT(said_of_plan("debubble", kLlama8b, "pipeline: 2, zero_stage: 0", "zb-h1",
                             "global_batch: 64, dropout: 0"),
                IsEmpty());
}

TEST(FrameworkChecks, NameTheRuleOfTheCut) {
    EXPECT_THAT(said_of_plan(kMegatron, "{base: llama3-8b, layers: 30}", "pipeline: 4", "1f1b",
                             "global_batch: 64"),
                Contains(AllOf(HasSubstr("Megatron-LM would refuse this: 30 layers are not a "
                                         "multiple of 4 pipeline ranks"),
                               HasSubstr("megatron/training/arguments.py, validate_args"))));
    EXPECT_THAT(said_of_plan(kMegatron, "{base: llama3-8b, layers: 30}",
                             "pipeline: 4, partition: [7, 8, 8, 7]", "1f1b", "global_batch: 64"),
                IsEmpty());
    EXPECT_THAT(said_of_plan(kMegatron, "{base: llama3-8b, layers: 20}", "pipeline: 4",
                             "{name: interleaved-1f1b, stages_per_rank: 2}", "global_batch: 64"),
                Contains(AllOf(HasSubstr("5 layers of a rank are not a multiple of 2"),
                               HasSubstr("get_num_layers_to_build"))));
}

TEST(FrameworkChecks, NameTheRuleOfInterleaving) {
    const std::string interleaved = "{name: interleaved-1f1b, stages_per_rank: 2}";
    EXPECT_THAT(
        said_of_plan(kMegatron, kLlama8b, "pipeline: 4", interleaved, "global_batch: 48"),
        Contains(AllOf(HasSubstr("at least as many microbatches as pipeline ranks, but 3 are "
                                 "fewer than 4"),
                       HasSubstr("forward_backward_pipelining_with_interleaving"))));
    EXPECT_THAT(said_of_plan(kMegatron, kLlama8b, "pipeline: 4", interleaved, "global_batch: 96"),
                Contains(HasSubstr("the last of 6 has 2, fewer than the pipeline's 4 ranks")));
}

TEST(FrameworkChecks, NameRulesOfMemory) {
    EXPECT_THAT(
        said_of_plan(kMegatron, kLlama8b, "pipeline: 2", "1f1b",
                     "global_batch: 64, offload: {layers: 2}"),
        Contains(HasSubstr("--cpu-offloading-num-layers does not support pipeline parallelism")));
    EXPECT_THAT(said_of_plan(kMegatron, kLlama8b, "pipeline: 2", "1f1b",
                             "global_batch: 64, recompute: {modules: [mla_up_proj]}"),
                Contains(HasSubstr("mla_up_proj is recomputed, but there is no latent")));
    EXPECT_THAT(said_of_plan("{base: megatron-2026, overlap_grad_reduce: false}", kLlama8b,
                             "pipeline: 2, zero_stage: 1", "1f1b", "global_batch: 64"),
                Contains(HasSubstr("--overlap-param-gather needs --overlap-grad-reduce")));
    EXPECT_THAT(said_of_plan(kMegatron, kLlama8b, "pipeline: 2, zero_stage: 0", "1f1b",
                             "global_batch: 64, "
                             "precision: {base: fp8-current, param_gather: fp8}"),
                Contains(HasSubstr("parameters are gathered in 8 or 4 bits")));
}

TEST(FrameworkChecks, NameTheScheduleThatIsNotThere) {
    EXPECT_THAT(said_of_plan(kMegatron, kLlama8b, "pipeline: 4", "zb-h1", "global_batch: 64"),
                Contains(AllOf(HasSubstr("it does not support the schedule zb-h1"),
                               HasSubstr("get_forward_backward_func"))));
}

TEST(FrameworkChecks, AreThoseOfTheFrameworkInUse) {
    EXPECT_THAT(said_of_plan("pytorch-fsdp2", kLlama8b, "pipeline: 4", "1f1b", "global_batch: 48"),
                Contains(AllOf(HasSubstr("torchtitan would refuse this: 1F1B needs at least as "
                                         "many microbatches as stages, but 3 are fewer than 4"),
                               HasSubstr("Schedule1F1B"))));
    EXPECT_THAT(said_of_plan("pytorch-fsdp2", kLlama8b, "pipeline: 4",
                             "{name: interleaved-1f1b, stages_per_rank: 2}", "global_batch: 144"),
                Contains(HasSubstr("9 microbatches cannot be divided into 2 equal rounds")));
    EXPECT_THAT(said_of_plan("pytorch-fsdp2", "{base: llama3-8b, tied_embedding: true}",
                             "pipeline: 2", "1f1b", "global_batch: 64"),
                Contains(HasSubstr("an embedding tied to the head does not support a pipeline")));
    EXPECT_THAT(
        said_of_plan("deepspeed", kLlama8b, "pipeline: 2, zero_stage: 2", "1f1b",
                     "global_batch: 64"),
        Contains(
            AllOf(HasSubstr("DeepSpeed would refuse this: a pipeline supports ZeRO 0 or 1, not 2"),
                  HasSubstr("PipelineEngine.__init__"))));
}

}  // namespace
}  // namespace debubble::scenarios
