#include <array>

#include "exec/core/kernels.h"
#include "tests/exec/kernels/kernels_twins.h"

namespace debubble::exec {
namespace {

using Side = Twins::Side;
constexpr std::array kLayouts = {WeightLayout::OutputsInputs, WeightLayout::InputsOutputs};

TEST_P(KernelsTest, LinearLayers) {
    for (const auto& [tokens, inputs, outputs] : std::vector<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {7, 33, 50}, {65, 128, 31}, {130, 257, 96}}) {
        for (const WeightLayout layout : kLayouts) {
            const bool conv = layout == WeightLayout::InputsOutputs;
            const Shape shape = conv ? Shape{inputs, outputs} : Shape{outputs, inputs};
            const Twins x = random({tokens, inputs}), dy = random({tokens, outputs});
            const Twins weight = random(shape), bias = random({outputs});
            const Twins y = random({tokens, outputs}), plain = random({tokens, outputs});
            const Twins dx = random({tokens, inputs}), more = random({tokens, inputs});
            const Twins dweight = fp32(shape), dbias = fp32({outputs});
            const Twins narrow_dweight = random(shape), narrow_dbias = random({outputs});
            both([&](Kernels& kernels, Side side) {
                kernels.linear_forward(layout, side(x), side(weight), side(bias), side(y));
                kernels.linear_forward(layout, side(x), side(weight), {}, side(plain));
                kernels.add_bias(side(bias), side(plain));
                kernels.linear_backward_input(layout, side(dy), side(weight), side(dx),
                                              Write::Overwrite);
                kernels.linear_backward_input(layout, side(dy), side(weight), side(more),
                                              Write::Add);
                kernels.linear_backward_weight(layout, side(x), side(dy), side(dweight),
                                               side(dbias));
                kernels.linear_backward_weight(layout, side(x), side(dy), side(dweight), {});
                kernels.linear_backward_weight(layout, side(x), side(dy), side(narrow_dweight),
                                               side(narrow_dbias));
            });
            expect_alike(y, "y");
            expect_alike(plain, "y whose bias comes later", 2);  // rounded twice
            expect_alike(dx, "dx");
            expect_alike(more, "dx added");
            expect_alike(dweight, "dweight");
            expect_alike(dbias, "dbias");
            expect_alike(narrow_dweight, "dweight in the compute type");
            expect_alike(narrow_dbias, "dbias in the compute type");
        }
    }
}

TEST_P(KernelsTest, ProductsWithTheirActivation) {
    for (const auto layout : {WeightLayout::InputsOutputs, WeightLayout::OutputsInputs})
        for (const auto kind : {Nonlinearity::GeluTanh, Nonlinearity::Gelu})
            for (const std::int64_t ffn : {72, 37}) {  // not all fill whole vectors
                const std::int64_t hidden = 33, tokens = 19;
                const auto weight_of = [&](std::int64_t inputs, std::int64_t outputs) {
                    return layout == WeightLayout::InputsOutputs ? Shape{inputs, outputs}
                                                                 : Shape{outputs, inputs};
                };
                const Twins x = random({tokens, hidden}), bias = random({ffn});
                const Twins up = random(weight_of(hidden, ffn));
                const Twins down = random(weight_of(ffn, hidden));
                const Twins wide = random({tokens, ffn}), y = random({tokens, ffn});
                const Twins dy = random({tokens, hidden}), dwide = random({tokens, ffn});
                both([&](Kernels& kernels, Side side) {
                    kernels.linear_activation_forward(layout, kind, side(x), side(up), side(bias),
                                                      side(wide), side(y));
                    kernels.linear_activation_backward_input(layout, kind, side(dy), side(down),
                                                             side(wide), side(dwide));
                });
                expect_alike(wide, "wide");
                expect_alike(y, "y", 2);  // its input may be rounded
                expect_alike(dwide, "dwide", 4);
            }
}

TEST_P(KernelsTest, ProjectionsOfAFewRowsOfMany) {
    // The weight [outputs, inputs] of a head, with a vocabulary beyond one block of columns.
    const Twins x = random({5, 40}), weight = random({1101, 40}), y = random({5, 1101});
    const Twins dweight = fp32({1101, 40});
    both([&](Kernels& kernels, Side side) {
        kernels.linear_forward(WeightLayout::OutputsInputs, side(x), side(weight), {}, side(y));
        kernels.linear_backward_weight(WeightLayout::OutputsInputs, side(x), side(y), side(dweight),
                                       {});
    });
    expect_alike(y, "y");
    expect_alike(dweight, "dweight", 2);  // its y was rounded
}

}  // namespace
}  // namespace debubble::exec
