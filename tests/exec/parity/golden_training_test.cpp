#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "exec/comm/transports.h"
#include "exec/core/rank/rank_job.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/io/checkpoint/piece_source.h"
#include "scenarios/read/read_scenario.h"
#include "tests/exec/support/global_tensors.h"
#include "tests/exec/support/golden_networks.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/tensors.h"

/// Ten steps of AdamW on the networks of make_goldens.py, by whole jobs: PyTorch's losses.
namespace debubble::exec {
namespace {

constexpr int kSteps = 10;

struct Case {
    std::string model;
    std::string name = "alone";
    std::string parallel = "{data: 1}";
    std::string schedule = "1f1b";
    std::string kernels = "fixed-order";
    friend void PrintTo(const Case& c, std::ostream* out) { *out << c.model << ' ' << c.name; }
};

struct Outcome {
    std::vector<double> losses = std::vector<double>(kSteps);
    GlobalTensors weights;  ///< after the last step
};

scenarios::Scenario scenario_of(const Case& c, std::int64_t samples) {
    static const std::map<std::string, std::string> models{
        {"gpt2",
         "{family: gpt2, layers: 2, hidden: 24, heads: 4, ffn: 96, vocab: 61, max_positions: 16, "
         "dropout: 0}"},
        {"llama",
         "{family: llama, layers: 2, hidden: 24, heads: 4, kv_heads: 2, ffn: 48, vocab: 61, "
         "max_positions: 16, norm_eps: 1e-6}"},
        {"mixtral",
         "{family: llama, layers: 2, hidden: 24, heads: 4, kv_heads: 2, ffn: 32, vocab: 61, "
         "max_positions: 16, norm_eps: 1e-6, experts: 4, experts_per_token: 2}"},
        {"vit",
         "{family: vit, layers: 2, hidden: 24, heads: 4, ffn: 48, vocab: 5, image_size: 16, "
         "patch_size: 4, norm_eps: 1e-12, dropout: 0}"}};
    return scenarios::parse_scenario(fmt::format(R"(
model: {}
cluster: dgx-a100-40gb
parallel: {}
schedule: {}
framework: debubble
training:
  global_batch: {}
  micro_batch: 1
  seq_length: {}
  precision: fp32
  optimizer: {{name: adamw, lr: 3e-3, weight_decay: 0.01}}
)",
                                                 models.at(c.model), c.parallel, c.schedule,
                                                 samples, c.model == "vit" ? 17 : 12),
                                     "golden.yaml");
}

/// The first weights; the goldens must outlive it.
PieceSource weights_of(const Goldens& golden) {
    PieceSource source;
    source.name = "the goldens";
    for (const auto& [name, tensor] : golden.all()) {
        if (!golden.has("d_" + name)) continue;
        Dimensions shape;
        for (int d = 0; d < tensor.shape().rank(); ++d) shape.push_back(tensor.shape()[d]);
        const std::string_view data(reinterpret_cast<const char*>(tensor.view().data),
                                    static_cast<std::size_t>(tensor.bytes()));
        source.tensors[{kinds::kParameter, name}] = {
            shape, {{whole(shape), StoredType::F32, data, {}, name, source.name}}};
    }
    return source;
}

/// Sample `index` of a tensor that has one per row.
ConstTensorView sample_of(const Tensor& all, std::int64_t index) {
    const Shape& shape = all.shape();
    const Shape one = shape.rank() == 1   ? Shape{1}
                      : shape.rank() == 2 ? Shape{1, shape[1]}
                                          : Shape{1, shape[1], shape[2], shape[3]};
    return {all.view().data + index * (all.bytes() / shape[0]), one, all.type()};
}

double targets_that_count(const Tensor& targets) {
    return static_cast<double>(
        std::ranges::count_if(targets.as<std::int32_t>(), [](std::int32_t t) { return t >= 0; }));
}

/// One rank of the job: every step sees the same samples.
Outcome train_on(Communicator& world, const Case& c, const Goldens& golden) {
    const scenarios::Scenario scenario = scenario_of(c, golden["inputs"].shape()[0]);
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const TrainingOptions options = training_options(scenario);
    RankJob rank(scenario, plan, options, world,
                 {cpu_kernels_maker(c.kernels, 1), Bytes{1 << 26}, std::chrono::seconds(60)});
    load(weights_of(golden), rank.state().pieces_to_load(Wanted::Weights));

    const GridPlace place = rank.groups().place;
    const double counted = targets_that_count(golden["targets"]);
    StepInputs inputs;
    inputs.ignore_index = -100;
    inputs.gradient_scale = 1 / counted;
    for (int mb = 0; mb < scenario.training.micro_batches; ++mb) {
        const std::int64_t sample = place.data * scenario.training.micro_batches + mb;
        inputs.micro_batches.push_back(
            {sample_of(golden["inputs"], sample), sample_of(golden["targets"], sample), sample});
    }
    Outcome outcome;
    for (inputs.step = 0; inputs.step < kSteps; ++inputs.step) {
        rank.step(inputs);
        if (place.tensor == 0)  // a tensor group has the same
            outcome.losses[static_cast<std::size_t>(inputs.step)] = rank.loss_total() / counted;
    }
    put_weights(rank.state().pieces_to_save(), outcome.weights);
    return outcome;
}

Outcome train(const Case& c) {
    const Goldens golden(c.model);
    Outcome job;
    std::mutex mutex;  // guards job
    const int ranks = scenario_of(c, golden["inputs"].shape()[0]).parallel.gpus();
    run_local(ranks, Transport::Buffered, [&](Communicator& world) {
        const Outcome mine = train_on(world, c, golden);
        const std::lock_guard lock(mutex);
        for (int step = 0; step < kSteps; ++step) job.losses[step] += mine.losses[step];
        join(mine.weights, job.weights);
    });
    return job;
}

class GoldenTraining : public testing::TestWithParam<Case> {};

TEST_P(GoldenTraining, FollowsPyTorchThroughTenStepsOfAdamW) {
    const Goldens golden(GetParam().model);
    const Outcome outcome = train(GetParam());
    double worst = 0;
    for (int step = 0; step < kSteps; ++step) {
        const double expected = golden["losses"].as<float>()[step];
        EXPECT_NEAR(outcome.losses[step], expected, 5e-6 * expected) << "step " << step + 1;
        worst = std::max(worst, std::abs(outcome.losses[step] / expected - 1));
    }
    record_error("worst_loss", worst);
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const std::string model : {"gpt2", "llama", "mixtral", "vit"}) {
        const bool whole = model == "mixtral";  // no rank has a part of an expert
        all.push_back({model});
        all.push_back({model, "onednn", "{data: 1}", "1f1b", "onednn"});
        all.push_back({model, "pp2_zb_h1", "{pipeline: 2, data: 1}", "zb-h1"});
        if (!whole) all.push_back({model, "tp2", "{tensor: 2, data: 1}"});
        if (model != "vit") all.push_back({model, "cp2", "{context: 2, data: 1}"});
        all.push_back({model, "dp2_zero2", "{data: 2, zero_stage: 2}"});
        all.push_back({model, "dp2_zero3", "{data: 2, zero_stage: 3}"});
        all.push_back({model, whole ? "pp2_dp2_zero2" : "pp2_tp2_dp2_zero2",
                       fmt::format("{{pipeline: 2, tensor: {}, data: 2, zero_stage: 2, wrap: "
                                   "stage}}",
                                   whole ? 1 : 2)});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTraining, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.model + "_" + test.param.name; });

