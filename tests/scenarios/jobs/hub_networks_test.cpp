#include <gmock/gmock.h>

#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/jobs/read/zoo_names.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::jobs {
namespace {

std::int64_t parameters_of(std::string_view name) {
    const auto model = zoo_model_of(name);
    if (!model) return 0;
    const auto s = scenarios::parse_scenario(
        "model: " + std::string(model->zoo) +
            "\ncluster: hgx-h100\ntraining: {global_batch: 8, micro_batch: 1}\n",
        "hub.yaml");
    EXPECT_EQ(s.model.layers.count(), model->layers) << name;
    return models::parameter_count(s.model);
}

/// The totals that the hub states of the checkpoints' tensors.
TEST(HubNetworks, HaveTheParametersOfTheirCheckpoints) {
    const std::pair<const char*, std::int64_t> published[] = {
        {"Qwen/Qwen3-0.6B", 596'049'920},
        {"Qwen/Qwen3-1.7B-Base", 1'720'574'976},
        {"Qwen/Qwen3-4B-Instruct-2507", 4'022'468'096},
        {"Qwen/Qwen3-14B-FP8", 14'768'307'200},
        {"Qwen/Qwen2.5-0.5B-Instruct", 494'032'768},
        {"Qwen/Qwen2.5-1.5B", 1'543'714'304},
        {"Qwen/Qwen2.5-3B-Instruct", 3'085'938'688},
        {"Qwen/Qwen2.5-7B", 7'615'616'512},
        {"Qwen/Qwen2.5-14B", 14'770'033'664},
        {"Qwen/Qwen2.5-32B", 32'763'876'352},
        {"Qwen/Qwen2.5-72B-Instruct", 72'706'203'648},
        {"deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", 1'777'088'000},
        {"meta-llama/Llama-3.2-3B", 3'212'749'824},
        {"mistralai/Mistral-7B-v0.3", 7'248'023'552},
        {"mistralai/Mistral-Nemo-Base-2407", 12'247'782'400},
        {"microsoft/phi-4", 14'659'507'200},
        {"deepseek-ai/DeepSeek-V2", 235'741'434'880},
        {"deepseek-ai/deepseek-llm-7b-chat", 6'910'365'696},
        {"ByteDance-Seed/Seed-OSS-36B-Base", 36'151'104'512}};
    for (const auto& [name, parameters] : published)
        EXPECT_EQ(parameters_of(name), parameters) << name;
    // THUDM/slime 624b824a8, scripts/models/glm4.5-355B-A32B.sh, under Megatron-LM
    EXPECT_EQ(parameters_of("zai-org/GLM-4.7"), 352'797'814'784);
}

TEST(HubNetworks, AreNotKnownByAPartOfTheirName) {
    for (const char* name :
         {"Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen3-VL-8B", "zai-org/GLM-4.7-Flash",
          "Qwen/Qwen3-Embedding-8B", "z-lab/Qwen3-4B-DFlash-b16", ""})
        EXPECT_FALSE(zoo_model_of(name)) << name;
}

}  // namespace
}  // namespace debubble::jobs
