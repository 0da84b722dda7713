#include "models/kernel.h"

#include <gtest/gtest.h>

#include "models/graph.h"
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
                    if (op.kind != OperatorKind::Attention) continue;
                    for (const Kernel& kernel : op.forward) forward += flops(kernel);
                    for (const Kernel& kernel : op.backward_input) backward += flops(kernel);
                }
            }
            EXPECT_DOUBLE_EQ(context * forward, 4 * width * seq * seq / 2);
            EXPECT_DOUBLE_EQ(backward, 2.5 * forward);
        }
    }
}

/// Keys and values of the whole sequence are there twice, once as ranks sent them, and so many
/// bytes as all ranks' keys and values have pass through the group: twice there, once back.
TEST(Kernel, GatheredKeysAreHeldWholeAndMovedOnce) {
    const Architecture model = llama(2, 256, 8, 4, 512, 32000);
    Execution how;
    how.seq_length = 1024;
    how.context = 4;
    how.context_communication = ContextCommunication::AllGather;
    const std::int64_t all = 2 * 2 * 1024 * 128;  // keys and values, bf16, 4 of 8 heads
    const StageGraph graph = build_stage(model, how, {0, 1, false, false});
    const auto attention =
        std::ranges::find(graph.operators, OperatorKind::Attention, &Operator::kind);
    const auto collectives = [](const std::vector<Kernel>& kernels) {
        std::vector<std::pair<Collective::Kind, std::int64_t>> found;
        for (const Kernel& kernel : kernels) {
            const auto* work = std::get_if<Collective>(&kernel.work);
            if (work == nullptr) continue;
            EXPECT_EQ(work->group, Collective::Group::Context);
            found.emplace_back(work->kind, work->bytes.count);
        }
        return found;
    };
    using Found = std::vector<std::pair<Collective::Kind, std::int64_t>>;
    EXPECT_EQ(collectives(attention->forward), (Found{{Collective::Kind::AllGather, all}}));
    EXPECT_EQ(collectives(attention->backward_input),
              (Found{{Collective::Kind::AllGather, all}, {Collective::Kind::ReduceScatter, all}}));
    const auto scratch = [&](const std::vector<int>& uses) {
        std::int64_t sum = 0;
        for (const int tensor : uses)
            if (graph.tensors[tensor].name.find(".kv.") != std::string::npos)
                sum += graph.tensors[tensor].bytes.count;
        return sum;
    };
    EXPECT_EQ(scratch(attention->forward_uses), 2 * all);
    EXPECT_EQ(scratch(attention->backward_input_uses), 3 * all);
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
        how.gradient_accumulation_fusion = false;
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
        how.gradient_accumulation_fusion = fused;
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