class GoldenBits : public testing::TestWithParam<std::string> {
protected:
    static void expect_same_bits(const Outcome& mine, const Outcome& other) {
        EXPECT_EQ(mine.losses, other.losses);
        ASSERT_EQ(mine.weights.size(), other.weights.size());
        for (const auto& [name, weight] : mine.weights)
            EXPECT_EQ(weight, other.weights.at(name)) << "bits of " << name;
    }
};

/// From ZeRO-2 on, ranks are summed before microbatches, of which ViT's ranks have two; ZeRO-3
/// sums the two parts of GPT-2's tied gradient apart.
TEST_P(GoldenBits, OfTenStepsAreTheSameWhetherOptimizerStateIsSharedOrNot) {
    const Outcome held = train({GetParam(), "dp2", "{data: 2}"});
    const int last = GetParam() == "vit" ? 1 : GetParam() == "gpt2" ? 2 : 3;
    for (int stage = 1; stage <= last; ++stage) {
        SCOPED_TRACE(stage);
        expect_same_bits(train({GetParam(), "", fmt::format("{{data: 2, zero_stage: {}}}", stage)}),
                         held);
    }
}

/// The tied embedding's gradient is summed in another order over two stages.
TEST_P(GoldenBits, OfTenStepsAreTheSameInAPipelineWhereNothingIsTied) {
    const Outcome piped = train({GetParam(), "", "{pipeline: 2, data: 1}", "zb-h1"});
    const Outcome alone = train({GetParam()});
    if (GetParam() != "gpt2") return expect_same_bits(piped, alone);
    EXPECT_EQ(piped.losses[0], alone.losses[0]);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenBits, testing::Values("gpt2", "llama", "mixtral", "vit"),
                         [](const auto& test) { return test.param; });

TEST(GoldenNetwork, IsWhatTheScenariosDescribe) {
    for (const std::string name : {"gpt2", "llama", "mixtral", "vit"}) {
        models::Architecture described = scenario_of({name}, 2).model;
        described.name = {};
        EXPECT_EQ(described, golden_network(name)) << name;
    }
}

}  // namespace
}  // namespace debubble::exec
