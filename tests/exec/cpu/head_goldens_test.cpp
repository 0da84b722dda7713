#include <cmath>

#include "exec/core/stage/rope_table.h"
#include "tests/exec/cpu/golden_subjects.h"

/// What stands around attention, compared with transformers (tests/exec/goldens/make_heads.py).
namespace debubble::exec {
namespace {

const Goldens& goldens() {
    static const Goldens kHeads("heads");
    return kHeads;
}

struct AngleCase {
    std::string name;
    RotaryAngles angles;
    std::int64_t positions = 8;
    friend void PrintTo(const AngleCase& which, std::ostream* out) { *out << which.name; }
};

models::RopeScaling scaling(models::RopeScaling::Kind kind, double factor,
                            std::int64_t original = 8192) {
    models::RopeScaling how;
    how.kind = kind;
    how.factor = factor;
    how.original_positions = original;
    return how;
}

std::vector<AngleCase> angle_cases() {
    using Kind = models::RopeScaling::Kind;
    models::RopeScaling deepseek = scaling(Kind::Yarn, 40, 4096);
    deepseek.mscale = 1;
    models::RopeScaling untruncated = scaling(Kind::Yarn, 32, 4096);
    untruncated.truncate = false;
    models::RopeScaling longrope = scaling(Kind::Longrope, 32, 128);
    longrope.short_factors = {1, 1.05, 1.1, 1.5};
    longrope.long_factors = {1.1, 2, 4.5, 30};
    models::RopeScaling shorter = longrope;
    shorter.original_positions = 512;
    return {{"plain", {1e4, 64}},
            {"linear", {1e6, 128, scaling(Kind::Linear, 8)}},
            {"dynamic", {1e4, 32, scaling(Kind::Dynamic, 2), 64}, 256},
            {"llama3", {5e5, 128, scaling(Kind::Llama3, 8)}},
            {"yarn", {1.5e5, 64, scaling(Kind::Yarn, 32, 4096)}},
            {"yarn_deepseek", {1e4, 64, deepseek}},
            {"yarn_untruncated", {1.5e5, 64, untruncated}},
            {"longrope", {1e4, 8, longrope}, 256},
            {"longrope_short", {1e4, 8, shorter}, 256},
            {"partial", {1e4, 64}}};
}

class RotaryAnglesTest : public testing::TestWithParam<AngleCase> {};

TEST_P(RotaryAnglesTest, AreThoseOfTransformers) {
    const auto& [name, angles, positions] = GetParam();
    const Tensor& expected = goldens()[name + ".frequencies"];
    const std::vector<double> frequencies = inverse_frequencies(angles, positions);
    ASSERT_EQ(std::ssize(frequencies), expected.shape().elements());
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const double stored = expected.as<float>()[static_cast<std::int64_t>(i)];
        EXPECT_NEAR(frequencies[i], stored, 1e-5 * stored) << "pair " << i;
    }
    EXPECT_NEAR(rotary_magnitude(angles), goldens()[name + ".magnitude"].as<float>()[0], 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, RotaryAnglesTest, testing::ValuesIn(angle_cases()),
                         [](const auto& test) { return test.param.name; });

/// DeepSeek's model code multiplies the scale of scores by (0.1 mscale ln(factor) + 1)^2.
TEST(ScoreMagnitude, IsTheSquareOfYarns) {
    models::Attention attention;
    EXPECT_EQ(score_magnitude(attention), 1);
    attention.rope_scaling = scaling(models::RopeScaling::Kind::Yarn, 40, 4096);
    EXPECT_EQ(score_magnitude(attention), 1);
    attention.rope_scaling->mscale = 1;
    EXPECT_NEAR(score_magnitude(attention), std::pow(0.1 * std::log(40) + 1, 2), 1e-12);
    EXPECT_NEAR(score_magnitude(attention), 1.873853, 1e-5);
}

class Transformers : public AgainstGoldens {
protected:
    Golden golden(const std::string& name) const { return AgainstGoldens::golden(goldens(), name); }

