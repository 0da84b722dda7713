#include "exec/cpu/cpu_kernels.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

#include "base/diagnostic.h"
#include "exec/cpu/vectorise.h"
#include "tests/exec/support/tensors.h"

namespace debubble::exec {
namespace {

TEST(CpuKernels, GoByTheirNames) {
    EXPECT_EQ(make_cpu_kernels("fixed-order", 1)->name(), "fixed-order");
    EXPECT_EQ(make_cpu_kernels("reference", 1)->name(), "fixed-order") << "its other name";
    EXPECT_EQ(make_cpu_kernels("auto", 1)->name(), has_onednn() ? "onednn" : "fixed-order");
    try {
        make_cpu_kernels("mkl", 1);
        FAIL() << "no such kernels";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "error: unknown kernels 'mkl'; choose auto, onednn or fixed-order\n");
    }
}

TEST(CpuKernels, AreNamedWithoutBeingMade) {
    EXPECT_EQ(cpu_back_end("fixed-order"), CpuBackEnd::FixedOrder);
    EXPECT_EQ(cpu_back_end("reference"), CpuBackEnd::FixedOrder) << "its other name";
    EXPECT_EQ(cpu_back_end("auto"), has_onednn() ? CpuBackEnd::OneDnn : CpuBackEnd::FixedOrder);
    EXPECT_THROW(cpu_back_end(""), InputError);
    for (const CpuBackEnd each : {CpuBackEnd::FixedOrder, CpuBackEnd::OneDnn}) {
        if (each == CpuBackEnd::OneDnn && !has_onednn()) {
            EXPECT_THROW(cpu_back_end(name_of(each)), InputError);
            continue;
        }
        EXPECT_EQ(cpu_back_end(name_of(each)), each);
        EXPECT_EQ(make_cpu_kernels(name_of(each), 1)->name(), name_of(each));
    }
}

TEST(CpuKernels, RunOnOneThreadAtLeast) {
    EXPECT_THROW(make_cpu_kernels("auto", 0), InputError);
}

/// Whether oneDNN's name of instructions is within a width of vectors.
bool is_within(const std::string& instructions, VectorUnit unit) {
    const bool sse = instructions == "sse41", wide = instructions.starts_with("avx512");
    switch (unit) {
        case VectorUnit::Baseline: return sse;
        case VectorUnit::Avx2: return !wide;
        case VectorUnit::Avx512: return true;
    }
    return false;
}

TEST(CpuKernels, OfOneDnnUseNoWiderInstructionsThanTheVectorUnitAllows) {
    if (!has_onednn()) GTEST_SKIP() << "this build has no oneDNN";
    if (!std::getenv("DEBUBBLE_VECTOR_UNIT")) GTEST_SKIP() << "DEBUBBLE_VECTOR_UNIT is not set";
    if (std::getenv("ONEDNN_MAX_CPU_ISA")) GTEST_SKIP() << "ONEDNN_MAX_CPU_ISA decides";
    EXPECT_PRED2(is_within, onednn_instructions(), vector_unit());
}

/// Weight gradients, attention and a norm of gradients: the kernels that sum over many rows.
std::vector<Tensor> sums_of(Kernels& kernels) {
    const Tensor q = random_tensor<float>({2, 150, 4, 32}, 1),
                 k = random_tensor<float>(q.shape(), 2);
    const Tensor dout = random_tensor<float>(q.shape(), 3), log_sum({2, 4, 150});
    std::vector<Tensor> sums;
    for (int i = 0; i < 4; ++i) sums.emplace_back(q.shape());
    const Attention how{.scale = 0.2};
    kernels.attention_forward(how, q.view(), k.view(), dout.view(), sums[0].view(), log_sum.view());
    kernels.attention_backward_input(how, dout.view(), q.view(), k.view(), dout.view(),
                                     sums[0].view(), log_sum.view(), sums[1].view(), sums[2].view(),
                                     sums[3].view());
    sums.emplace_back(Shape{128, 128});
    sums.emplace_back(Shape{128});
    kernels.linear_backward_weight(WeightLayout::InputsOutputs, q.view().reshaped({2, 150, 128}),
                                   dout.view().reshaped({2, 150, 128}), sums[4].view(),
                                   sums[5].view());
    sums.emplace_back(Shape{1}, DataType::Fp64);
    kernels.sum_of_squares(dout.view(), sums[6].view());
    kernels.finish();
    return sums;
}

TEST(CpuKernels, GiveTheSameBitsInEveryRunWithTheSameThreads) {
    for (const int threads : {1, 2, 3}) {
        const std::vector<Tensor> once = sums_of(*make_cpu_kernels("auto", threads));
        const std::vector<Tensor> again = sums_of(*make_cpu_kernels("auto", threads));
        for (std::size_t i = 0; i < once.size(); ++i) EXPECT_TRUE(same_bits(once[i], again[i]));
    }
}

TEST(CpuKernels, OfSeveralRanksRunSideBySide) {
    const std::vector<Tensor> alone = sums_of(*make_cpu_kernels("auto", 2));
    std::vector<std::vector<Tensor>> of_rank(4);
    std::vector<std::thread> ranks;
    for (std::vector<Tensor>& sums : of_rank) {
        ranks.emplace_back([&sums] { sums = sums_of(*make_cpu_kernels("auto", 2)); });
    }
    for (std::thread& rank : ranks) rank.join();
    for (const std::vector<Tensor>& sums : of_rank) {
        ASSERT_EQ(sums.size(), alone.size());
        for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_TRUE(same_bits(sums[i], alone[i]));
    }
}

}  // namespace
}  // namespace debubble::exec
