#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "tests/exec/support/training_job.h"

/// Weight decay against plain loops in double: what decays, and to which value.
namespace debubble::exec {
namespace {

constexpr int kDecaySteps = 4;
constexpr double kRate = 0.01, kDecay = 0.5;

struct Recipe {
    const char* name;
    bool matrices;  ///< they alone decay
};

std::string text_of(const Recipe& recipe) {
    return fmt::format("optimizer: {{name: {}, lr: {}, weight_decay: {}{}{}}}", recipe.name, kRate,
                       kDecay, std::string_view(recipe.name) == "sgd" ? ", momentum: 0.9" : "",
                       recipe.matrices ? ", weight_decay_of: matrices" : "");
}

struct DecayCase {
    Layout layout;
    Recipe recipe;
    friend void PrintTo(const DecayCase& c, std::ostream* out) {
        PrintTo(c.layout, out);
        *out << ' ' << c.recipe.name << (c.recipe.matrices ? " of matrices" : "");
    }
};

/// The steps of torch.optim with one element w, as the checkpoint of transformers holds it.
class Element {
public:
    Element(std::string_view optimizer, double weight, double decay)
        : optimizer_(optimizer), w_(weight), decay_(decay) {}

    void step(double gradient) {
        ++steps_;
        if (optimizer_ == "sgd") {
            gradient += decay_ * w_;
            first_ = steps_ == 1 ? gradient : 0.9 * first_ + gradient;
            w_ -= kRate * first_;
            return;
        }
        if (optimizer_ == "adamw")
            w_ -= kRate * decay_ * w_;
        else
            gradient += decay_ * w_;
        first_ = 0.9 * first_ + 0.1 * gradient;
        second_ = 0.999 * second_ + 0.001 * gradient * gradient;
        const double first = first_ / (1 - std::pow(0.9, steps_));
        const double second = second_ / (1 - std::pow(0.999, steps_));
        w_ -= kRate * first / (std::sqrt(second) + 1e-8);
    }
    double weight() const { return w_; }

private:
    std::string_view optimizer_;
    double w_, decay_, first_ = 0, second_ = 0;
    int steps_ = 0;
};

bool is_norms_weight(const std::string& name) {
    return name.find("norm") != std::string::npos && name.ends_with(".weight");
}

bool is_norm_of_heads(const std::string& name) {
    return name.find(".q_norm.") != std::string::npos || name.find(".k_norm.") != std::string::npos;
}

class Decay : public testing::TestWithParam<DecayCase> {};

TEST_P(Decay, IsTorchsOnWhatCheckpointsHold) {
    const Recipe& recipe = GetParam().recipe;
    Layout layout = GetParam().layout;
    layout.training = text_of(recipe) + "\n  clip_norm: 2";
    const JobResult before = run_job(layout, 0), after = run_job(layout, kDecaySteps);
    EXPECT_TRUE(after.copies_agree);
    std::vector<std::map<std::string, std::vector<double>>> gradients;
    for (int step = 0; step < kDecaySteps; ++step)
        gradients.push_back(global_gradient(layout, step));
    const scenarios::Scenario scenario = scenario_of(layout);
    const models::Architecture& network = scenario.model;
    int norms = 0;
    for (const models::Parameter& parameter : models::whole_parameters(network)) {
        const std::vector<float>& first = before.weights.at(parameter.name);
        const std::vector<float>& last = after.weights.at(parameter.name);
        const bool norm = is_norms_weight(parameter.name);
        const double minus = norm && network.zero_centred_norms ? 1 : 0;
        norms += norm ? 1 : 0;
        const bool decays = !recipe.matrices || parameter.shape.size() > 1;
        // Every tensor-parallel rank makes up the whole gradient as its heads' part.
        const int parts = is_norm_of_heads(parameter.name) ? scenario.parallel.tensor : 1;
        for (std::size_t i = 0; i < first.size(); ++i) {
            Element one(recipe.name, first[i] - minus, decays ? kDecay : 0);
            for (int step = 0; step < kDecaySteps; ++step)
                one.step(parts * gradients[step].at(parameter.name)[i] *
                         after.outcomes[step].clip_factor);
            ASSERT_NEAR(last[i], one.weight() + minus, 2e-6) << parameter.name << ' ' << i;
        }
    }
    EXPECT_GE(norms, 2 * network.layers.count());
}

std::vector<DecayCase> decay_cases() {
    std::vector<DecayCase> all;
    for (const char* name : {"adamw", "adam", "sgd"})
        for (const bool matrices : {false, true}) {
            all.push_back({{"{data: 1}", "centred"}, {name, matrices}});
            all.push_back({{"{tensor: 2, pipeline: 2, data: 2, zero_stage: 1}", "centred", "zb-h1"},
                           {name, matrices}});
        }
    for (const char* zero : {"0", "1", "2", "3"})
        for (const char* precision : {"fp32", "bf16"}) {
            Layout layout{fmt::format("{{pipeline: 2, data: 2, zero_stage: {}}}", zero), "centred",
                          "zb-h1", precision};
            layout.post_validation = true;  // and undone, since the norm is clipped
            all.push_back({layout, {"adamw", false}});
            all.push_back({layout, {"adamw", true}});
        }
    all.push_back({{"{data: 2, cpu_offload: true, zero_stage: 1}", "centred", "1f1b", "bf16"},
                   {"adamw", false}});
    all.push_back({{"{data: 2}", "llama"}, {"adamw", true}});
    all.push_back({{"{data: 2, expert: 2}", "experts"}, {"adamw", true}});
    return all;
}
INSTANTIATE_TEST_SUITE_P(All, Decay, testing::ValuesIn(decay_cases()));

/// What Muon leaves to AdamW decays by the same rule.
TEST(MuonsDecay, OfMatricesLeavesNormsAndBiasesAlone) {
    const auto run = [](const std::string& more, int steps) {
        Layout layout{"{data: 2, zero_stage: 1}", "centred"};
        layout.training = fmt::format("optimizer: {{name: muon, lr: {}{}}}", kRate, more);
        return run_job(layout, steps).weights;
    };
    const GlobalTensors none = run(", weight_decay: 0", kDecaySteps);
    const GlobalTensors all = run(fmt::format(", weight_decay: {}", kDecay), kDecaySteps);
    const GlobalTensors matrices =
        run(fmt::format(", weight_decay: {}, weight_decay_of: matrices", kDecay), kDecaySteps);
    for (const models::Parameter& parameter :
         models::whole_parameters(scenario_of({"{data: 1}", "centred"}).model)) {
        const bool matrix = parameter.shape.size() > 1;
        EXPECT_EQ(matrices.at(parameter.name), (matrix ? all : none).at(parameter.name))
            << parameter.name;
        EXPECT_NE(all.at(parameter.name), none.at(parameter.name)) << parameter.name;
    }
}

}  // namespace
}  // namespace debubble::exec
