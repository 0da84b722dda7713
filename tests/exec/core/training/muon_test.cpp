#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "exec/core/training/optimizer_pass.h"
#include "exec/cpu/cpu_kernels.h"
#include "scenarios/plan/derived.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/exec/support/training_job.h"

/// Muon: matrices of layers step along their orthogonal momentum, all else by AdamW, alike in every
/// layout.
namespace debubble::exec::muon {
namespace {

constexpr int kSteps = 3;
constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
const char* const kOptimizer = "optimizer: {name: muon, lr: 0.01, momentum: 0.9, weight_decay: 0.1";

/// A matrix in double, [rows][columns].
struct Plain {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<double> values = std::vector<double>(static_cast<std::size_t>(rows * columns));

    double& at(std::int64_t r, std::int64_t c) {
        return values[static_cast<std::size_t>(r * columns + c)];
    }
    double at(std::int64_t r, std::int64_t c) const {
        return values[static_cast<std::size_t>(r * columns + c)];
    }
};

Plain product(const Plain& a, const Plain& b) {
    Plain c{a.rows, b.columns};
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < b.columns; ++j)
            for (std::int64_t k = 0; k < a.columns; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
    return c;
}

Plain transposed(const Plain& a) {
    Plain b{a.columns, a.rows};
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < a.columns; ++j) b.at(j, i) = a.at(i, j);
    return b;
}

/// zeropower_via_newtonschulz5 of Jordan's Muon, in double.
Plain newton_schulz(Plain x, int steps) {
    double squares = 0;
    for (const double value : x.values) squares += value * value;
    for (double& value : x.values) value /= std::sqrt(squares) + 1e-7;
    for (int step = 0; step < steps; ++step) {
        const Plain a = product(x, transposed(x));
        Plain polynomial = product(a, a);
        for (std::size_t i = 0; i < a.values.size(); ++i)
            polynomial.values[i] = kB * a.values[i] + kC * polynomial.values[i];
        const Plain more = product(polynomial, x);
        for (std::size_t i = 0; i < x.values.size(); ++i)
            x.values[i] = kA * x.values[i] + more.values[i];
    }
    return x;
}

Plain computed(const Plain& x, int steps) {
    Arena arena(Bytes{1 << 20});
    const auto kernels = make_fixed_order_kernels();
    const Tensor tensor({x.rows, x.columns});
    for (std::size_t i = 0; i < x.values.size(); ++i)
        tensor.as<float>()[static_cast<std::int64_t>(i)] = static_cast<float>(x.values[i]);
    make_orthogonal(tensor.view(), steps, *kernels, arena);
    Plain y = x;
    for (std::size_t i = 0; i < y.values.size(); ++i)
        y.values[i] = tensor.as<float>()[static_cast<std::int64_t>(i)];
    return y;
}

TEST(NewtonSchulz, MapsEverySingularValueByItsPolynomial) {
    const double diagonal[] = {3, 1, 0.25};
    for (const auto& [rows, columns] : {std::pair{3, 5}, std::pair{5, 3}, std::pair{3, 3}}) {
        Plain x{rows, columns};
        double squares = 0;
        for (int i = 0; i < 3; ++i) {
            x.at(i, i) = diagonal[i];
            squares += diagonal[i] * diagonal[i];
        }
        const Plain y = computed(x, 5);
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
                double s = r == c ? diagonal[r] / (std::sqrt(squares) + 1e-7) : 0;
                for (int step = 0; step < 5; ++step)
                    s = kA * s + kB * std::pow(s, 3) + kC * std::pow(s, 5);
                EXPECT_NEAR(y.at(r, c), s, 1e-5) << r << " " << c;
                if (r != c) continue;
                EXPECT_NEAR(s, 0.95, 0.3) << "nearly orthogonal";
            }
    }
}

