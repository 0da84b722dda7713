#include "exec/cuda/products/product_choices.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "tests/exec/cuda/cublas/fake_cublas_lt.h"

/// What cuBLASLt is asked for, and what is done with its answers; the library is a fake.
namespace debubble::exec::cuda {
namespace {

using Algorithms = std::vector<int>;

class NoGpuAtAll final : public Gpu {
public:
    std::unique_ptr<Queue> make_queue(bool /*communicates*/) override { return nullptr; }
    Event make_event() override { return nullptr; }
    void destroy(Event /*event*/) noexcept override {}
    bool reached(Event /*event*/) override { return true; }
    std::chrono::nanoseconds between(Event /*earlier*/, Event /*later*/) override { return {}; }
    void* allocate(std::int64_t /*size*/) override { return nullptr; }
    void free(void* /*memory*/) noexcept override {}
    void* pin(std::int64_t /*size*/) override { return nullptr; }
    void unpin(void* /*memory*/) noexcept override {}
    std::int32_t number() const override { return 0; }
};
class NoQueueAtAll final : public Queue {
public:
    using Queue::Queue;
    Stream stream() override { return nullptr; }
    void copy(const void* /*from*/, void* /*to*/, std::int64_t /*size*/) override {}
    void fill_zero(void* /*memory*/, std::int64_t /*size*/) override {}
    void record(Event /*event*/) override {}
    void wait(Event /*event*/) override {}
};

class CublasLtTest : public testing::Test {
protected:
    CublasLtTest() { fake_cublas_lt = {}; }

    std::unique_ptr<Matmul> library() { return make_cublas_lt(queue_, how_); }
    /// c [m, 16] = a [m, 32] b [32, 16]; products of another m are of another kind.
    Product product(std::int64_t m = 8, Type type = Type::Bf16) {
        Product p;
        p.m = m, p.n = 16, p.k = 32;
        p.a = {{memory_, type}, p.k};
        p.b = {{memory_ + 1024, type}, p.n};
        p.c = {memory_ + 2048, type};
        return p;
    }
    /// The algorithms of the products that were asked for since the last call.
    Algorithms asked() { return std::exchange(fake_cublas_lt.asked, {}); }

