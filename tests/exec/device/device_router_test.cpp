#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/comm/transports.h"
#include "exec/core/rank/rank_job.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/io/checkpoint/piece_source.h"
#include "models/counts/counts.h"
#include "scenarios/read/read_scenario.h"
#include "tests/exec/support/global_tensors.h"
#include "tests/exec/support/tested_device.h"

/// Routers whose logits are in fp32 in a training in bf16, on the processor and on the device.
namespace debubble::exec {
namespace {

constexpr int kSamples = 4, kTokens = 16, kHidden = 8;
constexpr double kRate = 0.5;
const std::string kGate = "model.layers.0.mlp.gate.weight";

struct Router {
    std::string dtype = "fp32";
    std::string precision = "bf16";
    int experts = 2;
    int per_token = 1;
};

/// What computes: kernels of the processor, or the device.
struct Where {
    std::string kernels;
    bool device = false;
    friend void PrintTo(const Where& where, std::ostream* out) { *out << where.kernels; }
};

scenarios::Scenario scenario_of(const Router& router) {
    return scenarios::parse_scenario(
        fmt::format(R"(
model: {{name: tiny, family: deepseek, layers: 1, hidden: {}, heads: 1, ffn: 8, vocab: 64,
         max_positions: {}, experts: {}, experts_per_token: {}, router: sigmoid,
         router_renormalises: false, router_dtype: {}}}
cluster: dgx-a100-40gb
parallel: {{data: 1}}
framework: debubble
training:
  global_batch: {}
  micro_batch: 1
  seq_length: {}
  precision: {}
  optimizer: {{name: sgd, lr: {}}}
)",
                    kHidden, kTokens, router.experts, router.per_token, router.dtype, kSamples,
                    kTokens, router.precision, kRate),
        "router.yaml");
}

/// Loads whole tensors; they must outlive the call.
void load_weights(const GlobalTensors& weights, RankTraining& state,
                  const models::Architecture& model) {
    PieceSource source;
    source.name = "the test";
    for (const models::Parameter& parameter : models::whole_parameters(model)) {
        const std::vector<float>& values = weights.at(parameter.name);
        const std::string_view data(reinterpret_cast<const char*>(values.data()),
                                    4 * values.size());
        source.tensors[{kinds::kParameter, parameter.name}] = {
            parameter.shape,
            {{whole(parameter.shape), StoredType::F32, data, {}, parameter.name, source.name}}};
    }
    load(source, state.pieces_to_load(Wanted::Weights));
    state.loaded();
}

struct Result {
    GlobalTensors before, after;            ///< weights
    std::vector<std::int64_t> chosen = {};  ///< tokens of each expert
};

/// Token t of the step: any order of some of them.
std::int32_t token(int t) {
    return (t * 37 + t / 5) % 64;
}

/// One step; `change` may change the weights before it.
Result step(const Router& router, const Where& where,
            const std::function<void(GlobalTensors&)>& change) {
    const scenarios::Scenario scenario = scenario_of(router);
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    Tensor tokens({kSamples, kTokens}, DataType::Int32),
        targets({kSamples, kTokens}, DataType::Int32);
    for (int t = 0; t < kSamples * kTokens; ++t) {
        tokens.as<std::int32_t>()[t] = token(t);
        targets.as<std::int32_t>()[t] = token(t + 1);
    }
    Result result;
    run_local(1, Transport::Buffered, [&](Communicator& world) {
        JobOptions how{cpu_kernels_maker(where.device ? "fixed-order" : where.kernels, 1),
                       Bytes{1 << 26}, std::chrono::seconds(60)};
        if (where.device) how.device = tested_device(0, 1);
        RankJob rank(scenario, plan, training_options(scenario), world, how);
        put_weights(rank.state().pieces_to_save(), result.before);
        change(result.before);
        load_weights(result.before, rank.state(), scenario.model);
        StepInputs inputs;
        inputs.gradient_scale = 1.0 / (kSamples * kTokens);
        for (int mb = 0; mb < kSamples; ++mb) {
            const auto sample = [&](const Tensor& all) {
                return ConstTensorView{
                    all.view().data + mb * kTokens * 4, {1, kTokens}, all.type()};
            };
            inputs.micro_batches.push_back({sample(tokens), sample(targets), mb});
        }
        rank.step(inputs);
        for (const double tokens_of : rank.state().state_of(Stage{0}).routers().counted())
            result.chosen.push_back(std::llround(tokens_of));
        put_weights(rank.state().pieces_to_save(), result.after);
    });
    return result;
}

class RouterDtype : public testing::TestWithParam<Where> {
protected:
    void SetUp() override {
        if (!GetParam().device) return;
        if (const std::string reason = why_no_device(); !reason.empty()) GTEST_SKIP() << reason;
    }
};

/// Two experts whose logits differ by 1/128 of a normed column, while bf16 has steps of 1/64 from 2
/// on. Nothing comes from attention, so that the column has the sign of the embedding's.
TEST_P(RouterDtype, OfFp32TellsLogitsApartThatAreOneInBf16) {
    const auto nearly_equal = [](GlobalTensors& weights) {
        for (float& weight : weights.at("model.layers.0.self_attn.o_proj.weight")) weight = 0;
        for (float& weight : weights.at(kGate)) weight = 1;
        weights.at(kGate)[kHidden + 3] = 1 + 1.F / 128;
    };
    const Result wide = step({"fp32"}, GetParam(), nearly_equal);
    std::int64_t above = 0;
    for (int t = 0; t < kSamples * kTokens; ++t)
        above += wide.before.at("model.embed_tokens.weight")[token(t) * kHidden + 3] > 0 ? 1 : 0;
    ASSERT_GT(above, 10);
    EXPECT_EQ(wide.chosen, (std::vector<std::int64_t>{kSamples * kTokens - above, above}));
    const Result narrow = step({"compute"}, GetParam(), nearly_equal);
    EXPECT_NE(narrow.chosen, wide.chosen) << "the logits of bf16 tell them apart, too";
}

/// Each logit's gradient reaches the gate and the tokens as it does in a training in fp32.
TEST_P(RouterDtype, OfFp32HasTheGradientsOfATrainingInFp32) {
    const auto apart = [](GlobalTensors& weights) {
        std::vector<float>& gate = weights.at(kGate);
        for (std::size_t i = 0; i < gate.size(); ++i)
            gate[i] = static_cast<float>((i * 29) % 17) / 8 - 1;
        for (float& weight : weights.at("model.embed_tokens.weight")) weight *= 50;
    };
    const Result narrow = step({"fp32", "bf16", 4, 2}, GetParam(), apart);
    const Result whole = step({"fp32", "fp32", 4, 2}, {"fixed-order"}, apart);
    EXPECT_EQ(narrow.chosen, whole.chosen);
    for (const std::string& name : {kGate, std::string("model.embed_tokens.weight")}) {
        double apart_by = 0, moved = 0;
        for (std::size_t i = 0; i < whole.after.at(name).size(); ++i) {
            const double mine = narrow.after.at(name)[i] - narrow.before.at(name)[i];
            const double expected = whole.after.at(name)[i] - whole.before.at(name)[i];
            apart_by += (mine - expected) * (mine - expected);
            moved += expected * expected;
        }
        EXPECT_GT(moved, 0) << name;
        EXPECT_LT(std::sqrt(apart_by / moved), 0.03) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, RouterDtype,
                         testing::Values(Where{"fixed-order"}, Where{"auto"},
                                         Where{"device", true}),
                         [](const auto& test) {
                             std::string name = test.param.kernels;
                             std::erase(name, '-');
                             return name;
                         });

}  // namespace
}  // namespace debubble::exec