TEST(NewtonSchulz, IsThatOfDoubleForAnyMatrix) {
    for (const auto& [rows, columns] : {std::pair{4, 9}, std::pair{9, 4}, std::pair{6, 6}}) {
        Plain x{rows, columns};
        for (std::size_t i = 0; i < x.values.size(); ++i)
            x.values[i] = std::sin(3.0 * static_cast<double>(i * i) + 1);
        const Plain y = computed(x, 5), expected = newton_schulz(x, 5);
        for (std::size_t i = 0; i < y.values.size(); ++i)
            EXPECT_NEAR(y.values[i], expected.values[i], 2e-4) << i;
    }
}

TEST(NewtonSchulz, LeavesZeroAtZero) {
    for (const double value : computed(Plain{3, 4}, 5).values) EXPECT_EQ(value, 0);
}

TEST(StepScale, FollowsTheShape) {
    using Mode = scenarios::MuonOptions::ScaleMode;
    EXPECT_DOUBLE_EQ(step_scale(Mode::Spectral, {4, 9}), 3);
    EXPECT_DOUBLE_EQ(step_scale(Mode::Spectral, {16, 9}), 4);
    EXPECT_DOUBLE_EQ(step_scale(Mode::ShapeScaling, {36, 4}), 3);
    EXPECT_DOUBLE_EQ(step_scale(Mode::ShapeScaling, {4, 36}), 1);
    EXPECT_DOUBLE_EQ(step_scale(Mode::UnitRmsNorm, {4, 36}), 1.0 / 3);
}

/// The parts of a hidden matrix, each [outputs, inputs]; `turned` if they are stored the other way.
struct Packed {
    models::Parameter parameter;
    Plain part(const std::vector<double>& whole, int p) const {
        const auto [outputs, inputs] = models::part_of(parameter);
        Plain x{outputs, inputs};
        for (std::int64_t o = 0; o < outputs; ++o)
            for (std::int64_t i = 0; i < inputs; ++i) x.at(o, i) = whole[index(p, o, i)];
        return x;
    }
    std::size_t index(int p, std::int64_t o, std::int64_t i) const {
        const auto [outputs, inputs] = models::part_of(parameter);
        std::int64_t row = parameter.transposed ? i : o, column = parameter.transposed ? o : i;
        if (parameter.cut_dimension == 0)
            row += p * (parameter.transposed ? inputs : outputs);
        else
            column += p * (parameter.transposed ? outputs : inputs);
        return static_cast<std::size_t>(row * parameter.shape[1] + column);
    }
};

/// torch.optim.Muon's step in double: lerp of the momentum, Nesterov, decay, scale of the shape.
std::vector<double> reference(const Layout& layout, const models::Parameter& parameter,
                              const std::vector<float>& first, bool nesterov) {
    std::vector<double> weights(first.begin(), first.end());
    std::vector<double> momentum(first.size());
    const Packed packed{parameter};
    const auto [outputs, inputs] = models::part_of(parameter);
    const double scale =
        std::sqrt(std::max(1.0, static_cast<double>(outputs) / static_cast<double>(inputs)));
    for (int step = 0; step < kSteps; ++step) {
        const std::vector<double> gradient = global_gradient(layout, step).at(parameter.name);
        std::vector<double> update(gradient.size());
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            momentum[i] += 0.1 * (gradient[i] - momentum[i]);
            update[i] = nesterov ? gradient[i] + 0.9 * (momentum[i] - gradient[i]) : momentum[i];
        }
        for (int p = 0; p < parameter.parts; ++p) {
            const Plain orthogonal = newton_schulz(packed.part(update, p), 5);
            for (std::int64_t o = 0; o < outputs; ++o)
                for (std::int64_t i = 0; i < inputs; ++i) {
                    double& w = weights[packed.index(p, o, i)];
                    w = (1 - 0.01 * 0.1) * w - 0.01 * scale * orthogonal.at(o, i);
                }
        }
    }
    return weights;
}

class MuonReference : public testing::TestWithParam<const char*> {};

