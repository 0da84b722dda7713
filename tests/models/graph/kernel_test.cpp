#include "models/operators/kernel.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"

namespace debubble::models {
namespace {

double sum_of_flops(const PassSteps& pass) {
    double sum = 0;
    for (const Kernel& kernel : pass.kernels) sum += flops(kernel);
    return sum;
}

/// Bytes of the memory-bound kernels.
double elementwise_bytes(const PassSteps& pass) {
    double sum = 0;
    for (const Kernel& kernel : pass.kernels) {
        if (std::holds_alternative<Traffic>(kernel.work)) {
            sum += static_cast<double>(traffic(kernel).count);
        }
    }
    return sum;
}

TEST(Kernel, CountsFlopsAndBytesOfAProduct) {
    Gemm gemm{3, 5, 7, 11, Bytes{100}};
    const Kernel kernel{"product", 0, gemm};
    EXPECT_EQ(flops(kernel), 2.0 * 3 * 5 * 7 * 11);
    EXPECT_EQ(traffic(kernel), Bytes{3 * 2 * (5 * 11 + 11 * 7 + 5 * 7) + 100});
    EXPECT_EQ(traffic({"sum", 0, Collective{}}), Bytes{});
}

/// A causal sequence's pairs are cut in half, whatever cuts the sequence.
TEST(Kernel, CausalAttentionIsCutIntoSlicesAndRanksWithoutLoss) {
    const Architecture model = llama(2, 256, 8, 4, 512, 32000);
    const double seq = 1024, width = 256;
    for (const int slices : {1, 2, 4}) {
        for (const int context : {1, 2, 8}) {
            double forward = 0, backward = 0;
            Execution how;
            how.seq_length = 1024;
            how.slices = slices;
            how.context = context;
            for (how.slice = 0; how.slice < slices; ++how.slice) {
                const StageGraph graph = build_stage(model, how, {0, 1, false, false});
                for (const Operator& op : graph.operators) {
                    if (op.as<op::Attention>() == nullptr) continue;
                    for (const Kernel& kernel : op.forward) forward += flops(kernel);
                    for (const Kernel& kernel : op.backward_input) backward += flops(kernel);
                }
            }
            EXPECT_DOUBLE_EQ(context * forward, 4 * width * seq * seq / 2);
            EXPECT_DOUBLE_EQ(backward, 2.5 * forward);
        }
    }
}

/// The attention of a layer whose sequence four ranks share.
StageGraph shared_by_four(ContextCommunication kind, int slices = 1, int slice = 0) {
    Execution how;
    how.seq_length = 1024;
    how.context = 4;
    how.slices = slices;
    how.slice = slice;
    how.kernels.context_communication = kind;
    return build_stage(llama(2, 256, 8, 4, 512, 32000), how, {0, 1, false, false});
}
const Operator& attention_in(const StageGraph& graph) {
    return *std::ranges::find_if(graph.operators,
                                 [](const Operator& op) { return op.as<op::Attention>(); });
}
std::vector<Collective> over_context(const std::vector<Kernel>& kernels) {
    std::vector<Collective> found;
    for (const Kernel& kernel : kernels)
        if (const auto* work = std::get_if<Collective>(&kernel.work)) found.push_back(*work);
    return found;
}
Collective context_collective(Collective::Kind kind, std::int64_t bytes, int hidden_by = 0) {
    return {kind, Collective::Group::Context, Bytes{bytes}, hidden_by};
}
/// What attention holds of others' keys and values.
std::int64_t foreign_keys(const StageGraph& graph, const std::vector<int>& uses) {
    std::int64_t sum = 0;
    for (const int tensor : uses)
        if (graph.tensors[tensor].name.find(".kv") != std::string::npos)
            sum += graph.tensors[tensor].bytes.count;
    return sum;
}
constexpr std::int64_t kAllKeys = 2 * 2 * 1024 * 128;  // and values, bf16, 4 of 8 heads

TEST(Kernel, KeysThatTravelRoundHideBehindTheAttention) {
    const StageGraph graph = shared_by_four(ContextCommunication::P2p);
    const Operator& attention = attention_in(graph);
    Collective there = context_collective(Collective::Kind::AllGather, kAllKeys);
    Collective back = context_collective(Collective::Kind::ReduceScatter, kAllKeys);
    there.pieces = Collective::Pieces::OfNext;
    back.pieces = Collective::Pieces::OfPrevious;
    EXPECT_EQ(over_context(attention.forward), std::vector{there});
    EXPECT_EQ(over_context(attention.backward_input), (std::vector{there, back}));
    EXPECT_EQ(foreign_keys(graph, attention.forward_uses), 2 * kAllKeys / 4);
    EXPECT_EQ(foreign_keys(graph, attention.backward_input_uses), 4 * kAllKeys / 4);
}

/// Twice, once as ranks sent them; in the backward their gradients too.
TEST(Kernel, GatheredKeysAreHeldWhole) {
    const StageGraph graph = shared_by_four(ContextCommunication::AllGather);
    const Operator& attention = attention_in(graph);
    EXPECT_EQ(over_context(attention.forward),
              (std::vector{context_collective(Collective::Kind::AllGather, kAllKeys)}));
    EXPECT_EQ(over_context(attention.backward_input),
              (std::vector{context_collective(Collective::Kind::AllGather, kAllKeys),
                           context_collective(Collective::Kind::ReduceScatter, kAllKeys)}));
    EXPECT_EQ(foreign_keys(graph, attention.forward_uses), 2 * kAllKeys);
    EXPECT_EQ(foreign_keys(graph, attention.backward_input_uses), 3 * kAllKeys);
}

/// A slice sees the earlier ones, of which each rank holds its part only.
TEST(Kernel, GatheredKeysOfEarlierSlicesAreGatheredAgain) {
    const std::int64_t of_slice = kAllKeys / 4;
    for (int slice = 0; slice < 4; ++slice) {
        const StageGraph graph = shared_by_four(ContextCommunication::AllGather, 4, slice);
        const Operator& attention = attention_in(graph);
        Collective gather = context_collective(Collective::Kind::AllGather, of_slice);
        Collective scatter = context_collective(Collective::Kind::ReduceScatter, of_slice);
        gather.count = scatter.count = slice + 1;
        EXPECT_EQ(over_context(attention.forward), std::vector{gather});
        EXPECT_EQ(over_context(attention.backward_input), (std::vector{gather, scatter}));
        EXPECT_EQ(foreign_keys(graph, attention.forward_uses), (slice + 2) * of_slice);
    }
}

/// Tokens for heads before the attention, heads for tokens behind it: a rank attends to the whole
/// sequence with its part of the heads, which is as much work.
TEST(Kernel, ExchangedHeadsSeeTheWholeSequence) {
    const StageGraph graph = shared_by_four(ContextCommunication::AllToAll);
    const auto* attention = std::get_if<FlashAttention>(&attention_in(graph).forward[0].work);
    ASSERT_NE(attention, nullptr);
    EXPECT_EQ(attention->queries, 1024);
    EXPECT_EQ(attention->keys, 1024);
    EXPECT_EQ(attention->heads, 2);
    EXPECT_EQ(attention->kv_heads, 1);
    EXPECT_DOUBLE_EQ(
        flops(attention_in(graph).forward[0]),
        flops(*std::ranges::find_if(
            attention_in(shared_by_four(ContextCommunication::AllGather)).forward,
            [](const Kernel& k) { return std::holds_alternative<FlashAttention>(k.work); })));
    const auto kind = Collective::Kind::AllToAll;
    const std::int64_t context = 2 * 1024 * 256;  // of all ranks, bf16
    const auto both = std::vector{context_collective(kind, context + kAllKeys),
                                  context_collective(kind, context)};
    EXPECT_EQ(over_context(forward_steps(graph).kernels), both);
    // Without a copy of its own the attention's output is exchanged once more for the backward.
    EXPECT_EQ(over_context(backward_steps(graph).kernels),
              (std::vector{both[1], both[1], both[0]}));
    Execution how = graph.execution;
    how.kernels.context_output_copy = true;
    const StageGraph kept = build_stage(graph.architecture, how, graph.content);
    EXPECT_EQ(over_context(backward_steps(kept).kernels), (std::vector{both[1], both[0]}));
    how.context = 8;
    EXPECT_THROW(build_stage(llama(2, 256, 8, 4, 512, 32000), how, {0, 1, false, false}),
                 InputError);
    how.context = 4;
    how.slices = 2;
    EXPECT_THROW(build_stage(llama(2, 256, 8, 4, 512, 32000), how, {0, 1, false, false}),
                 InputError);
}

TEST(Kernel, RecomputationAddsAForwardOfWhatWasDropped) {
    Execution how;
    how.seq_length = 256;
    how.attention = AttentionKernel::Unfused;
    const auto backward = [&](Recompute policy) {
        how.recompute = policy;
        return sum_of_flops(backward_steps(build_stage(gpt(3, 256, 8), how, {0, 3, false, false})));
    };
    const StageGraph graph = build_stage(gpt(3, 256, 8), how, {0, 3, false, false});
    const double none = backward(Recompute::None);
    EXPECT_DOUBLE_EQ(backward(Recompute::Full), none + sum_of_flops(forward_steps(graph)));
    EXPECT_DOUBLE_EQ(backward(Recompute::Selective), none + 3 * 4.0 * 256 * 256 * 256);
}

/// The memory traffic of a layer of Megatron-LM's unfused-attention days, per token and
/// hidden element, read off its kernels: two norms 4, two dropout-adds 7, GELU 16, bias and
/// split of queries, keys and values 12, copy of the context 4; and 11 per score.
TEST(Kernel, ALayersForwardMovesTheBytesOfItsElementwiseKernels) {
    const std::int64_t s = 512, h = 1024, a = 16;
    for (const std::int64_t t : {1, 2, 4}) {
        Execution how;
        how.seq_length = s;
        how.tensor = static_cast<int>(t);
        how.attention = AttentionKernel::Unfused;
        how.hidden_dropout = how.attention_dropout = true;
        how.kernels.gradient_accumulation_fusion = false;
        const StageGraph graph = build_stage(gpt(2, h, a), how, {0, 1, false, false});
        const double elements = static_cast<double>(s * h);
        const double scores = static_cast<double>(a * s * s / t);
        const double cut = static_cast<double>(t);
        EXPECT_DOUBLE_EQ(elementwise_bytes(forward_steps(graph)),
                         elements * (2 * 4 + 2 * 7 + (16 + 12 + 4) / cut) + 11 * scores);
        // backward: 13 per score, 10 per weight accumulated, 46 + 54 / t per element
        const double weights = static_cast<double>(12 * h * h / t);
        EXPECT_DOUBLE_EQ(elementwise_bytes(backward_steps(graph)),
                         elements * (2 * (10 + 6) + 2 * 5 + 2 * 2 + (24 + 8 + 12 + 6 + 4) / cut) +
                             13 * scores + 10 * weights);
    }
}

TEST(Kernel, FusedAccumulationIsPartOfTheProduct) {
    Execution how;
    how.seq_length = 256;
    const auto accumulated = [&](bool fused, DataType gradients) {
        how.kernels.gradient_accumulation_fusion = fused;
        how.gradients = gradients;
        const StageGraph graph = build_stage(gpt(2, 256, 8), how, {0, 1, false, false});
        std::int64_t in_products = 0, apart = 0;
        for (const Kernel& kernel : backward_weight_steps(graph).kernels) {
            if (const auto* gemm = std::get_if<Gemm>(&kernel.work)) {
                in_products += gemm->accumulated.count;
            } else if (kernel.name.find("accumulate") != std::string::npos) {
                apart += traffic(kernel).count;
            }
        }
        return std::pair{in_products, apart};
    };
    const std::int64_t weights = 12 * 256 * 256;
    EXPECT_EQ(accumulated(true, DataType::Fp32), std::pair(6 * weights, std::int64_t{0}));
    EXPECT_EQ(accumulated(false, DataType::Fp32), std::pair(std::int64_t{0}, 10 * weights));
    EXPECT_EQ(accumulated(true, DataType::Bf16), std::pair(2 * weights, std::int64_t{0}));
    EXPECT_EQ(accumulated(false, DataType::Bf16), std::pair(std::int64_t{0}, 6 * weights));
}

}  // namespace
}  // namespace debubble::models
