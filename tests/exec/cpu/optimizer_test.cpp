#include "exec/cpu/loops/optimizer.h"
#include "exec/core/training/gradient_scale.h"

#include <cmath>
#include <optional>

#include "tests/exec/support/goldens.h"
#include "tests/exec/support/tensors.h"

namespace debubble::exec::loops {
namespace {

struct Case {
    std::string name;
    std::optional<AdamOptions> adam;
    SgdOptions sgd;
    friend void PrintTo(const Case& which, std::ostream* out) { *out << which.name; }
};

std::vector<Case> cases() {
    return {{"adamw", AdamOptions{0.01, 0.9, 0.95, 1e-8, 0.1, true}, {}},
            {"adam", AdamOptions{0.01, 0.9, 0.999, 1e-6, 0.05, false}, {}},
            {"sgd", {}, {0.1, 0, 0, 0.01, false}},
            {"momentum", {}, {0.1, 0.9, 0.2, 0, false}},
            {"nesterov", {}, {0.1, 0.9, 0, 0.01, true}}};
}

/// Steps elements [first, first + count) by themselves, as a rank that owns them would.
struct Shard {
    const Case& which;
    View<float> parameter, first, second;
    double decays_to = 0;

    Shard part(std::int64_t from, std::int64_t count) const {
        const auto cut = [&](View<float> x) { return View<float>{x.data + from, {count}}; };
        return {which, cut(parameter), cut(first), cut(second), decays_to};
    }
    void step(std::int64_t number, View<const float> gradient) const {
        if (which.adam) {
            adam_step(*which.adam, number, 1, decays_to, gradient, parameter, first, second);
        } else {
            sgd_step(which.sgd, number, 1, decays_to, gradient, parameter, first);
        }
    }
};

class Optimizer : public testing::TestWithParam<Case> {
protected:
    Goldens golden_{"optimizers"};
    View<const float> gradient(std::int64_t step, std::int64_t from = 0,
                               std::int64_t count = 40) const {
        return {golden_["gradients"].as<float>().row(step - 1) + from, {count}};
    }
};

TEST_P(Optimizer, TakesPyTorchsSteps) {
    const Tensor parameter = golden_["start"].clone(), first({40}), second({40});
    const Shard whole{GetParam(), parameter.as<float>(), first.as<float>(), second.as<float>()};
    for (std::int64_t step = 1; step <= 3; ++step) {
        whole.step(step, gradient(step));
        const View<const float> expected{golden_[GetParam().name].as<float>().row(step - 1), {40}};
        EXPECT_LT(relative_difference<float>(parameter.as<float>(), expected), 1e-6) << step;
    }
}

/// PyTorch steps w where the parameter is 1 + w: the same numbers, one further.
TEST_P(Optimizer, DecaysToOneAsPyTorchDecaysTheDistanceToIt) {
    const Tensor parameter = golden_["start"].clone(), first({40}), second({40});
    for (float& value : parameter.as<float>()) value += 1;
    const Shard whole{GetParam(), parameter.as<float>(), first.as<float>(), second.as<float>(), 1};
    for (std::int64_t step = 1; step <= 3; ++step) {
        whole.step(step, gradient(step));
        const float* expected = golden_[GetParam().name].as<float>().row(step - 1);
        for (std::int64_t i = 0; i < 40; ++i)
            EXPECT_NEAR(parameter.as<float>()[i] - 1, expected[i], 1e-6) << step;
    }
}

TEST_P(Optimizer, StepsShardsToTheBitsOfTheWhole) {
    const Tensor whole = golden_["start"].clone(), first({40}), second({40});
    const Tensor parts = golden_["start"].clone(), first_parts({40}), second_parts({40});
    const Shard all{GetParam(), whole.as<float>(), first.as<float>(), second.as<float>()};
    const Shard cut{GetParam(), parts.as<float>(), first_parts.as<float>(),
                    second_parts.as<float>()};
    for (std::int64_t step = 1; step <= 3; ++step) {
        all.step(step, gradient(step));
        cut.part(0, 13).step(step, gradient(step, 0, 13));
        cut.part(13, 27).step(step, gradient(step, 13, 27));
    }
    EXPECT_TRUE(same_bits(whole, parts));
}

INSTANTIATE_TEST_SUITE_P(All, Optimizer, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Optimizer, ScalesTheGradientByAPowerOfTwoExactly) {
    const Tensor once = golden_["start"].clone(), first({40}), second({40});
    const Tensor scaled = golden_["start"].clone(), first_scaled({40}), second_scaled({40});
    Tensor larger({40});
    for (std::int64_t i = 0; i < 40; ++i) larger.as<float>()[i] = 1024 * gradient(1)[i];
    Shard{GetParam(), once.as<float>(), first.as<float>(), second.as<float>()}.step(1, gradient(1));
    if (const auto& adam = GetParam().adam) {
        adam_step(*adam, 1, 1.0 / 1024, 0, larger.as<float>(), scaled.as<float>(),
                  first_scaled.as<float>(), second_scaled.as<float>());
    } else {
        sgd_step(GetParam().sgd, 1, 1.0 / 1024, 0, larger.as<float>(), scaled.as<float>(),
                 first_scaled.as<float>());
    }
    EXPECT_TRUE(same_bits(once, scaled));
}

TEST(Clipping, IsPyTorchsOverPartsOfOneGlobalNorm) {
    const Goldens golden("optimizers");
    const Tensor gradients = golden["clip.before"].clone();
    double squares = 0;
    for (std::int64_t part = 0; part < 3; ++part) {
        squares += sum_of_squares({gradients.as<float>().row(part), {8}});
    }
    const double norm = std::sqrt(squares);
    EXPECT_NEAR(norm, golden["clip.norm"].as<float>()[0], 1e-6 * norm);
    scale(clip_factor(norm, 1.5), gradients.as<float>());
    EXPECT_LT(relative_difference(gradients, golden["clip.after"]), 1e-6);
    EXPECT_EQ(clip_factor(0.5, 1), 1) << "a small gradient stays as it is";
}

}  // namespace
}  // namespace debubble::exec::loops
