#include "tests/sim/random_scenarios.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "scenarios/plan/plan.h"
#include "schedule/generators/generators.h"
#include "tests/sim/engine/random_plans.h"
#include "text/shipped_files.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFewScenarios = 300;
constexpr int kMostGpus = 1024;
/// Draws of a seed until one is consistent; some one in four is.
constexpr int kMostDraws = 1000;

/// Values that have one form in JSON each, as texts of it.
Json of_text(const std::string& text) {
    return Json::parse(text);
}

/// The networks that have experts, and every other one.
std::vector<std::string> models_with(bool experts) {
    static const std::vector<std::string> kWithExperts{
        "deepseek-v2-lite",  "deepseek-v3",   "glm-4.5-air",      "gpt-oss-120b",
        "gpt-oss-20b",       "grok-1",        "kimi-k2",          "llama4-maverick",
        "llama4-scout",      "mixtral-8x22b", "mixtral-8x7b",     "moonlight-16b-a3b",
        "qwen3-235b-a22b",   "qwen3-30b-a3b", "nemotron-3-super", "nemotron-3-nano-30b-a3b",
        "qwen3-next-80b-a3b"};
    if (experts) return kWithExperts;
    std::vector<std::string> others;
    for (const std::string& name : text::shipped_names("models/zoo"))
        if (std::ranges::find(kWithExperts, name) == kWithExperts.end()) others.push_back(name);
    return others;
}

/// Draws one scenario, consistent or not.
class ScenarioDraw {
public:
    ScenarioDraw(Dice& dice, const RandomWish& wish) : dice_(dice), wish_(wish) {}

    Json draw() {
        experts_ = wish_.experts || dice_.chance(35);
        Json scenario;
        scenario["model"] = dice_.one_of(models_with(experts_));
        scenario["cluster"] = dice_.one_of(text::shipped_names("scenarios/clusters"));
        const Generator& generator = schedule();
        int stages_per_rank = generator.stages_per_rank.value_or(dice_.one_of<int>({1, 2, 2, 3}));
        pipeline_ = wish_.pipeline ? dice_.one_of<int>({2, 2, 4, 4, 8, 16})
                                   : dice_.one_of<int>({1, 1, 2, 2, 4, 8, 16});
        scenario["parallel"] = parallel(stages_per_rank);
        scenario["schedule"] = schedule_of(generator);
        scenario["training"] = training();
        scenario["framework"] = framework();
        return scenario;
    }

private:
    const Generator& schedule() {
        while (true) {
            const auto all = generators();
            const Generator& one =
                all[static_cast<std::size_t>(dice_.roll(static_cast<int>(all.size())))];
            if (!wish_.orders_are_fixed || !one.uses_costs) return one;
        }
    }

    Json schedule_of(const Generator& generator) {
        const std::string name(generator.name);
        if (generator.name == "seq-1f1b")
            return Json{{"name", name}, {"slices", dice_.one_of<int>({1, 2, 4})}};
        if (generator.name == "combined-1f1b" && dice_.chance(30))
            return Json{{"name", name}, {"delay_wgrad", true}};
        return name;
    }

    Json parallel(int stages_per_rank) {
        const int tensor = dice_.one_of<int>({1, 1, 1, 2, 4, 8});
        const int context = dice_.one_of<int>({1, 1, 1, 1, 2, 4});
        const int data = dice_.one_of<int>({1, 2, 2, 4, 4, 8, 8, 16, 32});
        gpus_ = tensor * context * data * pipeline_;
        Json keys{{"tensor", tensor}, {"pipeline", pipeline_}, {"data", data}};
        if (context > 1) keys["context"] = context;
        if (stages_per_rank > 1) keys["stages_per_rank"] = stages_per_rank;
        if (tensor > 1 && (experts_ || dice_.chance(50))) keys["sequence"] = true;
        keys["zero_stage"] = dice_.one_of<int>({0, 1, 1, 2, 3, 3});
        if (dice_.chance(30)) keys["wrap"] = dice_.chance(50) ? "layer" : "stage";
        if (keys["zero_stage"] == 3 && dice_.chance(15)) keys["reshard"] = false;
        if (keys["zero_stage"] != 0 && data > 2 && dice_.chance(15)) keys["shard"] = data / 2;
        if (dice_.chance(20)) keys["partition"] = "balanced";
        if (experts_) {
            keys["expert"] = dice_.one_of<int>(wish_.experts ? std::vector{2, 4, 8, 8, 16, 32}
                                                             : std::vector{1, 2, 4, 8, 8, 16});
            keys["expert_tensor"] = dice_.chance(70) ? 1 : tensor;
        }
        return keys;
    }