    /// Of queries that are the last positions of the keys.
    void expect_attention(const std::string& name, Attention how, double query_scale = 1) const {
        const Golden at = golden("attention_" + name);
        const Tensor q = at["q"], k = at["k"], v = at["v"], dy = at["d_y"];
        const Tensor out = at.like("y"), dq = at.like("q"), dk = at.like("k"), dv = at.like("v");
        const Shape& shape = out.shape();
        const Tensor log_sum = at.fresh({shape[0], shape[2], shape[1]});
        how.first_query = k.shape()[1] - shape[1];
        how.scale = query_scale / std::sqrt(8.0);
        kernels_->attention_forward(how, q.view(), k.view(), v.view(), out.view(), log_sum.view());
        if (name == "sinks")
            kernels_->sinks_forward(at["sinks"].view(), out.view(), log_sum.view());
        kernels_->attention_backward_input(how, dy.view(), q.view(), k.view(), v.view(), out.view(),
                                           log_sum.view(), dq.view(), dk.view(), dv.view());
        at.expect("y", out);
        at.expect("d_q", dq);
        at.expect("d_k", dk);
        at.expect("d_v", dv);
        if (name != "sinks") return;
        const Tensor dsinks = at.like("sinks");
        kernels_->sinks_backward_weight(dy.view(), out.view(), log_sum.view(), at["sinks"].view(),
                                        dsinks.view());
        at.expect("d_sinks", dsinks);
    }
};

TEST_P(Transformers, AgreesOnWindows) {
    Attention how;
    how.window = 9;
    expect_attention("window", how);
    how.window = 40;
    expect_attention("window_slice", how);
}

TEST_P(Transformers, AgreesOnCappedScores) {
    Attention how;
    how.soft_cap = 2;
    expect_attention("capped", how, 4);
}

TEST_P(Transformers, AgreesOnSinks) {
    Attention how;
    how.window = 6;
    expect_attention("sinks", how);
}

TEST_P(Transformers, AgreesOnNormsOfHeads) {
    const Golden at = golden("head_norm");
    const Tensor y = at["x"], gain = at["gain"], dx = at["d_y"], dgain = at.like("gain");
    const Shape packed{10, 24};
    const Tensor kept = at.fresh(packed), statistics = at.fresh({10, 3});
    const HeadRun run{0, 0, 3, 8};
    kernels_->head_norm_forward(1e-6, run, gain.view(), y.view().reshaped(packed), kept.view(),
                                statistics.view());
    kernels_->head_norm_backward(run, gain.view(), kept.view(), statistics.view(),
                                 dx.view().reshaped(packed), dgain.view());
    at.expect("y", y);
    at.expect("d_x", dx);
    at.expect("d_gain", dgain);
}

/// The columns of rotated heads lie otherwise in transformers; the scores are the same.
TEST_P(Transformers, AgreesOnTheScoresOfNeighboursThatTurn) {
    const Golden at = golden("interleaved");
    const Tensor cosines({6, 4}), sines({6, 4});
    rope_table({1e4, 8}, cosines.as<float>(), sines.as<float>());
    const Tensor c = converted(cosines, at.type), s = converted(sines, at.type);
    const Tensor q = at["q"], k = at["k"];
    const auto rotated = [&](const Tensor& x) {
        const Rotary how{0, x.shape()[2], 0, RotaryPairs::Neighbours};
        kernels_->rope_forward(how, c.view(), s.view(), x.view());
        return converted(x, DataType::Fp32);
    };
    const Tensor turned_q = rotated(q), turned_k = rotated(k);
    const Tensor scores(at.stored("y").shape());  // [samples, heads, queries, keys]
    std::int64_t to = 0;
    for (std::int64_t sample = 0; sample < 2; ++sample)
        for (std::int64_t head = 0; head < 3; ++head)
            for (std::int64_t i = 0; i < 6; ++i)
                for (std::int64_t j = 0; j < 6; ++j, ++to)
                    for (std::int64_t d = 0; d < 8; ++d)
                        scores.as<float>()[to] +=
                            turned_q.as<float>().row((sample * 6 + i) * 3 + head)[d] *
                            turned_k.as<float>().row(sample * 6 + j)[d];
    at.expect("y", scores);
}

INSTANTIATE_TEST_SUITE_P(BackEnds, Transformers, testing::ValuesIn(subjects()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace debubble::exec
