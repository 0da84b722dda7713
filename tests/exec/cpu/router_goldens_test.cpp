#include "exec/cpu/cpu_kernels.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/tensors.h"
#include "tests/oracle/oracle.h"

/// Routers and their losses compared with those of transformers (make_routers.py).
namespace debubble::exec {
namespace {

struct RouterSubject {
    std::string name;
    std::unique_ptr<Kernels> (*make)();
    DataType type = DataType::Fp32;  ///< in which it computes
    friend void PrintTo(const RouterSubject& which, std::ostream* out) { *out << which.name; }
};

class RouterGoldens : public testing::TestWithParam<RouterSubject> {
protected:
    /// A stored tensor in the subject's type; empty if the case has none.
    Tensor stored(const std::string& name) const {
        if (!goldens_.has(name)) return {};
        const Tensor& from = goldens_[name];
        Tensor to(from.shape(), GetParam().type);
        if (to.type() == DataType::Fp64)
            std::ranges::copy(from.as<float>(), to.as<double>().begin());
        else
            std::ranges::copy(from.as<float>(), to.as<float>().begin());
        return to;
    }
    Tensor fresh(const Shape& shape) const { return Tensor(shape, GetParam().type); }

    void expect_stored(const std::string& name, const Tensor& computed) const {
        EXPECT_LT(
            GetParam().type == DataType::Fp64
                ? relative_difference<double>(computed.as<double>(), stored(name).as<double>())
                : relative_difference(computed, goldens_[name]),
            1e-5)
            << name;
    }

    void expect_router(const std::string& name, const RouterChoice& choice) const {
        const Tensor logits = stored(name + ".logits"), correction = stored(name + ".correction");
        const Tensor dweights = stored(name + ".d_weights");
        const Tensor weights = fresh(logits.shape()), dlogits = fresh(logits.shape());
        kernels_->route_forward(choice, logits.view(),
                                correction ? correction.view() : TensorView{}, weights.view());
        kernels_->route_backward_input(choice, dweights.view(), weights.view(), logits.view(),
                                       dlogits.view());
        expect_stored(name + ".weights", weights);
        expect_stored(name + ".d_logits", dlogits);
    }

    /// The loss of one term, which is in total `which` of the two.
    void expect_loss(const std::string& name, const RouterLosses& losses, const Tensor& counts,
                     int which) const {
        const Tensor logits = stored(name + ".logits");
        const Tensor totals[2] = {Tensor({1}, DataType::Fp64), Tensor({1}, DataType::Fp64)};
        const Tensor dlogits = fresh(logits.shape());
        const TensorView counted = counts ? counts.view() : TensorView{};
        kernels_->router_losses_forward(losses, logits.view(), counted, totals[0].view(),
                                        totals[1].view());
        kernels_->router_losses_backward_input(losses, logits.view(), counted, dlogits.view());
        const double expected = goldens_[name + ".loss"].as<float>()[0];
        EXPECT_NEAR(totals[which].as<double>()[0], expected, 1e-5 * expected) << name;
        EXPECT_EQ(totals[1 - which].as<double>()[0], 0) << name;
        expect_stored(name + ".d_logits", dlogits);
    }

    Goldens goldens_{"routers"};
    std::unique_ptr<Kernels> kernels_ = GetParam().make();
};

TEST_P(RouterGoldens, RoutersChooseAndWeighAsTransformersDoes) {
    expect_router("mixtral", {RouterScore::Softmax, 2});
    expect_router("deepseek_v2", {RouterScore::PreSoftmax, 4});
    expect_router("deepseek_v2_groups", {RouterScore::PreSoftmax, 4, 4, 2, true, 16});
    expect_router("deepseek_v3", {RouterScore::Sigmoid, 4, 4, 2, true, 2.5});
    expect_router("llama4", {RouterScore::Sigmoid, 1, 1, 1, false, 1});
}

/// Hugging Face's balance loss is Megatron-Core's times the experts of a token, with a coefficient
/// of 1.
TEST_P(RouterGoldens, LossesAreThoseOfTransformersAndPyTorch) {
    const Tensor logits = stored("balance.logits");
    const auto tokens = static_cast<double>(logits.shape()[0]);
    const std::int64_t experts = logits.shape()[1];
    const Tensor weights = fresh(logits.shape()), counts = fresh({experts});
    kernels_->route_forward({RouterScore::Softmax, 3}, logits.view(), {}, weights.view());
    kernels_->count_chosen(weights.view(), counts.view());
    const double factor = static_cast<double>(experts) / (tokens * tokens);
    expect_loss("balance", {RouterScore::PreSoftmax, factor, 0}, counts, 0);
    expect_loss("z", {RouterScore::PreSoftmax, 0, 1 / tokens}, {}, 1);
}

TEST_P(RouterGoldens, ExpertsOfGptOssHaveItsClampedGate) {
    const Tensor gate_up = stored("clamped_swiglu.gate_up"), dy = stored("clamped_swiglu.d_y");
    const Tensor y = fresh(dy.shape()), dgate_up = fresh(gate_up.shape());
    kernels_->gated_forward(Gate::ClampedSilu, gate_up.view(), y.view());
    kernels_->gated_backward_input(Gate::ClampedSilu, dy.view(), gate_up.view(), dgate_up.view());
    expect_stored("clamped_swiglu.y", y);
    expect_stored("clamped_swiglu.d_gate_up", dgate_up);
}

INSTANTIATE_TEST_SUITE_P(
    All, RouterGoldens,
    testing::Values(RouterSubject{"oracle", [] { return std::unique_ptr<Kernels>(new Oracle); },
                                  DataType::Fp64},
                    RouterSubject{"fixed_order",
                                  [] { return make_cpu_kernels("fixed-order", 1); }}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace debubble::exec
