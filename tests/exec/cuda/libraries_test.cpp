#include <vector>

#include <gtest/gtest.h>

#include "exec/core/tensor.h"
#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/emulation/emulated_gpu.h"

/// The work that libraries are asked for, and the kernels that do the rest.
namespace debubble::exec::cuda {
namespace {

TEST(AttentionLibrary, IsForWholeSequencesIn16BitsThatDropNothing) {
    AttentionShape whole{2, 128, 128, 8, 2, 64};
    whole.value_dim = 64;
    EXPECT_TRUE(is_for_library(whole, Type::Bf16));
    EXPECT_TRUE(is_for_library(whole, Type::Fp16));
    EXPECT_FALSE(is_for_library(whole, Type::Fp32));
    AttentionShape other = whole;
    other.keys = 256, other.first_query = 128;
    EXPECT_FALSE(is_for_library(other, Type::Bf16)) << "a later slice";
    other = whole;
    other.dropped.scale = 1.25F;
    EXPECT_FALSE(is_for_library(other, Type::Bf16)) << "dropout";
    other = whole;
    other.head_dim = 36;
    EXPECT_FALSE(is_for_library(other, Type::Bf16)) << "rows that begin anywhere";
    other = whole;
    other.window = 100;
    EXPECT_FALSE(is_for_library(other, Type::Bf16)) << "a window";
    other = whole;
    other.head_dim = 96;
    EXPECT_FALSE(is_for_library(other, Type::Bf16)) << "narrow values";
    other = whole;
    other.soft_cap = 50;
    EXPECT_FALSE(is_for_library(other, Type::Bf16)) << "capped scores";
}

/// Notes what it is asked, and says that it has done it, or not.
class Noting final : public AttentionLibrary {
public:
    Noting(bool does, std::vector<AttentionShape>& asked) : does_(does), asked_(asked) {}
    bool forward(Stream, const AttentionShape& shape, Operand, Operand, Operand, Result,
                 float*) override {
        asked_.push_back(shape);
        return does_;
    }
    bool backward(Stream, const AttentionShape& shape, Operand, Operand, Operand, Operand, Operand,
                  const float*, Result, Result, Result) override {
        asked_.push_back(shape);
        return does_;
    }

private:
    bool does_;
    std::vector<AttentionShape>& asked_;
};

/// One query that sees one key: the result is the value, and the query's gradient is zero.
class AttentionLibraryTest : public testing::Test {
protected:
    static constexpr int kWidth = 8;

    std::vector<float> attend(bool library_does) {
        EmulatedGpu gpu({}, 0);
        std::byte* memory = gpu.reserve(Bytes{1 << 16});
        const std::unique_ptr<Queue> queue = gpu.make_queue(false);
        {
            CudaKernels kernels(*queue, nullptr, std::make_unique<Noting>(library_does, asked_));
            const auto tensor = [&](const Shape& shape) {
                return TensorView{std::exchange(memory, memory + 256), shape, DataType::Fp32};
            };
            const Shape shape{1, 1, 1, kWidth};
            const TensorView q = tensor(shape), k = tensor(shape), v = tensor(shape);
            const TensorView out = tensor(shape), log_sum = tensor({1, 1, 1});
            const TensorView dq = tensor(shape), dk = tensor(shape), dv = tensor(shape);
            const Tensor ones(shape), values(shape), found(shape);
            for (int i = 0; i < kWidth; ++i)
                ones.as<float>()[i] = 1, values.as<float>()[i] = static_cast<float>(i);
            for (const TensorView& view : {q, k, out, dq, dk, dv})
                kernels.upload(ones.view(), view);
            kernels.upload(values.view(), v);
            Attention how;
            how.key_gradients = Write::Overwrite;
            kernels.attention_forward(how, q, k, v, out, log_sum);
            kernels.attention_backward_input(how, v, q, k, v, out, log_sum, dq, dk, dv);
            kernels.download(out, found.view());
            found_ = {found.as<float>().begin(), found.as<float>().end()};
            kernels.download(dv, found.view());
            for (int i = 0; i < kWidth; ++i) gradient_.push_back(found.as<float>()[i]);
        }
        gpu.release();
        return found_;
    }

    std::vector<AttentionShape> asked_;
    std::vector<float> found_, gradient_;
};

TEST_F(AttentionLibraryTest, ItIsAskedFirst) {
    EXPECT_EQ(attend(true), std::vector<float>(kWidth, 1)) << "our own kernels ran";
    ASSERT_EQ(asked_.size(), 2);
    EXPECT_EQ(asked_[0].head_dim, kWidth);
    EXPECT_FALSE(asked_[1].adds_keys);
}

TEST_F(AttentionLibraryTest, OurOwnKernelsDoWhatItDoesNot) {
    const std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_EQ(attend(false), values);
    EXPECT_EQ(gradient_, values);
    EXPECT_EQ(asked_.size(), 2);
}

/// Takes no bias, and leaves the result as it is.
class WithoutBias final : public Matmul {
public:
    explicit WithoutBias(std::vector<bool>& had_bias) : had_bias_(had_bias) {}
    void operator()(const Product& product) override {
        had_bias_.push_back(static_cast<bool>(product.bias));
    }
    bool at_once(const Product& product) override {
        had_bias_.push_back(static_cast<bool>(product.bias));
        return false;
    }

private:
    std::vector<bool>& had_bias_;
};

TEST(Products, ABiasThatTheLibraryCannotTakeIsAddedAfterTheProduct) {
    EmulatedGpu gpu({}, 0);
    std::byte* const memory = gpu.reserve(Bytes{1 << 16});
    const std::unique_ptr<Queue> queue = gpu.make_queue(false);
    std::vector<bool> had_bias;
    const Tensor y({2, 3}), bias({3});
    {
        CudaKernels kernels(*queue, std::make_unique<WithoutBias>(had_bias));
        const TensorView on_y{memory, {2, 3}, DataType::Fp32};
        const TensorView on_bias{memory + 256, {3}, DataType::Fp32};
        const TensorView square{memory + 512, {3, 3}, DataType::Fp32};
        for (int i = 0; i < 3; ++i) {
            bias.as<float>()[i] = static_cast<float>(i + 1);
            y.as<float>()[i] = y.as<float>()[3 + i] = 10;
        }
        kernels.upload(y.view(), on_y);
        kernels.upload(bias.view(), on_bias);
        kernels.linear_forward(WeightLayout::InputsOutputs, on_y, square, on_bias, on_y);
        kernels.download(on_y, y.view());
    }
    gpu.release();
    EXPECT_EQ(had_bias, (std::vector<bool>{true, false}));
    EXPECT_EQ((std::vector<float>{y.as<float>().begin(), y.as<float>().end()}),
              (std::vector<float>{11, 12, 13, 11, 12, 13}));
}

}  // namespace
}  // namespace debubble::exec::cuda