    alignas(256) std::byte memory_[4096] = {};
    NoGpuAtAll gpu_;
    NoQueueAtAll queue_{gpu_};
    ProductChoosing how_;
};

TEST_F(CublasLtTest, KnowsTheMultiprocessorsThatCommunicationsLeave) {
    const auto matmul = library();
    const auto& told = fake_cublas_lt.product;
    (*matmul)(product(1));
    EXPECT_FALSE(told.contains(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET)) << "it counts them itself";
    how_.multiprocessors = 124;
    (*matmul)(product(2));
    ASSERT_TRUE(told.contains(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET));
    EXPECT_EQ(told.at(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET), 124u);
}

TEST_F(CublasLtTest, AddsPartsOfASumInFp32Only) {
    for (const Type type : {Type::Bf16, Type::Fp16, Type::Fp32}) {
        (*library())(product(8, type));
        EXPECT_EQ(fake_cublas_lt.compute, CUBLAS_COMPUTE_32F);
        EXPECT_EQ(fake_cublas_lt.scale, CUDA_R_32F);
        EXPECT_EQ(fake_cublas_lt.wish.at(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK),
                  std::uint64_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    }
}

TEST_F(CublasLtTest, TakesTheFirstAlgorithmThatIsNotRefusedAndKeepsIt) {
    fake_cublas_lt.proposes = {1, 2, 3, 4};
    fake_cublas_lt.answers = {{1, CUBLAS_STATUS_NOT_SUPPORTED}, {2, CUBLAS_STATUS_ARCH_MISMATCH}};
    const auto matmul = library();
    (*matmul)(product());
    EXPECT_EQ(asked(), (Algorithms{1, 2, 3}));
    (*matmul)(product());
    EXPECT_EQ(asked(), Algorithms{3});
    EXPECT_EQ(fake_cublas_lt.heuristics, 1);
    (*matmul)(product(9));
    EXPECT_EQ(asked(), (Algorithms{1, 2, 3})) << "of another kind nothing is known";
}

TEST_F(CublasLtTest, AnEpilogueThatIsRefusedIsLeftToKernels) {
    Product gelu = product();
    gelu.epilogue = Epilogue::Gelu;
    gelu.wide = {memory_ + 3072, Type::Bf16};
    const auto matmul = library();
    EXPECT_TRUE(matmul->at_once(gelu));
    EXPECT_EQ(fake_cublas_lt.product.at(CUBLASLT_MATMUL_DESC_EPILOGUE),
              std::uint64_t{CUBLASLT_EPILOGUE_GELU_AUX});

    fake_cublas_lt.answers = {{1, CUBLAS_STATUS_NOT_SUPPORTED}};
    EXPECT_FALSE(library()->at_once(gelu));
    fake_cublas_lt.heuristic = CUBLAS_STATUS_NOT_SUPPORTED;
    asked();
    EXPECT_FALSE(library()->at_once(gelu));
    EXPECT_EQ(asked(), Algorithms{}) << "proposals of a call that fails are none";
    EXPECT_THROW((*library())(product()), WorldError) << "a plain product has no other way";
}

TEST_F(CublasLtTest, AnErrorOfTheGpuIsNoRefusal) {
    fake_cublas_lt.proposes = {1, 2};
    fake_cublas_lt.answers = {{1, CUBLAS_STATUS_EXECUTION_FAILED}};
    EXPECT_THROW(library()->at_once(product()), WorldError);
    EXPECT_EQ(asked(), Algorithms{1});
}

TEST_F(CublasLtTest, IsNotAskedForWhatItRoundsOrStridesInAnotherWay) {
    const auto matmul = library();
    Product gelu = product(8, Type::Fp32);
    gelu.epilogue = Epilogue::Gelu;
    gelu.wide = {memory_ + 3072, Type::Fp32};
    EXPECT_FALSE(matmul->at_once(gelu));
    Product sums = product();
    float sum[16] = {};
    sums.sums = sum;
    EXPECT_FALSE(matmul->at_once(sums)) << "sums beside a result of 16 bits";
    Product narrow = product();
    narrow.n = 12;
    narrow.epilogue = Epilogue::Gelu;
    narrow.wide = {memory_ + 3072, Type::Bf16};
    EXPECT_FALSE(matmul->at_once(narrow));
    EXPECT_EQ(fake_cublas_lt.heuristics, 0);
}

/// Times of which the third algorithm's is the shortest.
void let_the_third_be_the_fastest() {
    fake_cublas_lt.proposes = {1, 2, 3, 4};
    fake_cublas_lt.milliseconds = {{1, 5.F}, {2, 1.F}, {3, 2.F}, {4, 3.F}};
    fake_cublas_lt.answers = {{2, CUBLAS_STATUS_NOT_SUPPORTED}};
}

/// What a run has from the cluster's file.
ProductChoosing taking(ProductChoices choices) {
    ProductChoosing how;
    how.chosen = std::move(choices);
    return how;
}

TEST_F(CublasLtTest, ChoicesThatARehearsalTimedAreThoseOfARun) {
    let_the_third_be_the_fastest();
    how_.times = true;
    {
        const auto matmul = library();
        (*matmul)(product());
        asked();
        (*matmul)(product());
        EXPECT_EQ(asked(), Algorithms{3});
    }
    ASSERT_EQ(how_.timed.size(), 1u);
    EXPECT_EQ(how_.timed.begin()->second.substr(0, 23), "130102:0000000000000003");

    how_ = taking(how_.timed);
    const auto matmul = library();
    (*matmul)(product());
    EXPECT_EQ(asked(), Algorithms{3}) << "taken without a trial";
    (*matmul)(product(9));
    EXPECT_EQ(asked(), Algorithms{1}) << "of a product that was not timed, the library's first";
    EXPECT_TRUE(how_.timed.empty());
}

TEST_F(CublasLtTest, ChoicesOfAnotherVersionOrOfNoAlgorithmAreLeft) {
    let_the_third_be_the_fastest();
    how_.times = true;
    (*library())(product());
    const auto [words, text] = *how_.timed.begin();
    const auto taken_by = [&](const std::string& choice) {
        asked();
        how_ = taking({{words, choice}});
        (*library())(product());
        return asked();
    };
    EXPECT_EQ(taken_by(text), Algorithms{3});
    std::string no_number = text;
    no_number[10] = 'x';
    for (const std::string& other : {std::string(), std::string("130102:"), no_number, text + "0",
                                     "130103" + text.substr(6), text.substr(0, text.size() - 1)})
        EXPECT_EQ(taken_by(other), Algorithms{1}) << other;
    fake_cublas_lt.unknown = {3};
    EXPECT_EQ(taken_by(text), Algorithms{1}) << "the library has it no more";
    fake_cublas_lt.unknown = {};
    fake_cublas_lt.answers[3] = CUBLAS_STATUS_NOT_SUPPORTED;
    EXPECT_EQ(taken_by(text), (Algorithms{3, 1})) << "the library has it, and refuses it";
}

}  // namespace
}  // namespace debubble::exec::cuda
