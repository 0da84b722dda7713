#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/cudnn/graphs.h"

/// Graphs of cuDNN's front end, as far as they can be tested without a GPU.
namespace debubble::exec::cuda::cudnn {
namespace {

constexpr int kHopper = 90;

struct GraphCase {
    std::string name;
    AttentionShape shape;
};
void PrintTo(const GraphCase& c, std::ostream* out) {
    *out << c.name;
}

/// Rows of heads, of queries and keys alike, each starting `packed_row` elements after the one
/// before; 0: one after the other.
AttentionShape lying(AttentionShape shape, std::int64_t packed_row = 0) {
    shape.out_stride = shape.heads * shape.head_dim;
    shape.query_stride = packed_row > 0 ? packed_row : shape.out_stride;
    shape.key_stride = packed_row > 0 ? packed_row : shape.kv_heads * shape.head_dim;
    return shape;
}

class CudnnGraphs : public testing::TestWithParam<GraphCase> {};

nlohmann::json tensor_of(const nlohmann::json& graph, Id id) {
    for (const auto& [name, tensor] : graph.at("tensors").items())
        if (tensor.at("uid") == static_cast<std::int64_t>(id)) return tensor;
    return {};
}

TEST_P(CudnnGraphs, OfBothPassesAreValidAndLieAsOursDo) {
    const AttentionShape& shape = GetParam().shape;
    for (const Type type : {Type::Bf16, Type::Fp16}) {
        for (const bool backward : {false, true}) {
            const auto graph = backward ? backward_graph(shape, type, kHopper)
                                        : forward_graph(shape, type, kHopper);
            auto status = graph->validate();
            ASSERT_TRUE(status.is_good()) << status.get_message();
            nlohmann::json written;
            graph->serialize(written);
            const std::int64_t width = shape.head_dim, keys = shape.key_stride;
            const char* const word = type == Type::Bf16 ? "BFLOAT16" : "HALF";
            for (const Id id : {Id::Q, backward ? Id::Dq : Id::Out, Id::Out}) {
                const nlohmann::json tensor = tensor_of(written, id);
                const std::int64_t queries = id == Id::Out ? shape.out_stride : shape.query_stride;
                EXPECT_EQ(tensor.at("dim"),
                          (nlohmann::json{shape.samples, shape.heads, shape.queries, width}));
                EXPECT_EQ(tensor.at("stride"),
                          (nlohmann::json{shape.queries * queries, width, queries, 1}));
                EXPECT_EQ(tensor.at("data_type"), word);
            }
            for (const Id id : {Id::K, backward ? Id::Dv : Id::V}) {
                const nlohmann::json tensor = tensor_of(written, id);
                EXPECT_EQ(tensor.at("dim"),
                          (nlohmann::json{shape.samples, shape.kv_heads, shape.keys, width}));
                EXPECT_EQ(tensor.at("stride"), (nlohmann::json{shape.keys * keys, width, keys, 1}));
            }
            const nlohmann::json log_sum = tensor_of(written, Id::LogSum);
            EXPECT_EQ(log_sum.at("data_type"), "FLOAT");
            EXPECT_EQ(log_sum.at("stride"),
                      (nlohmann::json{shape.heads * shape.queries, shape.queries, 1, 1}));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CudnnGraphs,
    testing::Values(GraphCase{"gpt2_124m", lying({16, 1024, 1024, 12, 12, 64, true, 0, 0.125F})},
                    GraphCase{"grouped", lying({4, 2048, 2048, 32, 8, 64, true, 0, 0.125F})},
                    GraphCase{"wide_heads", lying({1, 300, 300, 2, 2, 128, true, 0, 0.09F})},
                    GraphCase{"bidirectional", lying({2, 197, 197, 12, 12, 64, false, 0, 0.125F})},
                    GraphCase{"between_the_widths", lying({1, 64, 64, 2, 1, 80, true, 0, 0.1F})},
                    GraphCase{"packed", lying({2, 256, 256, 8, 2, 64, true, 0, 0.1F}, 12 * 64)}),
    [](const testing::TestParamInfo<GraphCase>& which) { return which.param.name; });

TEST(CudnnGraphs, OfHeadsThatDoNotDivideAreRefused) {
    const AttentionShape shape = lying({1, 64, 64, 5, 2, 64});
    EXPECT_TRUE(forward_graph(shape, Type::Bf16, kHopper)->validate().is_bad());
}

}  // namespace
}  // namespace debubble::exec::cuda::cudnn
