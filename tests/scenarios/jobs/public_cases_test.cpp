#include <filesystem>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/jobs/job.h"
#include "scenarios/read/read_scenario.h"
#include "tests/support/source_folder.h"

/// Jobs from public launch scripts and bug reports, which lie in the folder `cases`, with what each
/// of them means by its source.
namespace debubble::jobs {
namespace {

using scenarios::Override;
using scenarios::Scenario;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::filesystem::path case_file(const std::string& name) {
    return source_folder() / "tests/scenarios/jobs/cases" / name;
}

Scenario planned_case(const std::string& name, std::vector<Override> given = {},
                      const Started& started = {}) {
    if (given.empty() || given.front().first != "cluster")
        given.emplace_back("cluster", "hgx-h100");
    return scenarios::parse_scenario(
        import_job(case_file(name), "", given, {}, {.started = started}).text, name + ".yaml");
}

std::string refused_case(const std::string& name, std::vector<Override> given = {}) {
    try {
        planned_case(name, std::move(given));
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

// bigscience-workshop/bigscience, train/tr11-176B-ml/tr11-176B-ml.slurm
TEST(PublicCase, Bloom176BIsCutByTypesOfLayersUnderTheConfigurationThatItsScriptWrites) {
    const Scenario s =
        planned_case("bloom-176b-megatron-deepspeed.sh", {{"cluster", "dgx-a100-80gb"}});
    EXPECT_EQ(s.gpus, 384);  // 48 nodes by its #SBATCH line
    EXPECT_THAT(s.parallel.layers_per_stage, ElementsAre(5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5));
    EXPECT_EQ(s.model.vocab, 250880);
    EXPECT_EQ(s.parallel.zero_stage, 0);
    EXPECT_TRUE(s.framework.bf16_optimizer);
    EXPECT_EQ(s.training.micro_batches, 128);
}

// NVIDIA-NeMo/Megatron-Bridge 067f987df, training/mixed_precision.py 217-417
TEST(PublicCase, NamesOfPrecisionsMeanGathersAndLayersInBf16Too) {
    const scenarios::Precision p =
        planned_case("bridge-fp8-named-precision.sh", {{"gpus", "8"}}).training.precision;
    EXPECT_EQ(p.recipe, models::Recipe::Fp8Current);
    EXPECT_EQ(p.param_gather, scenarios::ParamGather::Fp8);
    EXPECT_EQ(p.bf16_first, 1);
    EXPECT_EQ(p.bf16_last, 1);
}

// NVIDIA-NeMo/Megatron-Bridge PR 5391
TEST(PublicCase, HydrasQuotesAreNoPartOfALayout) {
    const Scenario s = planned_case("bridge-llama3-70b-layout.sh", {{"gpus", "64"}});
    EXPECT_EQ(s.parallel.layout, "Et*2|(t*2|)*34,t*3|(t*2|)*3,tL");
    EXPECT_EQ(s.parallel.stages_per_rank, 5);
}

TEST(PublicCase, TheAllocatorOfTheEnvironmentIsPlanned) {
    EXPECT_EQ(planned_case("megatron-expandable-segments.sh").framework.allocator,
              scenarios::AllocatorModel::PyTorchExpandable);
}

// THUDM/slime, scripts/run-glm4.7-355B-A32B.sh
TEST(PublicCase, ASourcedNetworkHasItsParameters) {
    EXPECT_EQ(models::parameter_count(planned_case("megatron-sourced-model.sh").model),
              352'797'814'784);
}

// alibaba/Pai-Megatron-Patch, examples/qwen3/run_mcore_qwen3.sh
TEST(PublicCase, ArgumentsAreAskedForAndChooseTheNetwork) {
    EXPECT_THAT(refused_case("megatron-positional-args.sh"),
                AllOf(HasSubstr("$3 (--micro-batch-size in line 20)"), HasSubstr("ARG9 ARG10`"),
                      HasSubstr("--env NNODES=VALUE")));
    const Scenario s =
        planned_case("megatron-positional-args.sh", {},
                     {{{"WORLD_SIZE", "2"}, {"KUBERNETES_CONTAINER_RESOURCE_GPU", "8"}},
                      {"dlc", "A3B", "1", "32", "4096", "4", "2", "1", "1", "4"}});
    EXPECT_EQ(s.gpus, 16);
    EXPECT_EQ(s.parallel.tensor, 4);
    EXPECT_EQ(s.parallel.expert, 4);
    EXPECT_EQ(s.model.layers.count(), 48);
}

// deepspeedai/Megatron-DeepSpeed, examples_deepspeed/rebase
TEST(PublicCase, AVariableNamedPpSizeMakesNoJobOfColossalAi) {
    EXPECT_EQ(planned_case("megatron-lower-case-variables.sh").parallel.tensor, 2);
}

// pytorch/torchtitan b5bcd76c6, models/llama3/config_registry.py
TEST(PublicCase, ANamedConfigurationHasTheSettingsOfItsPython) {
    const Scenario s = planned_case("torchtitan-named-config.sh");
    EXPECT_EQ(s.parallel.tensor, 8);
    EXPECT_EQ(s.training.recompute, models::Recompute::Full);
    EXPECT_EQ(s.gpus, 64);
}

// pytorch/torchtitan issue 1789
TEST(PublicCase, ACompiledLossIsPlanned) {
    EXPECT_EQ(planned_case("torchtitan-dsv3-16b-h100-bs8-ep1.toml", {{"gpus", "8"}})
                  .framework.kernels.loss,
              models::LossKernel::Compiled);
}

// AMD-AGI/Primus fd1eeabb, primus/configs/models/megatron/language_model.yaml 150, 158
TEST(PublicCase, EncodersWithoutRanksAreNoEncoders) {
    const Scenario s =
        planned_case("primus-encoder-zero.yaml",
                     {{"cluster", "hgx-mi300x"}, {"gpus", "64"}, {"model.vocab", "128256"}});
    EXPECT_EQ(s.parallel.tensor, 8);
    EXPECT_EQ(s.parallel.pipeline, 8);
    EXPECT_EQ(s.model.layers.count(), 126);
}

// NVIDIA-NeMo/Automodel, examples/llm_benchmark/glm/glm_4.7_te_deepep.yaml
TEST(PublicCase, AutomodelIsReadWithTheNetworkThatItNames) {
    const Scenario s = planned_case("automodel-glm4.7-hybridep.yaml");
    EXPECT_EQ(models::parameter_count(s.model), 352'797'814'784);  // as slime counts GLM-4.7's
    EXPECT_EQ(s.gpus, 256);
    EXPECT_EQ(s.parallel.pipeline, 4);
    EXPECT_EQ(s.parallel.expert, 32);
    EXPECT_EQ(s.schedule.name, "interleaved-1f1b");
    EXPECT_EQ(s.parallel.stages_per_rank, 12);  // 46 stages of two layers, up to 48
    EXPECT_EQ(s.training.recompute, models::Recompute::Full);
}

}  // namespace
}  // namespace debubble::jobs
