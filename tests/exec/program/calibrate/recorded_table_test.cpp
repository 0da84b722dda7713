#include "exec/program/calibrate/recorded_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/program/calibrate/operator_shapes.h"
#include "tests/exec/support/scratch_folder.h"

namespace debubble::exec {
namespace {

using testing::HasSubstr;
using Dims = std::vector<std::int64_t>;
using profile::OperatorInput;

OperatorInput tensor(const Dims& dims, const Dims& strides = {},
                     const std::string& type = "c10::BFloat16") {
    return {dims, strides, type, ""};
}
OperatorInput scalar(const std::string& value) {
    return {{}, {}, "Scalar", value};
}

OperatorShape shape(const std::string& name, std::vector<OperatorInput> inputs) {
    return table_shape({name, std::move(inputs), {1000}});
}

std::string line(const OperatorShape& shape) {
    if (!shape.kernel) return shape.missing;
    return fmt::format("{} {} {}", shape.kernel->kernel, shape.kernel->dtype,
                       shape.kernel->shape.dump());
}

/// The three products of a linear layer of 2,304 outputs and 768 inputs, for 4,096 tokens.
TEST(OperatorShapes, StridesTellAForwardFromGradients) {
    EXPECT_EQ(
        line(shape("aten::mm", {tensor({4096, 768}, {768, 1}), tensor({768, 2304}, {1, 768})})),
        R"(gemm bf16 {"b":1,"m":4096,"k":768,"n":2304,"layout":"TN","accumulate":false,"out_dtype":"bf16"})");
    EXPECT_EQ(
        line(shape("aten::mm", {tensor({4096, 2304}, {2304, 1}), tensor({2304, 768}, {768, 1})})),
        R"(gemm bf16 {"b":1,"m":4096,"k":2304,"n":768,"layout":"NN","accumulate":false,"out_dtype":"bf16"})");
    EXPECT_EQ(
        line(shape("aten::mm", {tensor({2304, 4096}, {1, 2304}), tensor({4096, 768}, {768, 1})})),
        R"(gemm bf16 {"b":1,"m":2304,"k":4096,"n":768,"layout":"NT","accumulate":false,"out_dtype":"bf16"})");
    EXPECT_EQ(line(shape("aten::mm", {tensor({4, 3}), tensor({3, 2})})),
              R"(gemm bf16 {"b":1,"m":4,"k":3,"n":2,"accumulate":false,"out_dtype":"bf16"})");
    EXPECT_EQ(
        line(shape("aten::linear", {tensor({2, 5, 3}, {15, 3, 1}, "float"),
                                    tensor({7, 3}, {3, 1}, "float"), tensor({7})})),
        R"(gemm fp32 {"b":1,"m":10,"k":3,"n":7,"layout":"TN","accumulate":false,"out_dtype":"fp32"})");
    EXPECT_EQ(
        line(shape("aten::bmm", {tensor({16, 8, 4}, {32, 4, 1}), tensor({16, 4, 8}, {32, 1, 4})})),
        R"(gemm bf16 {"b":16,"m":8,"k":4,"n":8,"layout":"TN","accumulate":false,"out_dtype":"bf16"})");
}

TEST(OperatorShapes, ASumIsAccumulatedAndABiasIsNot) {
    const auto accumulates = [](const std::string& name, const std::vector<OperatorInput>& inputs) {
        return shape(name, inputs).kernel->shape["accumulate"].get<bool>();
    };
    const OperatorInput a = tensor({8, 4}, {4, 1});
    const OperatorInput b = tensor({4, 2}, {2, 1});
    const OperatorInput one = scalar("1");
    EXPECT_FALSE(accumulates("aten::addmm", {tensor({2}), a, b, one, one}));
    EXPECT_TRUE(accumulates("aten::addmm", {tensor({8, 2}, {2, 1}), a, b, one, one}));
    EXPECT_FALSE(accumulates("aten::addmm", {tensor({8, 2}, {0, 1}), a, b, one, one}));
    EXPECT_FALSE(accumulates("aten::addmm", {tensor({8, 2}, {2, 1}), a, b, scalar("0."), one}));
    const OperatorInput wide = tensor({8, 2}, {2, 1}, "float");
    const OperatorShape summed =
        shape("aten::addmm", {wide, a, b, scalar("6"), one, one});  // its out_dtype is fp32
    EXPECT_EQ(summed.kernel->shape["out_dtype"], "fp32");
    EXPECT_TRUE(summed.kernel->shape["accumulate"].get<bool>());
    EXPECT_EQ(shape("aten::mm", {a, b, wide}).kernel->shape["out_dtype"], "fp32");
    EXPECT_EQ(shape("aten::mm", {a, b, scalar("6")}).kernel->shape["out_dtype"], "fp32");
}

TEST(OperatorShapes, ScalesTellTheTypeOfNarrowOperands) {
    const auto dtype = [](const OperatorInput& operand, const OperatorInput& scale) {
        OperatorInput b = operand;
        b.dims = {operand.dims[1], 64};
        const OperatorShape found = shape(
            "aten::_scaled_mm", {operand, b, scale, scale, {}, {}, scalar("15"), scalar("True")});
        return found.kernel ? found.kernel->dtype : found.missing;
    };
    const OperatorInput fp8 = tensor({32, 256}, {256, 1}, "c10::Float8_e4m3fn");
    EXPECT_EQ(dtype(fp8, tensor({}, {}, "float")), "fp8");
    EXPECT_EQ(dtype(fp8, tensor({32, 1}, {1, 1}, "float")), "fp8");
    EXPECT_EQ(dtype(fp8, tensor({32, 2}, {1, 32}, "float")), "fp8_block");
    EXPECT_EQ(dtype(fp8, tensor({256}, {1}, "c10::Float8_e8m0fnu")), "mxfp8");
    const OperatorInput fp4 = tensor({32, 128}, {128, 1}, "c10::Float4_e2m1fn_x2");
    EXPECT_EQ(dtype(fp4, tensor({512}, {1}, "c10::Float8_e4m3fn")), "nvfp4");
    EXPECT_EQ(dtype(fp4, tensor({256}, {1}, "c10::Float8_e8m0fnu")),
              "products of c10::Float4_e2m1fn_x2");
    const OperatorInput scale = tensor({512}, {1}, "c10::Float8_e4m3fn");
    OperatorInput b = fp4;
    b.dims = {128, 64};
    EXPECT_EQ(shape("aten::_scaled_mm", {fp4, b, scale, scale}).kernel->shape["k"], 256)
        << "two values of four bits are one element";
    const OperatorInput none;
    EXPECT_EQ(shape("aten::_scaled_mm_v2", {fp8, tensor({256, 64}, {1, 256}), none, scalar("[3]"),
                                            none, none, scalar("[3]"), none, none, scalar("15")})
                  .kernel->dtype,
              "mxfp8");
}

TEST(OperatorShapes, GroupedProductsHaveTheMeanRowsOfAnExpert) {
    const OperatorInput ends = tensor({8}, {1}, "int");
    EXPECT_EQ(
        line(shape("aten::_grouped_mm", {tensor({4096, 512}, {512, 1}),
                                         tensor({8, 512, 1024}, {524288, 1, 512}), ends})),
        R"(grouped_gemm bf16 {"ng":8,"M":512,"N":1024,"K":512,"stage":"fwd","accumulate":false,"out_dtype":"bf16"})");
    EXPECT_EQ(
        line(shape("aten::_grouped_mm", {tensor({4096, 1024}, {1024, 1}),
                                         tensor({8, 1024, 512}, {524288, 512, 1}), ends})),
        R"(grouped_gemm bf16 {"ng":8,"M":512,"N":512,"K":1024,"stage":"bwd_grad_act","accumulate":false,"out_dtype":"bf16"})");
    EXPECT_EQ(
        line(shape("aten::_grouped_mm",
                   {tensor({512, 4096}, {1, 512}), tensor({4096, 1024}, {1024, 1}), ends})),
        R"(grouped_gemm bf16 {"ng":8,"M":512,"N":1024,"K":512,"stage":"bwd_grad_w","accumulate":false,"out_dtype":"bf16"})");
}

std::vector<OperatorInput> flash_forward(const Dims& query, const Dims& key,
                                         const std::string& causal, const std::string& left = "",
                                         const std::string& right = "") {
    return {tensor(query),
            tensor(key),
            tensor(key),
            {},
            {},
            scalar("64"),
            scalar("64"),
            scalar("0."),
            scalar(causal),
            scalar("False"),
            {},
            scalar(left),
            scalar(right),
            {},
            {}};
}

TEST(OperatorShapes, OfAttentionsHaveTheirMaskAndHeads) {
    EXPECT_EQ(
        line(shape("aten::_flash_attention_forward",
                   flash_forward({2, 64, 8, 128}, {2, 64, 2, 128}, "True"))),
        R"(attention_forward bf16 {"batch":2,"seq_len":64,"keys":64,"head_num":8,"kv_head_num":2,"qk_head_dim":128,"v_head_dim":128,"causal":true,"window":0})");
    const auto window = [](const std::string& causal, const char* left, const char* right) {
        const OperatorShape found =
            shape("aten::_flash_attention_forward",
                  flash_forward({2, 64, 8, 128}, {2, 64, 8, 128}, causal, left, right));
        return found.kernel ? fmt::format("{} {}", found.kernel->shape["causal"].dump(),
                                          found.kernel->shape["window"].dump())
                            : found.missing;
    };
    EXPECT_EQ(window("True", "31", "0"), "true 32") << "the query itself is one of the keys";
    EXPECT_EQ(window("True", "63", "0"), "true 0");
    EXPECT_EQ(window("False", "-1", "-1"), "false 0");
    EXPECT_EQ(window("False", "-1", "0"), "true 0");
    EXPECT_EQ(window("False", "7", "7"), "a window to both sides");
    EXPECT_THAT(window("", "", ""), HasSubstr("whether they are causal is not written"));
}

TEST(OperatorShapes, OfAnAttentionsBackwardBeginAfterTheGradient) {
    std::vector<OperatorInput> inputs(15);
    inputs[0] = inputs[1] = tensor({2, 8, 64, 192});
    inputs[2] = tensor({2, 8, 64, 192});
    inputs[3] = tensor({2, 8, 64, 128});
    inputs[11] = scalar("False");
    EXPECT_EQ(
        line(shape("aten::_scaled_dot_product_flash_attention_backward", inputs)),
        R"(attention_backward bf16 {"batch":2,"seq_len":64,"keys":64,"head_num":8,"kv_head_num":8,"qk_head_dim":192,"v_head_dim":128,"causal":false,"window":0})");
}

TEST(OperatorShapes, OfPackedSequencesAreKnownWhereAllAreAsLong) {
    std::vector<OperatorInput> inputs = flash_forward({256, 8, 128}, {256, 8, 128}, "True");
    inputs[3] = inputs[4] = tensor({5}, {1}, "int");
    EXPECT_EQ(shape("aten::_flash_attention_forward", inputs).kernel->shape["batch"], 4);
    inputs[0].dims[0] = inputs[1].dims[0] = inputs[2].dims[0] = 200;
    EXPECT_EQ(line(shape("aten::_flash_attention_forward", inputs)),
              "sequences of different lengths in one call");
}

TEST(OperatorShapes, OfHostileSizesAreReasons) {
    const Dims large{std::int64_t{1} << 62, std::int64_t{1} << 62};
    for (const auto& op :
         {shape("aten::mm", {}), shape("aten::mm", {tensor({8, 4}), tensor({5, 2})}),
          shape("aten::mm", {tensor({0, 4}), tensor({4, 2})}),
          shape("aten::mm", {tensor(large), tensor(large)}),
          shape("aten::mm", {tensor({8, 4}, {}, "long int"), tensor({4, 2})}),
          shape("aten::linear", {tensor({large[0], large[0], 3}), tensor({7, 3})}),
          shape("aten::_grouped_mm", {tensor(large), tensor({large[0], large[0], 2})}),
          shape("aten::_grouped_mm", {tensor({8, 4}), tensor({0, 4, 2})}),
          shape("aten::_flash_attention_forward", {tensor({1, 2})}),
          shape(
              "aten::_flash_attention_forward",
              flash_forward({1, large[0], large[0], large[0]}, {1, large[0], 1, large[0]}, "True")),
          shape("aten::_flash_attention_forward",
                flash_forward({1, 64, 8, 128}, {1, 64, 3, 128}, "True"))}) {
        EXPECT_FALSE(op.kernel);
        EXPECT_NE(op.missing, "");
    }
}

std::string one_op(int id, const std::string& name, const std::string& dims,
                   const std::string& more = "") {
    return fmt::format(R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": 1, "ts": {},
                           "dur": 5, "args": {{"External id": {}, "Input Dims": {},
                           "Input type": ["c10::BFloat16", "c10::BFloat16"]{}}}}})",
                       name, 10 * id, id, dims, more);
}

