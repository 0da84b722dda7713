#include <cmath>

#include "exec/core/kernels.h"
#include "tests/exec/kernels/kernels_twins.h"

namespace debubble::exec {
namespace {

using Side = Twins::Side;

/// Slices of a matrix [9, 40], each in a flat tensor of 400 elements: whole runs of a thread, runs
/// that no read of 16 bytes serves, the rest of a row, and a matrix that lies the other way.
const std::vector<MatrixSlice> kSlices{
    {.rows = 5,
     .columns = 16,
     .first = 32,
     .row_stride = 24,
     .first_in_whole = 48,
     .whole_row = 40},
    {.rows = 9, .columns = 8, .first = 3, .row_stride = 40, .first_in_whole = 17, .whole_row = 40},
    {.rows = 1,
     .columns = 13,
     .first = 101,
     .row_stride = 13,
     .first_in_whole = 67,
     .whole_row = 40},
    {.rows = 9,
     .columns = 40,
     .first = 0,
     .row_stride = 1,
     .column_stride = 9,
     .first_in_whole = 0,
     .whole_row = 40}};

TEST_P(KernelsTest, MuonAdvancesTheMomentumOfASlice) {
    for (const MatrixSlice& slice : kSlices)
        for (const bool nesterov : {false, true}) {
            const MuonMomentum how{0.9, nesterov, 0.5};
            const Twins gradient = random({400}), moment = random({400}), whole = fp32({9, 40});
            const Tensor before = whole.tested.clone();
            both([&](Kernels& kernels, Side side) {
                kernels.muon_momentum(how, slice, side(gradient), side(moment), side(whole));
            });
            expect_alike(moment, "moment");
            expect_alike(whole, "whole");
            std::int64_t written = 0;
            for (std::int64_t i = 0; i < 360; ++i)
                written += whole.tested.as<float>()[i] != before.as<float>()[i];
            EXPECT_EQ(written, slice.rows * slice.columns) << "the rest of the matrix stays";
        }
}

TEST_P(KernelsTest, MuonStepsMainAndItsCopyAlongAMatrix) {
    for (const MatrixSlice& slice : kSlices) {
        const Twins whole = fp32({9, 40}), main = fp32({400}), copy = random({400});
        const Twins alone = random({400});
        both([&](Kernels& kernels, Side side) {
            kernels.muon_step(0.99, 0.25, slice, side(whole), side(main), side(copy));
            kernels.muon_step(0.99, 0.25, slice, side(whole), side(alone), {});
        });
        expect_alike(main, "main");
        expect_alike(copy, "its copy");
        expect_alike(alone, "a weight without one");
    }
}

TEST_P(KernelsTest, MuonScalesMatricesToUnitNorm) {
    for (const std::int64_t columns : {1, 53, 4096}) {
        const Twins x = fp32({37, columns});
        both([&](Kernels& kernels, Side side) {
            kernels.scale_to_unit_norm(side(x));
            kernels.scale_to_unit_norm(side(x));  // nothing of the first sum is left
        });
        expect_alike(x, "x");
        double squares = 0;
        for (const float value : x.tested.as<float>()) squares += double{value} * double{value};
        EXPECT_NEAR(squares, 1, 1e-5);
    }
    const Twins zero = fp32({5, 7});
    both([&](Kernels& kernels, Side side) {
        kernels.fill_zero(side(zero));
        kernels.scale_to_unit_norm(side(zero));
    });
    EXPECT_TRUE(same_bits(zero.tested, Tensor({5, 7})));
}

TEST_P(KernelsTest, MuonCombinesMatrices) {
    const Twins x = fp32({7, 53}), y = fp32({7, 53});
    both([&](Kernels& kernels, Side side) { kernels.combine(-4.775, side(x), 2.0315, side(y)); });
    expect_alike(y, "a x + b y");
}

}  // namespace
}  // namespace debubble::exec
