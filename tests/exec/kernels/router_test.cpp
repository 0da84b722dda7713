#include <fmt/format.h>

#include <algorithm>

#include "tests/exec/kernels/kernels_twins.h"

namespace debubble::exec {
namespace {

using Side = Twins::Side;

struct RouterCase {
    std::string name;
    std::int64_t tokens, experts;
    RouterChoice choice;
    bool corrected = false;
};

RouterChoice softmax(std::int64_t chosen, double scaling = 1) {
    return {RouterScore::Softmax, chosen, 1, 1, true, scaling};
}
RouterChoice pre_softmax(std::int64_t chosen, std::int64_t groups = 1,
                         std::int64_t groups_chosen = 1, double scaling = 1) {
    return {RouterScore::PreSoftmax, chosen, groups, groups_chosen, true, scaling};
}
RouterChoice sigmoid(std::int64_t chosen, std::int64_t groups = 1, std::int64_t groups_chosen = 1,
                     double scaling = 1, bool renormalised = true) {
    return {RouterScore::Sigmoid, chosen, groups, groups_chosen, renormalised, scaling};
}

/// Few and many experts, more than a warp has lanes, all of them chosen; groups of one expert, of
/// several, and as many as a warp has lanes; with and without what corrects the choice.
std::vector<RouterCase> router_cases() {
    return {{"softmax", 300, 8, softmax(2)},
            {"one_expert", 7, 1, softmax(1)},
            {"softmax_of_70", 21, 70, softmax(5, 2.5)},
            {"all_chosen", 33, 4, softmax(4)},
            {"softmax_of_1100", 9, 1100, softmax(3)},
            {"softmax_in_groups", 40, 12, {RouterScore::Softmax, 3, 4, 2, true, 1}},
            {"pre_softmax", 65, 8, pre_softmax(2)},
            {"pre_softmax_in_groups", 31, 48, pre_softmax(4, 6, 2, 16)},
            {"sigmoid", 50, 64, sigmoid(6, 1, 1, 2.446), true},
            {"sigmoid_without_correction", 50, 64, sigmoid(6)},
            {"deepseek", 37, 256, sigmoid(8, 8, 4, 2.5), true},
            {"groups_of_one", 20, 32, sigmoid(4, 32, 5), true},
            {"one_of_sigmoids", 18, 16, sigmoid(1, 1, 1, 1, false)}};
}

TEST_P(KernelsTest, Routers) {
    for (const RouterCase& test : router_cases()) {
        const Shape shape{test.tokens, test.experts};
        const Twins logits = random(shape), correction = fp32({test.experts});
        const Twins weights = fp32(shape), dweights = fp32(shape), dlogits = fp32(shape);
        const Twins counts = fp32({test.experts});
        both([&](Kernels& kernels, Side side) {
            kernels.route_forward(test.choice, side(logits),
                                  test.corrected ? side(correction) : TensorView{}, side(weights));
            kernels.count_chosen(side(weights), side(counts));
            kernels.route_backward_input(test.choice, side(dweights), side(weights), side(logits),
                                         side(dlogits));
        });
        expect_alike(weights, test.name + ": weights");
        expect_alike(counts, test.name + ": counts");
        if (test.choice.chosen > 1 || test.choice.score != RouterScore::Softmax)
            expect_alike(dlogits, test.name + ": dlogits", 2);  // else it is zero
        for (std::int64_t t = 0; t < test.tokens; ++t)
            EXPECT_EQ(std::ranges::count_if(weights.tested.as<float>().row(t),
                                            weights.tested.as<float>().row(t) + test.experts,
                                            [](float weight) { return weight != 0; }),
                      test.choice.chosen)
                << test.name;
    }
}

TEST_P(KernelsTest, RouterLosses) {
    for (const RouterCase& test : router_cases()) {
        const RouterLosses losses{test.choice.score, 0.3, 0.7};
        const Shape shape{test.tokens, test.experts};
        const Twins logits = random(shape), counts = fp32({test.experts}), dlogits = fp32(shape);
        const Twins balance = totals(), z = totals();
        both([&](Kernels& kernels, Side side) {
            kernels.router_losses_forward(losses, side(logits), side(counts), side(balance),
                                          side(z));
            kernels.router_losses_backward_input(losses, side(logits), side(counts), side(dlogits));
        });
        expect_alike(balance, test.name + ": balance", 10);  // terms of both signs
        expect_alike(z, test.name + ": z");
        expect_alike(dlogits, test.name + ": dlogits", 2);
    }
}

/// A term whose factor is 0 reads nothing and changes nothing.
TEST_P(KernelsTest, RouterLossesOfFactorZero) {
    const Twins logits = random({9, 12}), dlogits = fp32({9, 12});
    const Twins balance = totals(), z = totals();
    both([&](Kernels& kernels, Side side) {
        kernels.router_losses_forward({RouterScore::Softmax, 0, 0.5}, side(logits), {},
                                      side(balance), side(z));
        kernels.router_losses_backward_input({RouterScore::Softmax, 0, 0.5}, side(logits), {},
                                             side(dlogits));
    });
    EXPECT_EQ(balance.tested.as<double>()[0], 0);
    expect_alike(z, "z");
    expect_alike(dlogits, "dlogits");
}

TEST_P(KernelsTest, GatesOfSharedExperts) {
    for (const auto& [tokens, hidden] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{37, 64}, {3, 301}, {70, 8}, {1, 13}}) {
        const Twins x = random({tokens, hidden}), weight = random({1, hidden});
        const Twins branch = random({tokens, hidden}), dy = random({tokens, hidden});
        const Twins y = random({tokens, hidden}), scores = fp32({tokens});
        const Twins dbranch = random({tokens, hidden}), dx = random({tokens, hidden});
        const Twins dweight = fp32({1, hidden});
        both([&](Kernels& kernels, Side side) {
            kernels.shared_gate_forward(side(x), side(weight), side(branch), side(y), side(scores));
            kernels.shared_gate_backward(side(dy), side(x), side(weight), side(branch),
                                         side(scores), side(dbranch), side(dx), side(dweight));
        });
        const std::string name = fmt::format("{} tokens: ", tokens);
        expect_alike(y, name + "y");
        expect_alike(scores, name + "scores");
        expect_alike(dbranch, name + "dbranch");
        expect_alike(dx, name + "dx", 2);
        expect_alike(dweight, name + "dweight");
    }
}

/// Capacities that all of an expert's tokens exceed, that some do, and that none does; among equal
/// weights the first stay.
TEST_P(KernelsTest, ExpertsThatDropTokens) {
    for (const std::int64_t tokens : {5, 300}) {
        for (const std::int64_t capacity : {std::int64_t{1}, tokens / 3, tokens}) {
            const Twins logits = random({tokens, 7}), weights = fp32({tokens, 7});
            const Twins kept = fp32({tokens, 7}), equal = fp32({tokens, 7}),
                        first = fp32({tokens, 7});
            both([&](Kernels& kernels, Side side) {
                kernels.route_forward({RouterScore::Sigmoid, 3}, side(logits), {}, side(weights));
                kernels.drop_over_capacity(capacity, side(weights), side(kept));
                kernels.fill_zero(side(logits));
                kernels.route_forward({RouterScore::Softmax, 3}, side(logits), {}, side(equal));
                kernels.drop_over_capacity(capacity, side(equal), side(first));
            });
            const std::string name = std::to_string(tokens) + " tokens: ";
            expect_alike(kept, name + "kept");
            expect_alike(first, name + "the first");
            EXPECT_EQ(std::ranges::count(first.tested.as<float>(), 0.F),
                      7 * tokens - 3 * std::min(capacity, tokens));
        }
    }
}

/// Gates and what they gate beyond the limits of gpt-oss's experts.
TEST_P(KernelsTest, ClampedGatesOfExperts) {
    const Twins gate_up = random({40, 2 * 24}), dy = random({40, 24});
    const Twins y = random({40, 24}), dgate_up = random({40, 2 * 24});
    both([&](Kernels& kernels, Side side) {
        kernels.scale(16, side(gate_up));
        kernels.gated_forward(Gate::ClampedSilu, side(gate_up), side(y));
        kernels.gated_backward_input(Gate::ClampedSilu, side(dy), side(gate_up), side(dgate_up));
    });
    expect_alike(y, "y");
    expect_alike(dgate_up, "dgate_up");
}

}  // namespace
}  // namespace debubble::exec