std::string one_kernel(int id, double us) {
    return fmt::format(
        R"({{"ph": "X", "cat": "kernel", "name": "nvjet_tst_128x64", "pid": 0, "tid": 7,
                           "ts": {}, "dur": {}, "args": {{"External id": {}, "correlation": {}}}}})",
        10 * id, us, id, id);
}

class RecordedTables : public testing::Test {
protected:
    std::string file(const std::string& name, const std::vector<std::string>& events) {
        const std::string path = (folder_.path() / name).string();
        const std::string text =
            fmt::format(R"({{"schemaVersion": 1, "deviceProperties": [{{"name": "NVIDIA H100"}}],
                            "traceEvents": [{}]}})",
                        fmt::join(events, ","));
        if (!name.ends_with(".gz")) {
            write_file(path, text);
            return path;
        }
        gzFile packed = gzopen(path.c_str(), "wb");
        gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
        gzclose(packed);
        return path;
    }

    static std::string refused(const std::vector<std::string>& files) {
        try {
            recorded_table(files);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }

    ScratchFolder folder_;
};

const std::string kDims = "[[4096, 768], [768, 2304]]";

TEST_F(RecordedTables, HaveTheMedianOfAllRanks) {
    const std::string one = file("rank-0.json", {one_op(1, "aten::mm", kDims), one_kernel(1, 60),
                                                 one_op(2, "aten::mm", kDims), one_kernel(2, 64)});
    const std::string other =
        file("rank-1.json.gz", {one_op(1, "aten::mm", kDims), one_kernel(1, 90),
                                one_op(2, "aten::mm", "[[8, 8], [8, 8]]"), one_kernel(2, 2)});
    const RecordedTable table = recorded_table({one, other});
    EXPECT_EQ(table.products, 2U);
    EXPECT_EQ(table.runs, 4);
    EXPECT_DOUBLE_EQ(table.share, 1);
    ASSERT_EQ(table.kernels->products.size(), 2U);
    EXPECT_FALSE(table.kernels->burst);
    EXPECT_EQ(table.kernels->products[0].work.n, 2304);
    EXPECT_DOUBLE_EQ(table.kernels->products[0].seconds, 64e-6);
    EXPECT_THAT(table.text, HasSubstr(R"("gpu":"NVIDIA H100")"));
    EXPECT_THAT(table.text, HasSubstr(R"("seconds":6.4e-05,"count":3,"measures":"sustained")"));
    EXPECT_THAT(table.text, HasSubstr("the median of 3 runs of aten::mm inside steps, by "
                                      "torch.profiler on 2 ranks"));
    EXPECT_THAT(table.words(),
                HasSubstr("2 products and 0 attentions in bf16, 4 runs, with 100.0 %"));
}

