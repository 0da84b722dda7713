#include <gtest/gtest.h>

#include "models/execution/low_precision.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"
#include "tests/models/held_bytes.h"

/// Rows that travel to experts in 8 bits.
namespace debubble::models {
namespace {

constexpr std::int64_t kWidth = 256, kTokensSent = 128, kChosen = 2, kGroup = 4;

Execution sent_as(Narrow forward, Narrow backward) {
    Execution how;
    how.seq_length = kTokensSent;
    how.expert = kGroup;
    how.kernels.moe_dispatch_fwd_dtype = forward;
    how.kernels.moe_combine_bwd_dtype = backward;
    return how;
}
StageGraph layer_of_experts(const Execution& how) {
    Architecture model = llama(2, kWidth, 8, 4, 1024, 32000);
    change_layers(model, [](LayerKeys& keys) {
        keys.experts = 8;
        keys.experts_per_token = kChosen;
    });
    return build_stage(model, how, {0, 1, false, false});
}
/// Bytes of the exchange of that name, of all ranks; of a rank's memory traffic, what it writes.
std::int64_t bytes_of_kernel(const StageGraph& graph, const std::string& name) {
    for (const PassSteps& pass : {forward_steps(graph), backward_steps(graph)})
        for (const Kernel& kernel : pass.kernels) {
            if (kernel.name != "experts." + name) continue;
            if (const auto* work = std::get_if<Collective>(&kernel.work)) return work->bytes.count;
            return std::get<Traffic>(kernel.work).written.count;
        }
    return -1;
}

/// DeepSeek-V3's: h + 4 h/128 bytes there, 2 h back; of MXFP8 h + h/32.
TEST(NarrowDispatch, SendsAByteAndTheScales) {
    const std::int64_t rows = kGroup * kTokensSent * kChosen;
    const std::int64_t wide = rows * 2 * kWidth;
    const StageGraph plain = layer_of_experts(sent_as(Narrow::None, Narrow::None));
    for (const char* name : {"dispatch", "return", "dispatch.dx", "return.dx"})
        EXPECT_EQ(bytes_of_kernel(plain, name), wide) << name;
    for (const Narrow type : {Narrow::Fp8Blockwise, Narrow::MxFp8}) {
        const std::int64_t scales = type == Narrow::MxFp8 ? kWidth / 32 : 4 * kWidth / 128;
        const StageGraph graph = layer_of_experts(sent_as(type, type));
        EXPECT_EQ(bytes_of_kernel(graph, "dispatch"), rows * (kWidth + scales));
        EXPECT_EQ(bytes_of_kernel(graph, "return.dx"), rows * (kWidth + scales));
        EXPECT_EQ(bytes_of_kernel(graph, "return"), wide);
        EXPECT_EQ(bytes_of_kernel(graph, "dispatch.dx"), wide);
        EXPECT_EQ(bytes_of_kernel(graph, "dispatch.cast"),
                  kTokensSent * kChosen * (kWidth + scales));
        EXPECT_EQ(bytes_of_kernel(graph, "dispatch.widen"), kTokensSent * kChosen * 2 * kWidth);
    }
}

TEST(NarrowDispatch, GoesEachWayByItself) {
    const StageGraph there = layer_of_experts(sent_as(Narrow::Fp8Blockwise, Narrow::None));
    EXPECT_LT(bytes_of_kernel(there, "dispatch"), bytes_of_kernel(there, "return"));
    EXPECT_EQ(bytes_of_kernel(there, "return.dx"), bytes_of_kernel(there, "return"));
    EXPECT_EQ(bytes_of_kernel(there, "return.dx.cast"), -1);
    const StageGraph back = layer_of_experts(sent_as(Narrow::None, Narrow::Fp8Blockwise));
    EXPECT_EQ(bytes_of_kernel(back, "dispatch"), bytes_of_kernel(back, "return"));
    EXPECT_LT(bytes_of_kernel(back, "return.dx"), bytes_of_kernel(back, "return"));
}

/// DeepEP sends a token once to each node, and so it is cast once.
TEST(NarrowDispatch, CastsTokensOnceWhereTheyAreSentOnce) {
    Execution how = sent_as(Narrow::Fp8Blockwise, Narrow::None);
    const std::int64_t rows = bytes_of_kernel(layer_of_experts(how), "dispatch.cast");
    how.kernels.dispatcher = Dispatcher::DeepEp;
    EXPECT_EQ(bytes_of_kernel(layer_of_experts(how), "dispatch.cast") * kChosen, rows);
}

/// What is kept for the backward is wide, as without it, and casts live during the exchange alone.
TEST(NarrowDispatch, KeepsNothingMore) {
    EXPECT_EQ(held_after_forward(layer_of_experts(sent_as(Narrow::Fp8Blockwise, Narrow::MxFp8))),
              held_after_forward(layer_of_experts(sent_as(Narrow::None, Narrow::None))));
}

TEST(NarrowDispatch, OfExpertsOnOneRankIsNone) {
    Execution how = sent_as(Narrow::Fp8Blockwise, Narrow::Fp8Blockwise);
    how.expert = 1;
    EXPECT_EQ(bytes_of_kernel(layer_of_experts(how), "dispatch.cast"), -1);
}

}  // namespace
}  // namespace debubble::models
