#include "trace/profile/formats/recorded_kernels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "tests/support/source_folder.h"

namespace debubble::profile {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool is_product(std::string_view name) {
    return name == "aten::mm" || name == "aten::linear";
}

std::string on_gpu(const std::string& events) {
    return R"({"deviceProperties": [{"name": "NVIDIA H100"}], "traceEvents": [)" + events + "]}";
}

RecordedKernels read(const std::string& text) {
    return read_recorded_kernels_text(text, "rank-0.json", is_product);
}

std::string refused(const std::string& text) {
    try {
        read(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

std::string op(int external, int thread, int begin, int length,
               const std::string& args = R"("Input Dims": [[8, 4], [4, 2]])",
               const std::string& name = "aten::mm") {
    return fmt::format(R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": {}, "ts": {},
                           "dur": {}, "args": {{"External id": {}, {}}}}},)",
                       name, thread, begin, length, external, args);
}

std::string launch(int correlation, int thread, int begin) {
    return fmt::format(R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                           "tid": {}, "ts": {}, "dur": 1, "args": {{"correlation": {}}}}},)",
                       thread, begin, correlation);
}

std::string kernel(const std::string& name, int length, int external, int correlation) {
    return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": 900,
                           "dur": {}, "args": {{"External id": {}, "correlation": {}}}}},)",
                       name, length, external, correlation);
}

/// The last event has no comma after it.
std::string ended(std::string events) {
    events.pop_back();
    return on_gpu(events);
}

