#include "exec/core/kernels.h"
#include "tests/exec/kernels/kernels_twins.h"

namespace debubble::exec {
namespace {

using Side = Twins::Side;

TEST_P(KernelsTest, NormsOfSums) {
    for (const std::int64_t hidden : {1, 31, 64, 770, 4104, 8200, 16400}) {
        const std::int64_t rows = hidden > 1000 ? 2 : 19;
        const Shape shape{2, rows, hidden};
        const Twins x = random(shape), weight = random({hidden}), bias = random({hidden});
        const Twins layer_branch = random(shape), layer_sum = random(shape);
        const Twins layer_statistics = fp32({2, rows, 2});
        const Twins rms_branch = random(shape), rms_sum = random(shape), rms_y = random(shape);
        const Twins rms_statistics = fp32({2, rows});
        const Twins dy = random(shape), through = random(shape), dx = random(shape);
        const Twins in_place = random(shape), alone = random(shape);
        const Twins dweight = fp32({hidden}), dbias = fp32({hidden}), dgain = fp32({hidden});
        both([&](Kernels& kernels, Side side) {
            kernels.residual_layer_norm_forward(1e-2, side(x), side(layer_branch), side(weight),
                                                side(bias), side(layer_sum), side(layer_branch),
                                                side(layer_statistics));
            kernels.residual_rms_norm_forward(1e-2, side(x), side(rms_branch), side(weight),
                                              side(rms_sum), side(rms_y), side(rms_statistics));
            kernels.layer_norm_backward(side(dy), side(layer_sum), side(weight),
                                        side(layer_statistics), side(through), side(dx),
                                        side(dweight), side(dbias));
            kernels.rms_norm_backward(side(dy), side(rms_sum), side(weight), side(rms_statistics),
                                      side(in_place), side(in_place), side(dgain));
            kernels.rms_norm_backward(side(dy), side(rms_sum), side(weight), side(rms_statistics),
                                      {}, side(alone), side(dgain));
        });
        expect_alike(layer_sum, "sum");
        expect_alike(rms_sum, "sum");
        expect_alike(layer_branch, "LayerNorm", 4);  // its sum was rounded
        expect_alike(rms_y, "RMSNorm", 4);
        expect_alike(layer_statistics, "statistics of LayerNorm", 4);
        expect_alike(rms_statistics, "statistics of RMSNorm", 4);
        expect_alike(dx, "dx of LayerNorm", 4);
        expect_alike(in_place, "dx of RMSNorm, in place", 4);
        expect_alike(alone, "dx of RMSNorm alone", 4);
        expect_alike(dweight, "dweight", 4);
        expect_alike(dbias, "dbias");
        expect_alike(dgain, "dweight of RMSNorm", 4);
    }
}

TEST_P(KernelsTest, LayerNorm) {
    for (const std::int64_t hidden : {1, 31, 64, 770}) {
        const Shape shape{3, 37, hidden};
        const Twins x = random(shape), dy = random(shape), weight = random({hidden});
        const Twins bias = random({hidden}), y = random(shape), statistics = fp32({3, 37, 2});
        const Twins dx = random(shape), more = random(shape);
        const Twins dweight = fp32({hidden}), dbias = fp32({hidden});
        both([&](Kernels& kernels, Side side) {
            kernels.layer_norm_forward(1e-2, side(x), side(weight), side(bias), side(y),
                                       side(statistics));
            kernels.layer_norm_backward_input(side(dy), side(x), side(weight), side(statistics),
                                              side(dx), Write::Overwrite);
            kernels.layer_norm_backward_input(side(dy), side(x), side(weight), side(statistics),
                                              side(more), Write::Add);
            kernels.layer_norm_backward_weight(side(dy), side(x), side(statistics), side(dweight),
                                               side(dbias));
        });
        expect_alike(y, "y");
        expect_alike(statistics, "statistics");
        if (hidden > 1) expect_alike(dx, "dx");
        expect_alike(more, "dx added");
        if (hidden > 1) expect_alike(dweight, "dweight");
        expect_alike(dbias, "dbias");
    }
}

TEST_P(KernelsTest, LayerNormWithoutBias) {
    for (const std::int64_t hidden : {31, 64, 770}) {
        const Shape shape{3, 37, hidden};
        const Twins x = random(shape), dy = random(shape), weight = random({hidden});
        const Twins y = random(shape), statistics = fp32({3, 37, 2});
        const Twins branch = random(shape), sum = random(shape), of_sum = fp32({3, 37, 2});
        const Twins dx = random(shape), dweight = fp32({hidden});
        both([&](Kernels& kernels, Side side) {
            kernels.layer_norm_forward(1e-2, side(x), side(weight), {}, side(y), side(statistics));
            kernels.layer_norm_backward(side(dy), side(x), side(weight), side(statistics), {},
                                        side(dx), side(dweight), {});
            kernels.residual_layer_norm_forward(1e-2, side(x), side(branch), side(weight), {},
                                                side(sum), side(branch), side(of_sum));
        });
        expect_alike(y, "y");
        expect_alike(dx, "dx");
        expect_alike(dweight, "dweight");
        expect_alike(branch, "of a sum", 4);  // which was rounded
    }
}

TEST_P(KernelsTest, RmsNorm) {
    for (const std::int64_t hidden : {1, 31, 64, 770}) {
        const Shape shape{3, 37, hidden};
        const Twins x = random(shape), dy = random(shape), weight = random({hidden});
        const Twins y = random(shape), statistics = fp32({3, 37});
        const Twins dx = random(shape), more = random(shape), dweight = fp32({hidden});
        both([&](Kernels& kernels, Side side) {
            kernels.rms_norm_forward(1e-2, side(x), side(weight), side(y), side(statistics));
            kernels.rms_norm_backward_input(side(dy), side(x), side(weight), side(statistics),
                                            side(dx), Write::Overwrite);
            kernels.rms_norm_backward_input(side(dy), side(x), side(weight), side(statistics),
                                            side(more), Write::Add);
            kernels.rms_norm_backward_weight(side(dy), side(x), side(statistics), side(dweight));
        });
        expect_alike(y, "y");
        expect_alike(statistics, "statistics");
        expect_alike(dx, "dx");
        expect_alike(more, "dx added");
        expect_alike(dweight, "dweight");
    }
}

}  // namespace
}  // namespace debubble::exec