TEST_F(RecordedTables, SayWhatIsLeftOut) {
    const RecordedTable table =
        recorded_table({file("a.json", {one_op(1, "aten::mm", kDims), one_kernel(1, 60),
                                        one_op(2, "aten::mm", "[[8, 8], [9, 9]]"),
                                        one_kernel(2, 20), one_kernel(3, 20)})});
    EXPECT_DOUBLE_EQ(table.share, 0.6);
    EXPECT_THAT(table.words(), HasSubstr("60.0 %"));
    EXPECT_THAT(table.words(),
                HasSubstr("left out: 1 run of aten::mm: sizes that do not fit together"));
}

TEST_F(RecordedTables, OfProfilesWithoutShapesSayHowToRecordThem) {
    EXPECT_THAT(refused({file("a.json", {one_kernel(1, 60)})}),
                HasSubstr("a.json: error: the profile has no operators; record it with"));
    const std::string no_shapes =
        R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5,
            "args": {"External id": 1}})";
    EXPECT_THAT(refused({file("b.json", {no_shapes})}), HasSubstr("record_shapes=True"));
    EXPECT_THAT(refused({file("c.json", {one_op(1, "aten::add", kDims)})}),
                HasSubstr("no product and no attention among its operators"));
    EXPECT_THAT(refused({file("d.json", {one_op(1, "aten::mm", kDims)})}),
                HasSubstr("launched a kernel that was recorded"));
    EXPECT_THAT(
        refused({file("e.json", {one_op(1, "aten::mm", "[[8, 8], [9, 9]]"), one_kernel(1, 60)})}),
        HasSubstr("sizes that do not fit together"));
    const std::string own = (folder_.path() / "own.trace.json").string();
    write_file(own, R"({"debubble": {}, "traceEvents": []})");
    EXPECT_THAT(refused({own}), HasSubstr("it is no profile of torch.profiler"));
}

TEST_F(RecordedTables, OfSomeRanksWithShapesAreOfThese) {
    const std::string one = file("a.json", {one_op(1, "aten::mm", kDims), one_kernel(1, 60)});
    const RecordedTable table = recorded_table({file("b.json", {one_kernel(1, 60)}), one});
    EXPECT_EQ(table.runs, 1);
    EXPECT_DOUBLE_EQ(table.share, 1);
    EXPECT_THAT(table.text, HasSubstr("on 1 rank\""));
    EXPECT_THAT(table.words(), HasSubstr("1 of 2 profiles are not in the table: "));
    EXPECT_THAT(table.words(), HasSubstr("b.json: the profile has no operators; record it with"));
}

TEST_F(RecordedTables, LeaveOutTimesThatNoTableHas) {
    const RecordedTable table = recorded_table(
        {file("a.json", {one_op(1, "aten::mm", kDims), one_kernel(1, 60),
                         one_op(2, "aten::mm", "[[8, 8], [8, 8]]"), one_kernel(2, 9e10)})});
    EXPECT_EQ(table.products, 1U);
    EXPECT_THAT(table.words(), HasSubstr("hours long"));
}

}  // namespace
}  // namespace debubble::exec
