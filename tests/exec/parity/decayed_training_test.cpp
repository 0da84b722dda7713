#include <cmath>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/comm/transports.h"
#include "exec/core/rank/rank_job.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/io/checkpoint/hf/hugging_face.h"
#include "exec/io/checkpoint/piece_source.h"
#include "scenarios/read/read_scenario.h"
#include "tests/exec/support/families.h"
#include "tests/exec/support/global_tensors.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/exec/support/whole_network.h"

/// Six steps with weight decay on networks of transformers, by whole jobs: PyTorch's losses and
/// last weights (goldens/hugging_face/make_decayed.py).
namespace debubble::exec {
namespace {

namespace fs = std::filesystem;

constexpr int kDecayedSteps = 6;
constexpr int kSamples = 2, kTokens = 12;

/// The optimizers of make_decayed.py.
const std::map<std::string, std::string> kOptimizers{
    {"adamw", "{name: adamw, lr: 0.01, betas: [0.9, 0.95], eps: 1e-3, weight_decay: 0.5}"},
    {"adam", "{name: adam, lr: 0.01, betas: [0.9, 0.95], eps: 1e-3, weight_decay: 0.02}"},
    {"sgd", "{name: sgd, lr: 0.05, momentum: 0.9, weight_decay: 0.1}"},
    {"matrices",
     "{name: adamw, lr: 0.01, betas: [0.9, 0.95], eps: 1e-3, weight_decay: 0.5, "
     "weight_decay_of: matrices}"}};

struct DecayedCase {
    std::string network;
    std::string optimizer;
    std::string name = "alone";
    std::string parallel = "{data: 1}";
    std::string schedule = "1f1b";
    std::string kernels = "fixed-order";
    friend void PrintTo(const DecayedCase& c, std::ostream* out) {
        *out << c.network << ' ' << c.optimizer << ' ' << c.name;
    }
};

struct DecayedOutcome {
    std::vector<double> losses = std::vector<double>(kDecayedSteps);
    GlobalTensors weights;  ///< after the last step
};

fs::path decayed_file(const DecayedCase& c, const std::string& name) {
    return golden_network_folder(c.network) / "decayed" / (name + ".safetensors");
}

/// The weights after the last step lie in a file of the model's own layout.
std::map<std::string, Tensor> decayed_weights(const DecayedCase& c) {
    const ScratchFolder folder;
    fs::copy_file(golden_network_folder(c.network) / "config.json", folder.path() / "config.json");
    fs::copy_file(decayed_file(c, c.optimizer), folder.path() / "model.safetensors");
    const HuggingFaceModel model = open_hugging_face(folder.path());
    return named_weights(model.architecture, model.weights);
}

scenarios::Scenario decayed_scenario(const DecayedCase& c) {
    return scenarios::parse_scenario(
        fmt::format(R"(
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
  dropout: 0
  optimizer: {}
)",
                    (golden_network_folder(c.network) / "config.json").string(), c.parallel,
                    c.schedule, kSamples, kTokens, kOptimizers.at(c.optimizer)),
        "decayed.yaml");
}

/// Sample `index` of the tokens.
ConstTensorView row_of(const Tensor& all, std::int64_t index) {
    return {all.view().data + index * (all.bytes() / kSamples), {1, kTokens}, all.type()};
}

DecayedOutcome train_decayed_on(Communicator& world, const DecayedCase& c) {
    const scenarios::Scenario scenario = decayed_scenario(c);
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    RankJob rank(scenario, plan, training_options(scenario), world,
                 {cpu_kernels_maker(c.kernels, 1), Bytes{1 << 26}, std::chrono::seconds(60)});
    const HuggingFaceModel model = open_hugging_face(golden_network_folder(c.network));
    load(model.weights, rank.state().pieces_to_load(Wanted::Weights));
    rank.state().loaded();
    const Goldens golden("hugging_face/" + c.network + "/expected");
    const GridPlace place = rank.groups().place;
    StepInputs inputs;
    inputs.gradient_scale = 1.0 / (kSamples * kTokens);
    for (int mb = 0; mb < scenario.training.micro_batches; ++mb) {
        const std::int64_t sample = place.data * scenario.training.micro_batches + mb;
        inputs.micro_batches.push_back(
            {row_of(golden["inputs"], sample), row_of(golden["targets"], sample), sample});
    }
    DecayedOutcome outcome;
    for (inputs.step = 0; inputs.step < kDecayedSteps; ++inputs.step) {
        rank.step(inputs);
        if (place.tensor == 0)  // a tensor group has the same
            outcome.losses[static_cast<std::size_t>(inputs.step)] =
                rank.loss_total() * inputs.gradient_scale;
    }
    put_weights(rank.state().pieces_to_save(), outcome.weights);
    return outcome;
}

DecayedOutcome train_decayed(const DecayedCase& c) {
    DecayedOutcome job;
    std::mutex mutex;  // guards job
    run_local(decayed_scenario(c).parallel.gpus(), Transport::Buffered, [&](Communicator& world) {
        const DecayedOutcome mine = train_decayed_on(world, c);
        const std::lock_guard lock(mutex);
        for (int step = 0; step < kDecayedSteps; ++step) job.losses[step] += mine.losses[step];
        join(mine.weights, job.weights);
    });
    return job;
}

class DecayedTraining : public testing::TestWithParam<DecayedCase> {};

TEST_P(DecayedTraining, EndsWithPyTorchsWeights) {
    const DecayedCase& c = GetParam();
    const Goldens losses("hugging_face/" + c.network + "/decayed/losses");
    const std::map<std::string, Tensor> weights = decayed_weights(c);
    const DecayedOutcome outcome = train_decayed(c);
    for (int step = 0; step < kDecayedSteps; ++step)
        EXPECT_NEAR(outcome.losses[step], losses[c.optimizer].as<float>()[step], 2e-5)
            << "step " << step + 1;
    for (const auto& [name, tensor] : weights) {
        const View<float> expected = tensor.as<float>();
        const std::vector<float>& mine = outcome.weights.at(name);
        ASSERT_EQ(static_cast<std::int64_t>(mine.size()), expected.size()) << name;
        for (std::size_t i = 0; i < mine.size(); ++i)
            ASSERT_NEAR(mine[i], expected[static_cast<std::int64_t>(i)], 5e-5) << name << ' ' << i;
    }
}

std::vector<DecayedCase> decayed_cases() {
    std::vector<DecayedCase> all;
    for (const char* network : {"gemma2", "gemma3", "nemotron", "gpt_neox"}) {
        for (const auto& [optimizer, text] : kOptimizers) all.push_back({network, optimizer});
        all.push_back({network, "adamw", "onednn", "{data: 1}", "1f1b", "onednn"});
        all.push_back({network, "matrices", "pp2_zb_h1", "{pipeline: 2, data: 1}", "zb-h1"});
        all.push_back({network, "adamw", "dp2_zero2", "{data: 2, zero_stage: 2}"});
        all.push_back({network, "matrices", "dp2_zero3", "{data: 2, zero_stage: 3}"});
        all.push_back({network, "sgd", "tp2_dp2_zero1", "{tensor: 2, data: 2, zero_stage: 1}"});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, DecayedTraining, testing::ValuesIn(decayed_cases()),
                         [](const auto& test) {
                             return test.param.network + "_" + test.param.optimizer + "_" +
                                    test.param.name;
                         });

}  // namespace
}  // namespace debubble::exec
