#include "tests/exec/cpu/gradients.h"

/// The oracle's backwards of experts and their routers are the derivatives of its forwards.
namespace debubble::exec {
namespace {

/// From logits to what experts make of their rows, which is elementwise here: each row is
/// multiplied by slopes of its own.
TEST(ExpertGradients, AreFiniteDifferences) {
    constexpr std::int64_t kTokens = 7, kExperts = 5, kChosen = 2, kHidden = 6;
    const Tensor logits = random_fp64({kTokens, kExperts}, 1),
                 x = random_fp64({kTokens, kHidden}, 2);
    const Tensor dy = random_fp64({kTokens, kHidden}, 3),
                 slopes = random_fp64({kTokens * kChosen, kHidden}, 4);
    const Tensor weights = zeros({kTokens, kExperts}), rows = zeros(slopes.shape());
    const auto times_slopes = [&](const Tensor& of_rows) {
        for (std::int64_t i = 0; i < slopes.shape().elements(); ++i)
            of_rows.as<double>()[i] *= slopes.as<double>()[i];
    };
    const auto loss = [&] {
        oracle.route_forward({RouterScore::Softmax, kChosen}, logits.view(), {}, weights.view());
        oracle.permute_forward(weights.view(), x.view(), rows.view());
        times_slopes(rows);
        const Tensor y = zeros({kTokens, kHidden});
        oracle.combine_forward(weights.view(), rows.view(), y.view());
        return dot_of(y, dy);
    };
    loss();
    const Tensor drows = zeros(slopes.shape()), dx = zeros({kTokens, kHidden});
    const Tensor dlogits = zeros({kTokens, kExperts});
    oracle.combine_backward_input(weights.view(), dy.view(), rows.view(), drows.view(),
                                  dlogits.view());
    oracle.route_backward_input({RouterScore::Softmax, kChosen}, dlogits.view(), weights.view(),
                                logits.view(), dlogits.view());
    times_slopes(drows);
    oracle.permute_backward_input(weights.view(), drows.view(), dx.view());
    expect_gradient(logits, dlogits, loss, "logits");
    expect_gradient(x, dx, loss, "x");
}

/// Where tokens are weighed on their way to the experts, whose sums are plain.
TEST(WeighedInputGradients, AreFiniteDifferences) {
    constexpr std::int64_t kTokens = 6, kExperts = 5, kChosen = 2, kHidden = 4;
    const RouterChoice choice{RouterScore::Sigmoid, kChosen, 1, 1, false, 1};
    const Tensor logits = random_fp64({kTokens, kExperts}, 1),
                 x = random_fp64({kTokens, kHidden}, 2);
    const Tensor dy = random_fp64({kTokens, kHidden}, 3), weights = zeros({kTokens, kExperts});
    const Tensor rows = zeros({kTokens * kChosen, kHidden});
    const auto bent = [&](const Tensor& of_rows) {  // what experts do
        for (double& value : of_rows.as<double>()) value = value * value;
    };
    const auto loss = [&] {
        oracle.route_forward(choice, logits.view(), {}, weights.view());
        oracle.combine_backward_input(weights.view(), x.view(), {}, rows.view(), {});
        bent(rows);
        const Tensor y = zeros({kTokens, kHidden});
        oracle.permute_backward_input(weights.view(), rows.view(), y.view());
        return dot_of(y, dy);
    };
    loss();
    const Tensor before = zeros(rows.shape()), drows = zeros(rows.shape());
    oracle.combine_backward_input(weights.view(), x.view(), {}, before.view(), {});
    oracle.permute_forward(weights.view(), dy.view(), drows.view());
    for (std::int64_t i = 0; i < drows.shape().elements(); ++i)
        drows.as<double>()[i] *= 2 * before.as<double>()[i];
    const Tensor dx = zeros(x.shape()), dlogits = zeros(logits.shape());
    oracle.combine_backward_input(weights.view(), x.view(), drows.view(), {}, dlogits.view());
    oracle.combine_forward(weights.view(), drows.view(), dx.view());
    oracle.route_backward_input(choice, dlogits.view(), weights.view(), logits.view(),
                                dlogits.view());
    expect_gradient(logits, dlogits, loss, "logits");
    expect_gradient(x, dx, loss, "x");
}

struct RouterCase {
    std::string name;
    RouterChoice choice;
    friend void PrintTo(const RouterCase& which, std::ostream* out) { *out << which.name; }
};

std::vector<RouterCase> router_cases() {
    return {{"softmax_scaled", {RouterScore::Softmax, 3, 1, 1, true, 2.5}},
            {"pre_softmax", {RouterScore::PreSoftmax, 2, 1, 1, true, 1}},
            {"pre_softmax_in_groups_scaled", {RouterScore::PreSoftmax, 3, 4, 2, true, 16}},
            {"sigmoid_renormalised", {RouterScore::Sigmoid, 3, 1, 1, true, 1}},
            {"sigmoid_in_groups_scaled", {RouterScore::Sigmoid, 3, 4, 2, true, 2.5}},
            {"sigmoid_as_it_is", {RouterScore::Sigmoid, 1, 1, 1, false, 1.5}}};
}

class RouterGradients : public testing::TestWithParam<RouterCase> {};

/// The choice stays the same under small changes of the logits.
TEST_P(RouterGradients, AreFiniteDifferences) {
    const RouterChoice& choice = GetParam().choice;
    const Shape shape{6, 12};
    const Tensor logits = random_fp64(shape, 1), correction = random_fp64({12}, 2),
                 dy = random_fp64(shape, 3);
    const Tensor weights = zeros(shape), dlogits = dy.clone();
    const auto loss = [&] {
        oracle.route_forward(choice, logits.view(), correction.view(), weights.view());
        return dot_of(weights, dy);
    };
    loss();
    oracle.route_backward_input(choice, dlogits.view(), weights.view(), logits.view(),
                                dlogits.view());
    expect_gradient(logits, dlogits, loss, "logits");
}

INSTANTIATE_TEST_SUITE_P(Routers, RouterGradients, testing::ValuesIn(router_cases()),
                         [](const auto& each) { return each.param.name; });

TEST(SharedGateGradients, AreFiniteDifferences) {
    const Tensor x = random_fp64({4, 7}, 1), weight = random_fp64({7}, 2),
                 branch = random_fp64({4, 7}, 3);
    const Tensor dy = random_fp64({4, 7}, 4), scores = zeros({4});
    const auto loss = [&] {
        const Tensor y = zeros({4, 7});
        oracle.shared_gate_forward(x.view(), weight.view(), branch.view(), y.view(), scores.view());
        return dot_of(y, dy);
    };
    loss();
    const Tensor dx = zeros({4, 7}), dbranch = zeros({4, 7}), dweight = zeros({7});
    oracle.shared_gate_backward(dy.view(), x.view(), weight.view(), branch.view(), scores.view(),
                                dbranch.view(), dx.view(), dweight.view());
    expect_gradient(x, dx, loss, "x");
    expect_gradient(branch, dbranch, loss, "branch");
    expect_gradient(weight, dweight, loss, "weight");
}

TEST(RouterLossGradients, AreFiniteDifferences) {
    for (const RouterScore score : {RouterScore::PreSoftmax, RouterScore::Sigmoid}) {
        const RouterLosses losses{score, 0.7, 0.2};
        const Tensor logits = random_fp64({5, 9}, 1), counts = random_fp64({9}, 2);
        const auto loss = [&] {
            const Tensor balance = zeros({1}), z = zeros({1});
            oracle.router_losses_forward(losses, logits.view(), counts.view(), balance.view(),
                                         z.view());
            return balance.as<double>()[0] + z.as<double>()[0];
        };
        const Tensor dlogits = zeros({5, 9});
        oracle.router_losses_backward_input(losses, logits.view(), counts.view(), dlogits.view());
        expect_gradient(logits, dlogits, loss, "logits");
    }
}

}  // namespace
}  // namespace debubble::exec
