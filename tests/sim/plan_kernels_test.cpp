#include "sim/plan/plan_kernels.h"

#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::sim {
namespace {

constexpr const char* kDenseJob = R"(
model: {name: small, family: llama, layers: 4, hidden: 256, heads: 8, kv_heads: 2, ffn: 512, vocab: 2048, max_positions: 512}
cluster: hgx-h100
gpus: 4
parallel: {pipeline: 2, tensor: 2}
schedule: 1f1b
framework: megatron-2026
training: {global_batch: 4, micro_batch: 2, seq_length: 512}
)";

struct ListedKernels {
    scenarios::Scenario scenario;
    scenarios::Plan plan;
    std::vector<nlohmann::json> lines;

    const nlohmann::json& named(const std::string& name) const {
        for (const nlohmann::json& line : lines)
            if (line["name"] == name) return line;
        throw std::logic_error("no kernel is called " + name);
    }
};

ListedKernels listed_kernels(const std::string& text) {
    ListedKernels all;
    all.scenario = scenarios::parse_scenario(text, "test");
    all.plan = scenarios::make_plan(all.scenario);
    std::istringstream lines(plan_kernels(all.scenario, all.plan));
    for (std::string line; std::getline(lines, line);)
        all.lines.push_back(nlohmann::json::parse(line));
    return all;
}

TEST(PlanKernels, HaveTheFlopsOfThePlan) {
    const ListedKernels all = listed_kernels(kDenseJob);
    double expected = 0, found = 0;
    Bytes moved, bytes;
    for (const models::StageContent& content : all.plan.stages) {
        const models::StageGraph graph =
            models::build_stage(all.scenario.model, scenarios::execution_of(all.scenario), content);
        for (const models::Operator& op : graph.operators)
            for (const auto* pass : {&op.forward, &op.backward_input, &op.backward_weight})
                for (const models::Kernel& kernel : *pass) {
                    expected += models::flops(kernel);
                    if (std::holds_alternative<models::Traffic>(kernel.work))
                        moved += models::traffic(kernel);
                }
    }
    double before = std::numeric_limits<double>::infinity();
    for (const nlohmann::json& line : all.lines) {
        const double of_all = line["flops"].get<double>() * line["count"].get<double>();
        EXPECT_LE(of_all, before) << "those of the most FLOPs come first";
        EXPECT_GT(line["predicted_s"].get<double>(), 0) << line;
        before = of_all;
        found += of_all;
        if (line["kernel"] == "memory")
            bytes += Bytes{line["count"].get<std::int64_t>() *
                           (line["shape"]["read"].get<std::int64_t>() +
                            line["shape"]["written"].get<std::int64_t>())};
    }
    EXPECT_GT(moved, Bytes{});
    EXPECT_EQ(bytes, moved);
    EXPECT_GT(expected, 0);
    EXPECT_DOUBLE_EQ(found, expected);
}

TEST(PlanKernels, ProductsHaveTheLayoutOfTheirPass) {
    const ListedKernels all = listed_kernels(kDenseJob);
    // Two samples of 512 tokens; gate and up, 2 x 512 columns, cut in two.
    EXPECT_EQ(all.named("mlp.fc1")["shape"], (nlohmann::json{{"b", 1},
                                                             {"m", 1024},
                                                             {"k", 256},
                                                             {"n", 512},
                                                             {"layout", "TN"},
                                                             {"accumulate", false},
                                                             {"out_dtype", "bf16"}}));
    EXPECT_EQ(all.named("mlp.fc1.dx")["shape"], (nlohmann::json{{"b", 1},
                                                                {"m", 1024},
                                                                {"k", 512},
                                                                {"n", 256},
                                                                {"layout", "NN"},
                                                                {"accumulate", false},
                                                                {"out_dtype", "bf16"}}));
    EXPECT_EQ(all.named("mlp.fc1.dw")["shape"], (nlohmann::json{{"b", 1},
                                                                {"m", 256},
                                                                {"k", 1024},
                                                                {"n", 512},
                                                                {"layout", "NT"},
                                                                {"accumulate", true},
                                                                {"out_dtype", "fp32"}}));
    EXPECT_EQ(all.named("mlp.fc1")["count"], 4);
    EXPECT_EQ(all.named("attn.core")["shape"], (nlohmann::json{{"batch", 2},
                                                               {"seq_len", 512},
                                                               {"keys", 512},
                                                               {"head_num", 4},
                                                               {"kv_head_num", 1},
                                                               {"qk_head_dim", 32},
                                                               {"v_head_dim", 32},
                                                               {"causal", true},
                                                               {"window", 0}}));
    EXPECT_EQ(all.named("attn.core.dx")["kernel"], "attention_backward");
}

TEST(PlanKernels, GroupedProductsHaveTheRowsOfAnExpert) {
    const ListedKernels all = listed_kernels(R"(
model: {base: mixtral-8x7b, layers: 2}
cluster: hgx-h100
gpus: 2
parallel: {data: 2, expert: 2}
schedule: 1f1b
framework: megatron-2026
training: {global_batch: 2, micro_batch: 1, seq_length: 1024}
)");
    // Two of eight experts for each token, of 2 x 1024 tokens on both ranks, four experts here.
    for (const char* name : {"experts.fc1", "experts.fc1.dx", "experts.fc1.dw"}) {
        const nlohmann::json& line = all.named(name);
        EXPECT_EQ(line["kernel"], "grouped_gemm");
        EXPECT_EQ(line["shape"]["ng"], 4);
        EXPECT_EQ(line["shape"]["M"], 2 * 2 * 1024 / 8);
        const double ng = 4, rows = 512;
        EXPECT_DOUBLE_EQ(
            line["flops"].get<double>(),
            2 * ng * rows * line["shape"]["N"].get<double>() * line["shape"]["K"].get<double>())
            << name;
    }
    EXPECT_EQ(all.named("experts.fc1")["shape"]["stage"], "fwd");
    EXPECT_EQ(all.named("experts.fc1.dx")["shape"]["stage"], "bwd_grad_act");
    EXPECT_EQ(all.named("experts.fc1.dw")["shape"]["stage"], "bwd_grad_w");
}

}  // namespace
}  // namespace debubble::sim
