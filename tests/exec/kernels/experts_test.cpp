#include <fmt/format.h>

#include "tests/exec/kernels/kernels_twins.h"

namespace debubble::exec {
namespace {

using Side = Twins::Side;

struct ExpertsCase {
    std::int64_t tokens, experts, chosen, hidden;
};
/// Few and many experts, more than a warp has lanes, all of them chosen; more tokens than a block
/// counts at once; rows that are not a multiple of eight.
TEST_P(KernelsTest, Experts) {
    for (const ExpertsCase& test : std::vector<ExpertsCase>{
             {300, 8, 2, 24}, {7, 1, 1, 16}, {21, 70, 5, 300}, {33, 4, 4, 13}, {9, 1100, 3, 8}}) {
        const auto rows = test.tokens * test.chosen;
        const Twins logits = random({test.tokens, test.experts});
        const Twins x = random({test.tokens, test.hidden}), dy = random({test.tokens, test.hidden});
        const Twins weights = fp32({test.tokens, test.experts}),
                    dweights = fp32({test.tokens, test.experts});
        const Twins permuted = random({rows, test.hidden}), made = random({rows, test.hidden});
        const Twins drows = random({rows, test.hidden});
        const Twins y = random({test.tokens, test.hidden}), dx = random({test.tokens, test.hidden});
        const Twins first = integers(std::vector<std::int32_t>(test.experts + 1, -1));
        both([&](Kernels& kernels, Side side) {
            kernels.route_forward({RouterScore::Softmax, test.chosen}, side(logits), {},
                                  side(weights));
            kernels.first_rows_of_experts(side(weights), side(first));
            kernels.permute_forward(side(weights), side(x), side(permuted));
            kernels.combine_forward(side(weights), side(made), side(y));
            kernels.combine_backward_input(side(weights), side(dy), side(made), side(drows),
                                           side(dweights));
            kernels.permute_backward_input(side(weights), side(drows), side(dx));
        });
        const std::string name = fmt::format("{} experts: ", test.experts);
        const auto tested = first.tested.as<std::int32_t>();
        EXPECT_TRUE(std::ranges::equal(tested, first.expected.as<std::int32_t>()));
        EXPECT_EQ(tested[test.experts], rows);
        expect_alike(weights, name + "weights");
        expect_alike(permuted, name + "rows");
        expect_alike(y, name + "y");
        expect_alike(drows, name + "drows");
        expect_alike(dx, name + "dx");
        expect_alike(dweights, name + "dweights");
    }
}

/// The two parts of a gradient by themselves.
TEST_P(KernelsTest, ExpertsWhoseInputsAreWeighed) {
    for (const ExpertsCase& test :
         std::vector<ExpertsCase>{{300, 8, 1, 24}, {21, 70, 5, 300}, {33, 4, 4, 13}}) {
        const Shape of_tokens{test.tokens, test.hidden};
        const Shape of_rows{test.tokens * test.chosen, test.hidden};
        const Twins logits = random({test.tokens, test.experts}), x = random(of_tokens);
        const Twins weights = fp32({test.tokens, test.experts}),
                    dweights = fp32({test.tokens, test.experts});
        const Twins rows = random(of_rows), drows = random(of_rows);
        both([&](Kernels& kernels, Side side) {
            kernels.route_forward({RouterScore::Sigmoid, test.chosen, 1, 1, false, 1}, side(logits),
                                  {}, side(weights));
            kernels.combine_backward_input(side(weights), side(x), {}, side(rows), {});
            kernels.combine_backward_input(side(weights), side(x), side(drows), {}, side(dweights));
        });
        const std::string name = fmt::format("{} experts: ", test.experts);
        expect_alike(rows, name + "rows");
        expect_alike(dweights, name + "dweights");
    }
}

/// Experts with many rows, one and none, and the same product again with other rows: what a back
/// end keeps for one number of rows must not reach the next.
TEST_P(KernelsTest, ExpertsMultiplyTheirOwnRows) {
    const std::int64_t experts = 5, inputs = 24, outputs = 16;
    for (const std::vector<std::int64_t>& first : std::vector<std::vector<std::int64_t>>{
             {0, 40, 41, 41, 58, 66}, {0, 0, 0, 66, 66, 66}, {0, 7, 23, 24, 57, 66}}) {
        const Twins x = random({66, inputs}), dy = random({66, outputs});
        const Twins weights = random({experts * outputs, inputs});
        const Twins y = random({66, outputs}), dx = random({66, inputs});
        const Twins dweights = fp32({experts * outputs, inputs});
        both([&](Kernels& kernels, Side side) {
            kernels.experts_forward(first, side(x), side(weights), side(y));
            kernels.experts_backward_input(first, side(dy), side(weights), side(dx));
            kernels.experts_backward_weight(first, side(x), side(dy), side(dweights));
        });
        const std::string name = fmt::format("the first with {} rows: ", first[1]);
        expect_alike(y, name + "y");
        expect_alike(dx, name + "dx");
        expect_alike(dweights, name + "dweights");
    }
}

}  // namespace
}  // namespace debubble::exec