    Json training() {
        Json keys{{"micro_batch", dice_.one_of<int>({1, 1, 1, 2, 4})},
                  {"micro_batches", dice_.one_of<int>({1, 2, 4, 4, 8, 8, 12, 16, 24, 32})}};
        if (dice_.chance(90)) keys["seq_length"] = dice_.one_of<int>({512, 1024, 2048, 4096, 8192});
        keys["precision"] = of_text(dice_.one_of<std::string>(
            {R"("bf16")", R"("bf16")", R"("bf16")", R"("fp32")", R"("fp16")", R"("pure-bf16")",
             R"("fp8-delayed")", R"("fp8-current")", R"("fp8-blockwise")", R"("mxfp8")",
             R"("nvfp4")", R"({"grads": "bf16"})", R"({"moments": "bf16", "main_grads": "none"})",
             R"({"recipe": "fp8-current", "param_gather": "fp8"})"}));
        if (dice_.chance(60))
            keys["recompute"] = of_text(dice_.one_of<std::string>(
                {R"("full")", R"("full")", R"("selective")", R"({"modules": ["core_attn"]})",
                 R"({"modules": ["mlp"]})", R"({"modules": ["layernorm", "moe_act"]})",
                 R"({"layers": 1, "method": "block"})", R"({"layers": 2, "method": "uniform"})"}));
        if (dice_.chance(20))
            keys["offload"] = of_text(dice_.one_of<std::string>(
                {R"({"modules": ["core_attn", "attn_proj"]})",
                 R"({"modules": ["mlp_norm", "qkv_linear"]})", R"({"layers": 1})",
                 R"({"modules": ["expert_fc1", "moe_act"]})"}));
        if (dice_.chance(10)) keys["offload_optimizer"] = true;
        if (dice_.chance(20))
            keys["optimizer"] = dice_.one_of<std::string>({"adamw", "muon", "sgd"});
        if (dice_.chance(15)) keys["attention"] = "unfused";
        if (experts_ && dice_.chance(40)) keys["expert_load"] = dice_.one_of<double>({1.1, 1.6, 3});
        return keys;
    }

    Json framework() {
        const std::string profile = dice_.one_of(text::shipped_names("scenarios/frameworks"));
        Json keys{{"base", profile}};
        if (dice_.chance(40))
            keys["allocator"] = dice_.one_of<std::string>(
                {"arena", "exact", "pytorch-caching", "pytorch-expandable"});
        if (dice_.chance(15)) keys["overlap_grad_reduce"] = dice_.chance(50);
        if (dice_.chance(15)) keys["overlap_param_gather"] = dice_.chance(50);
        if (dice_.chance(10)) keys["cuda_graphs"] = Json::array({"attn"});
        if (dice_.chance(10)) keys["keeps_messages"] = true;
        if (dice_.chance(10)) keys["grad_reduce_dtype"] = "bf16";
        if (experts_ && dice_.chance(40))
            keys["dispatcher"] =
                dice_.one_of<std::string>({"alltoall", "allgather", "deepep", "hybridep"});
        if (experts_ && dice_.chance(20)) keys["capacity_factor"] = 1.5;
        if (keys.size() == 1) return profile;
        return keys;
    }

public:
    /// Larger clusters than people have are drawn again.
    bool too_large() const { return gpus_ > kMostGpus; }

private:
    Dice& dice_;
    const RandomWish& wish_;
    bool experts_ = false;
    int pipeline_ = 1;
    int gpus_ = 1;
};

}  // namespace

std::optional<scenarios::Scenario> RandomScenario::with(
    const std::vector<scenarios::Override>& keys) const {
    try {
        return scenarios::parse_scenario(text, "random.json", keys);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

RandomScenario random_scenario(std::uint64_t seed, const RandomWish& wish) {
    // Dice step by one constant: seeds that differ by it would share a stream.
    Dice dice(Dice(seed).next());
    for (int draws = 0; draws < kMostDraws; ++draws) {
        ScenarioDraw draw(dice, wish);
        RandomScenario drawn{seed, draw.draw().dump(), {}};
        if (draw.too_large()) continue;
        if (auto scenario = drawn.with({})) {
            drawn.scenario = std::move(*scenario);
            return drawn;
        }
    }
    throw std::logic_error(fmt::format("seed {} has no consistent scenario", seed));
}

int number_of_random_scenarios() {
    const char* wanted = std::getenv("DEBUBBLE_RANDOM_SCENARIOS");
    return wanted ? std::atoi(wanted) : kFewScenarios;
}

int for_random_scenarios(const std::function<void(const RandomScenario&)>& property,
                         const RandomWish& wish, int scenarios) {
    int planned = 0;
    for (int seed = 0; seed < scenarios; ++seed) {
        const RandomScenario drawn = random_scenario(static_cast<std::uint64_t>(seed), wish);
        SCOPED_TRACE(fmt::format("seed {}: {}", seed, drawn.text));
        try {
            property(drawn);
        } catch (const InputError&) {
            continue;  // a mistake that only the plan shows, such as too few layers for its stages
        }
        ++planned;
    }
    return planned;
}

}  // namespace debubble::sim