TEST_P(MuonReference, IsTorchsForMatricesAndAdamWForTheRest) {
    for (const bool nesterov : {false, true}) {
        Layout layout{"{data: 1}", GetParam()};
        layout.training = std::string(kOptimizer) + ", scale_mode: shape_scaling, nesterov: " +
                          (nesterov ? "true}" : "false}");
        Layout adamw = layout;
        adamw.training = "optimizer: {name: adamw, lr: 0.01, weight_decay: 0.1}";
        const JobResult before = run_job(layout, 0), after = run_job(layout, kSteps);
        const JobResult by_adamw = run_job(adamw, kSteps);
        const scenarios::Scenario scenario = scenario_of(layout);
        const models::StageGraph graph =
            models::build_stage(scenario.model, scenarios::execution_of(scenario),
                                {0, scenario.model.layers.count(), true, true});
        int matrices = 0;
        for (const models::Parameter& parameter : graph.parameters) {
            if (!parameter.tied_to.empty()) continue;
            const std::vector<float>& mine = after.weights.at(parameter.name);
            if (!parameter.hidden_matrix) {
                EXPECT_EQ(mine, by_adamw.weights.at(parameter.name)) << parameter.name;
                continue;
            }
            ++matrices;
            const std::vector<double> expected =
                reference(layout, parameter, before.weights.at(parameter.name), nesterov);
            for (std::size_t i = 0; i < mine.size(); ++i)
                ASSERT_NEAR(mine[i], expected[i], 2e-5) << parameter.name << " " << i;
        }
        EXPECT_GE(matrices, 4 * static_cast<int>(scenario.model.layers.count()));
    }
}
INSTANTIATE_TEST_SUITE_P(Networks, MuonReference,
                         testing::Values("gpt2", "llama", "experts", "vit"));

class MuonLayouts : public testing::TestWithParam<Layout> {};

TEST_P(MuonLayouts, TakeTheStepsOfASingleRankToTheBit) {
    Layout layout = GetParam();
    layout.training = std::string("clip_norm: 2\n  ") + kOptimizer + "}";
    Layout alone = layout;
    alone.parallel = "{data: 1}";
    alone.schedule = "1f1b";
    const JobResult result = run_job(layout, kSteps), single = run_job(alone, kSteps);
    EXPECT_EQ(result.weights, single.weights);
    EXPECT_TRUE(result.copies_agree);
}

std::vector<Layout> layouts_of_matrices() {
    std::vector<Layout> all;
    for (const char* zero : {"0", "1", "2", "3"}) {
        const std::string more = std::string(", zero_stage: ") + zero + "}";
        all.push_back({"{data: 2" + more});
        all.push_back({"{data: 4" + more, "llama", "1f1b", "bf16"});
        all.push_back({"{tensor: 2, pipeline: 2, data: 2" + more});
        all.push_back({"{tensor: 2, sequence: true, data: 2" + more, "llama"});
        all.push_back({"{pipeline: 2, data: 2" + more, "gpt2", "chimera"});
        all.push_back({"{pipeline: 2, data: 2" + more, "vit", "zb-h1"});
        if (*zero == '3') continue;
        all.push_back({"{data: 4, expert: 2" + more, "experts"});
        all.push_back({"{tensor: 2, sequence: true, data: 2, expert_tensor: 1" + more, "experts"});
    }
    all.push_back({"{tensor: 2, sequence: true, data: 2, zero_stage: 3}", "experts"});
    all.push_back({"{pipeline: 2, data: 2, zero_stage: 3, wrap: layer}"});
    all.push_back({"{data: 2, cpu_offload: true, zero_stage: 1}", "llama", "1f1b", "bf16"});
    return all;
}
INSTANTIATE_TEST_SUITE_P(All, MuonLayouts, testing::ValuesIn(layouts_of_matrices()));

TEST(MuonCheckpoints, ResumeUnderAnotherLayoutToTheBit) {
    const ScratchFolder folder;
    Layout saving{"{tensor: 2, data: 2, zero_stage: 1}"}, loading{"{pipeline: 2, data: 1}"};
    saving.training = loading.training = std::string(kOptimizer) + "}";
    JobCheckpoint save, load;
    save.save_to = folder.path().string();
    load.load_from = folder.path().string();
    load.first_step = 1;
    run_job(saving, 1, save);
    EXPECT_EQ(run_job(loading, 2, load).weights, run_job(loading, 3).weights);
}

}  // namespace
}  // namespace debubble::exec::muon