TEST(RecordedKernels, BelongToTheOperatorWhoseIdTheyHave) {
    const RecordedKernels found =
        read(ended(kernel("nvjet_tst_128x64", 30, 5, 1) + op(5, 1, 10, 5) +
                   kernel("nvjet_tst_128x64", 50, 6, 2) + op(6, 2, 10, 5) +
                   kernel("nvjet_tst_128x64", 7, 99, 3)));
    ASSERT_EQ(found.operators.size(), 1U);
    EXPECT_EQ(found.operators[0].name, "aten::mm");
    EXPECT_THAT(found.operators[0].lengths, ElementsAre(30'000, 50'000));
    EXPECT_THAT(found.operators[0].inputs[1].dims, ElementsAre(4, 2));
    EXPECT_EQ(found.device, "NVIDIA H100");
    EXPECT_EQ(found.others, 7'000) << "of a product that no operator launched";
}

TEST(RecordedKernels, BelongToTheInnermostOperatorInWhichTheirLaunchLies) {
    const std::string linear =
        op(0, 1, 10, 50, R"("Input Dims": [[8, 4], [2, 4]])", "aten::linear");
    const RecordedKernels found = read(ended(
        linear + op(0, 1, 20, 10) + launch(1, 1, 25) + launch(2, 1, 40) + launch(3, 2, 25) +
        launch(4, 1, 70) + kernel("sm90_xmma_gemm", 3, 0, 1) + kernel("sm90_xmma_gemm", 4, 0, 2) +
        kernel("sm90_xmma_gemm", 5, 0, 3) + kernel("sm90_xmma_gemm", 6, 0, 4)));
    ASSERT_EQ(found.operators.size(), 2U);
    EXPECT_EQ(found.operators[0].name, "aten::linear");
    EXPECT_THAT(found.operators[0].lengths, ElementsAre(4'000));
    EXPECT_THAT(found.operators[1].lengths, ElementsAre(3'000));
    EXPECT_EQ(found.others, 11'000) << "launched by another thread, and after the operators";
}

TEST(RecordedKernels, AnIdThatTwoOperatorsHaveTellsNothing) {
    const RecordedKernels found = read(ended(
        op(5, 1, 10, 5) + op(5, 1, 30, 5, R"("Input Dims": [[1, 4], [4, 2]])") + launch(1, 1, 32) +
        kernel("sm90_xmma_gemm", 3, 5, 1) + kernel("sm90_xmma_gemm", 4, 5, -1)));
    ASSERT_EQ(found.operators.size(), 1U);
    EXPECT_THAT(found.operators[0].inputs[0].dims, ElementsAre(1, 4));
    EXPECT_EQ(found.others, 4'000);
}

TEST(RecordedKernels, OfARunAreAddedUpWithoutWhatOnlyMovesData) {
    const RecordedKernels found =
        read(ended(op(5, 1, 10, 5) + kernel("nvjet_tst_128x64_splitK", 30, 5, 1) +
                   kernel("void cublasLt::splitKreduce_kernel<32, 16>", 8, 5, 2) +
                   kernel("void at::native::vectorized_elementwise_kernel<4>", 100, 5, 3) +
                   kernel("a_kernel_that_no_rule_knows", 2, 5, 4) +
                   kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 400, 5, 5)));
    EXPECT_THAT(found.operators[0].lengths, ElementsAre(40'000));
    EXPECT_EQ(found.others, 0);
}

TEST(RecordedKernels, WithoutADeviceInnermostOperatorsCount) {
    const std::string linear =
        op(1, 1, 10, 50, R"("Input Dims": [[8, 4], [2, 4]])", "aten::linear");
    std::string events = linear + op(2, 1, 20, 10) + op(3, 1, 100, 7);
    events.pop_back();
    const RecordedKernels found =
        read(R"({"deviceProperties": [], "traceEvents": [)" + events + "]}");
    ASSERT_EQ(found.operators.size(), 1U);
    EXPECT_THAT(found.operators[0].lengths, ElementsAre(10'000, 7'000));
    EXPECT_FALSE(found.device);
    EXPECT_FALSE(found.on_device);
}

/// Operators return before their kernels have run, so that their own times say nothing there.
TEST(RecordedKernels, WithoutKernelsOfADeviceThatWasUsedAreNone) {
    std::string launched = launch(1, 1, 25);
    launched.replace(launched.find("cuda_runtime"), 12, "mtia_runtime");
    std::string events = op(2, 1, 20, 10) + launched;
    events.pop_back();
    const RecordedKernels found = read(R"({"traceEvents": [)" + events + "]}");
    EXPECT_TRUE(found.on_device);
    EXPECT_THAT(found.operators, IsEmpty());
}

TEST(RecordedKernels, ReadWhatIsWrittenOfInputs) {
    const std::string args =
        R"("Input Dims": [[8, 4], [], [[1, 2], [3]]], "Input type": ["c10::BFloat16", "Scalar", "TensorList"],
           "Input Strides": [[1, 8], [], [[2, 1], [1]]], "Concrete Inputs": ["", "True", ""])";
    const RecordedKernels found = read(ended(op(5, 1, 10, 5, args) + kernel("gemm", 1, 5, 1)));
    const std::vector<OperatorInput>& inputs = found.operators[0].inputs;
    ASSERT_EQ(inputs.size(), 3U);
    EXPECT_EQ(inputs[0].type, "c10::BFloat16");
    EXPECT_THAT(inputs[0].strides.value(), ElementsAre(1, 8));
    EXPECT_EQ(inputs[1].value, "True");
    EXPECT_THAT(inputs[2].dims, IsEmpty());
}

TEST(RecordedKernels, SayWhatAProfileLacks) {
    RecordedKernels found = read(ended(op(5, 1, 1, 1, R"("Record function id": 0)")));
    EXPECT_TRUE(found.has_wanted);
    EXPECT_FALSE(found.has_sizes);
    found = read(ended(op(5, 1, 1, 1, R"("a": 0)", "aten::add")));
    EXPECT_TRUE(found.has_operators);
    EXPECT_FALSE(found.has_wanted);
    EXPECT_FALSE(read(on_gpu("")).has_operators);
}

/// A profile of a step by PyTorch without record_shapes.
TEST(RecordedKernels, OfARealProfileWithoutShapesAreNone) {
    const auto file = source_folder() / "tests/trace/profile/data/ddp_one_step.json.gz";
    const RecordedKernels found = read_recorded_kernels(file.string(), is_product);
    EXPECT_EQ(found.device, "NVIDIA A100-PG509-200");
    EXPECT_FALSE(found.has_sizes);
    EXPECT_GT(found.others, 1'000'000);
}

TEST(RecordedKernels, OfATextThatEndsEarlyAreReadUpToThere) {
    const std::string text = on_gpu(op(5, 1, 10, 5) + kernel("gemm", 1, 5, 1));
    const RecordedKernels found = read(text.substr(0, text.size() - 2));
    EXPECT_THAT(found.cut_off.value(), HasSubstr("after 2 events"));
    EXPECT_EQ(found.operators.size(), 1U);
}

TEST(RecordedKernels, OfBadInputsAreMistakesWithTheirByte) {
    const auto with = [](const std::string& args) { return refused(ended(op(5, 1, 1, 1, args))); };
    for (const char* args :
         {R"("Input Dims": 5)", R"("Input Dims": ["8"])", R"("Input Dims": [[8, -1]])",
          R"("Input Dims": [[8.5]])", R"("Input Dims": [[99999999999999999999]])",
          R"("Input Dims": [{}])", R"("Input Dims": [[true]])"}) {
        EXPECT_THAT(with(args), AllOf(HasSubstr("rank-0.json: "), HasSubstr("(at byte "))) << args;
        EXPECT_THAT(with(args), HasSubstr("operator")) << args;
    }
    EXPECT_THAT(refused(ended(op(5, 1, 1, -1))), HasSubstr("less than zero"));
    EXPECT_THAT(refused(on_gpu("5")), HasSubstr("must be an object"));
}

}  // namespace
}  // namespace debubble::profile
