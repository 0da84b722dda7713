#include <map>
#include <random>

#include "base/diagnostic.h"
#include "tests/scenarios/jobs/round_trip.h"

namespace debubble::jobs {
namespace {

using scenarios::Scenario;

std::vector<Scenario> shipped_plans() {
    std::vector<Scenario> plans;
    for (const std::string& name : scenarios::shipped_scenarios()) {
        Scenario scenario = scenarios::read_scenario(name);
        if (scenario.model.sees_images() || scenario.model.tower) continue;  // they are refused
        plans.push_back(std::move(scenario));
    }
    return plans;
}

/// A plan of few layers, of everything that is drawn; nothing if its numbers do not agree.
std::optional<Scenario> random_plan(std::mt19937& random) {
    const auto pick = [&](std::initializer_list<const char*> words) {
        return std::string(*(words.begin() + random() % words.size()));
    };
    const auto number = [&](std::initializer_list<int> numbers) {
        return *(numbers.begin() + random() % numbers.size());
    };
    const bool llama = random() % 3 != 0;
    const bool experts = llama && random() % 4 == 0;
    const int pipeline = number({1, 2, 4});
    const int chunks = pipeline > 1 ? number({1, 1, 2}) : 1;
    const int tensor = number({1, 2, 4});
    const int data = number({1, 2, 4});
    std::string text = fmt::format(
        "model: {{family: {}, layers: {}, hidden: 1024, heads: 16{}, ffn: {}, vocab: {}, "
        "max_positions: 4096{}}}\n",
        llama ? "llama" : "gpt2", number({8, 12, 16}), llama ? pick({"", ", kv_heads: 8"}) : "",
        number({2048, 4096}), number({32000, 50257}),
        experts ? ", experts: 8, experts_per_token: " + pick({"1", "2"})
        : llama ? pick({"", ", tied_embedding: true", ", rope_theta: 500000"})
                : "");
    const bool sequence = tensor > 1 && (experts || random() % 2 == 0);
    text += "cluster: " + pick({"hgx-h100", "hgx-b200"}) + "\n";
    text += fmt::format(
        "parallel: {{tensor: {}, pipeline: {}, data: {}, context: {}, sequence: {}, "
        "zero_stage: {}{}}}\n",
        tensor, pipeline, data, number({1, 1, 2}), sequence, number({0, 1, 1, 3}),
        experts ? ", expert: 2, expert_tensor: 1" : "");
    text += chunks > 1
                ? fmt::format("schedule: {{name: interleaved-1f1b, stages_per_rank: {}}}\n", chunks)
                : "schedule: " + pick({"1f1b", "1f1b", "gpipe", "zb-h1"}) + "\n";
    text += fmt::format(
        "training: {{global_batch: {}, micro_batch: {}, seq_length: {}, precision: {}, recompute: "
        "{}, attention: {}, dropout: {}}}\n",
        data * 8 * number({1, 2}), number({1, 2}), number({2048, 4096}),
        pick({"bf16", "bf16", "fp16", "fp8-current", "{base: bf16, grads: bf16}", "fp32"}),
        pick({"none", "selective", "full", "{method: block, layers: 1}"}),
        pick({"flash", "flash", "unfused"}), pick({"0", "0", "0.1"}));
    text += fmt::format(
        "framework: {{base: {}, overlap_grad_reduce: {}, overlap_param_gather: {}, "
        "loss: {}{}}}\n",
        pick({"megatron-2026", "megatron-2026", "pytorch-fsdp2", "deepspeed"}),
        pick({"true", "false"}), pick({"true", "false"}),
        pick({"unfused", "megatron-fused", "transformer-engine"}),
        pick({"", ", cuda_graphs: [attn, mlp]", ", vocabulary_multiple: 64"}));
    try {
        return scenarios::parse_scenario(text, "random.yaml");
    } catch (const InputError&) {
        return {};
    }
}

TEST(ExportedJob, ReadsBackAsThePlanForEveryShippedScenario) {
    for (const Scenario& plan : shipped_plans())
        for (const std::string& format : export_formats()) expect_round_trip(plan, format);
}

TEST(ExportedJob, ReadsBackAsThePlanForThreeHundredRandomPlans) {
    std::mt19937 random(24);
    int plans = 0;
    for (int tries = 0; plans < 300 && tries < 5000; ++tries) {
        const std::optional<Scenario> plan = random_plan(random);
        if (!plan) continue;
        const std::vector<std::string> formats = export_formats();
        const std::size_t other = 1 + static_cast<std::size_t>(plans++) % (formats.size() - 1);
        expect_round_trip(*plan, formats.front());
        expect_round_trip(*plan, formats[other]);
    }
    EXPECT_EQ(plans, 300);
}

/// Keys that a framework has for every plan, which a job therefore never leaves out.
const std::map<std::string, std::vector<std::string>> kAlwaysSaid{
    {"megatron",
     {"model", "parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "parallel.sequence", "parallel.zero_stage", "parallel.expert", "parallel.stages_per_rank",
      "training.global_batch", "training.micro_batch", "training.seq_length", "training.attention",
      "training.dropout", "framework.overlap_grad_reduce", "framework.overlap_param_gather",
      "framework.cuda_graphs"}},
    {"bridge",
     {"model", "parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "parallel.sequence", "parallel.zero_stage", "parallel.expert", "parallel.stages_per_rank",
      "training.global_batch", "training.micro_batch", "training.seq_length", "training.attention",
      "training.dropout"}},
    {"torchtitan",
     {"parallel.tensor", "parallel.pipeline", "parallel.context", "training.seq_length",
      "training.global_batch", "training.micro_batch"}},
    {"deepspeed",
     {"training.micro_batch", "training.global_batch", "parallel.data",
      "framework.overlap_grad_reduce"}},
    {"colossalai",
     {"parallel.tensor", "parallel.pipeline", "parallel.data", "training.micro_batch",
      "training.attention"}},
    {"automodel",
     {"parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "training.global_batch", "training.micro_batch", "training.seq_length"}},
    {"primus",
     {"model", "parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "parallel.sequence", "parallel.zero_stage", "parallel.expert", "parallel.stages_per_rank",
      "training.global_batch", "training.micro_batch", "training.seq_length", "training.attention",
      "training.dropout", "framework.overlap_grad_reduce", "framework.overlap_param_gather"}},
    {"ms-swift",
     {"parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "parallel.sequence", "parallel.zero_stage", "parallel.expert", "training.global_batch",
      "training.micro_batch", "training.seq_length", "training.attention"}},
    {"nanotron",
     {"parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "parallel.sequence", "training.global_batch", "training.micro_batch", "training.seq_length"}},
    {"gpt-neox",
     {"parallel.tensor", "parallel.pipeline", "parallel.data", "parallel.sequence",
      "training.global_batch", "training.micro_batch", "training.seq_length", "training.attention",
      "training.dropout"}}};

TEST(ExportedJob, NeverLeavesOutWhatItsFrameworkHas) {
    std::mt19937 random(2024);
    std::vector<Scenario> plans;
    for (int tries = 0; plans.size() < 300 && tries < 5000; ++tries)
        if (std::optional<Scenario> plan = random_plan(random)) plans.push_back(std::move(*plan));
    for (const Scenario& plan : plans)
        for (const std::string& format : export_formats()) {
            const std::set<std::string> unsaid = keys_of(export_job(plan, format));
            for (const std::string& key : kAlwaysSaid.at(format))
                EXPECT_FALSE(unsaid.contains(key)) << key << " of " << plan.name << ", " << format;
        }
}

}  // namespace
}  // namespace debubble::jobs
