#include <algorithm>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"

/// Context parallelism of two levels: neighbours exchange tokens for heads, and keys and values are
/// passed around their groups.
namespace debubble::models {
namespace {

constexpr std::int64_t kSharedTokens = 4096, kSharedWidth = 256, kBytesOfValue = 2;
constexpr int kSharingRanks = 8;

Execution shared_by_eight(ContextCommunication kind, int inner = 1) {
    Execution how;
    how.seq_length = kSharedTokens;
    how.context = kSharingRanks;
    how.context_inner = inner;
    how.kernels.context_communication = kind;
    return how;
}
StageGraph layer_with_levels(const Execution& how) {
    return build_stage(llama(2, kSharedWidth, 16, 8, 512, 32000), how, {0, 1, false, false});
}
StageGraph two_levels(int inner) {
    return layer_with_levels(shared_by_eight(ContextCommunication::TwoLevel, inner));
}
const Operator& attention_of_levels(const StageGraph& graph) {
    return *std::ranges::find_if(graph.operators,
                                 [](const Operator& op) { return op.as<op::Attention>(); });
}
std::vector<Collective> exchanges_of(const PassSteps& pass, Collective::Group group) {
    std::vector<Collective> found;
    for (const Kernel& kernel : pass.kernels)
        if (const auto* work = std::get_if<Collective>(&kernel.work);
            work != nullptr && work->group == group)
            found.push_back(*work);
    return found;
}
std::int64_t bytes_of_exchanges(const std::vector<Collective>& exchanges) {
    std::int64_t sum = 0;
    for (const Collective& one : exchanges) sum += one.bytes.count;
    return sum;
}
template <class Part>
Part work_in(const std::vector<Kernel>& kernels) {
    for (const Kernel& kernel : kernels)
        if (const auto* work = std::get_if<Part>(&kernel.work)) return *work;
    ADD_FAILURE() << "no such kernel";
    return {};
}

void expect_same_work(const StageGraph& one, const StageGraph& other) {
    EXPECT_EQ(forward_steps(one).kernels, forward_steps(other).kernels);
    EXPECT_EQ(backward_steps(one).kernels, backward_steps(other).kernels);
    ASSERT_EQ(one.tensors.size(), other.tensors.size());
    for (std::size_t i = 0; i < one.tensors.size(); ++i) {
        EXPECT_EQ(one.tensors[i].name, other.tensors[i].name);
        EXPECT_EQ(one.tensors[i].bytes, other.tensors[i].bytes);
    }
}

/// As TransformerEngine's attn_forward_func_with_cp takes a level of one rank.
TEST(ContextLevels, AreOneWhereALevelHasOneRank) {
    expect_same_work(two_levels(1), layer_with_levels(shared_by_eight(ContextCommunication::P2p)));
    for (const bool copy : {false, true}) {
        Execution both = shared_by_eight(ContextCommunication::TwoLevel, kSharingRanks);
        Execution heads = shared_by_eight(ContextCommunication::AllToAll);
        both.kernels.context_output_copy = heads.kernels.context_output_copy = copy;
        expect_same_work(layer_with_levels(both), layer_with_levels(heads));
    }
}

/// A rank's chunk of keys and values is as large before the exchange as after it, and the ring has
/// fewer ranks to bring it to, the more neighbours exchange heads.
TEST(ContextLevels, ExchangeAllAndPassOnTheKeysOfOtherGroups) {
    const std::int64_t queries =
        kBytesOfValue * kSharedTokens / kSharingRanks * kSharedWidth;  // of a rank
    const std::int64_t keys = queries / 2 * 2;                         // and values, 8 of 16
    for (const int inner : {2, 4}) {
        const int outer = kSharingRanks / inner;
        const StageGraph graph = two_levels(inner);
        const PassSteps forward = forward_steps(graph), backward = backward_steps(graph);
        using Group = Collective::Group;
        EXPECT_TRUE(exchanges_of(forward, Group::Context).empty());
        const std::vector<Collective> heads = exchanges_of(forward, Group::ContextInner);
        ASSERT_EQ(heads.size(), 2);
        EXPECT_EQ(heads[0].bytes.count, (queries + keys) * inner);
        EXPECT_EQ(heads[1].bytes.count, queries * inner);
        // The backward exchanges the output again, its gradient, and those of the heads.
        EXPECT_EQ(bytes_of_exchanges(exchanges_of(backward, Group::ContextInner)),
                  (3 * queries + keys) * inner);
        const std::vector<Collective> ring = exchanges_of(forward, Group::ContextOuter);
        ASSERT_EQ(ring.size(), 1);
        EXPECT_EQ(ring[0].kind, Collective::Kind::AllGather);
        EXPECT_EQ(ring[0].pieces, Collective::Pieces::OfNext);
        EXPECT_EQ(ring[0].bytes.count, keys * outer);
        EXPECT_EQ(bytes_of_exchanges(exchanges_of(backward, Group::ContextOuter)),
                  2 * keys * outer);
    }
}

/// The ring keeps no copy of attention's output on both sides of the exchange, whatever the
/// framework does where all ranks exchange heads (TransformerEngine 9c61cd7, context_parallel.py).
TEST(ContextLevels, ExchangeTheOutputAgain) {
    Execution how = shared_by_eight(ContextCommunication::TwoLevel, 4);
    how.kernels.context_output_copy = true;
    expect_same_work(layer_with_levels(how), two_levels(4));
    EXPECT_TRUE(std::get<op::Attention>(attention_of_levels(two_levels(4)).roles).out_again);
}

/// Every cut of the sequence and the heads has its share of a causal sequence's products; a ring
/// counts half a chunk more, which is less the more ranks it has.
TEST(ContextLevels, AttendToAsMuchWithEveryInnerSize) {
    const auto attends = [](const StageGraph& graph) {
        return work_in<FlashAttention>(attention_of_levels(graph).forward);
    };
    const FlashAttention ring =
        attends(layer_with_levels(shared_by_eight(ContextCommunication::P2p)));
    for (const int inner : {1, 2, 4, 8}) {
        const FlashAttention work = attends(two_levels(inner));
        EXPECT_EQ(work.queries, kSharedTokens / kSharingRanks * inner);
        EXPECT_EQ(work.heads, 16 / inner);
        EXPECT_EQ(work.kv_heads, 8 / inner);
        EXPECT_DOUBLE_EQ(pairs(work) * static_cast<double>(work.heads),
                         pairs(ring) * static_cast<double>(ring.heads));
    }
}

/// Two chunks travel at a time, of as many bytes as without the exchange of heads, and what the
/// exchange makes is held beside them.
TEST(ContextLevels, HoldTheChunksOfARing) {
    const auto foreign = [](const StageGraph& graph) {
        std::int64_t sum = 0;
        for (const int tensor : attention_of_levels(graph).forward_uses)
            if (graph.tensors[tensor].name.find(".kv") != std::string::npos)
                sum += graph.tensors[tensor].bytes.count;
        return sum;
    };
    const std::int64_t ring =
        foreign(layer_with_levels(shared_by_eight(ContextCommunication::P2p)));
    EXPECT_GT(ring, 0);
    for (const int inner : {1, 2, 4}) EXPECT_EQ(foreign(two_levels(inner)), ring);
    EXPECT_EQ(foreign(two_levels(8)), 0);
}

TEST(ContextLevels, RefuseHeadsAndSlicesThatCannotBeExchanged) {
    Execution how = shared_by_eight(ContextCommunication::TwoLevel, 4);
    EXPECT_NO_THROW(build_stage(llama(2, 256, 8, 4, 512, 32000), how, {0, 1, false, false}));
    EXPECT_THROW(build_stage(llama(2, 256, 8, 2, 512, 32000), how, {0, 1, false, false}),
                 InputError);
    how.slices = 2;
    EXPECT_THROW(layer_with_levels(how), InputError);
    how.context_inner = 1;
    EXPECT_NO_THROW(layer_with_levels(how));
}

}  // namespace
}  // namespace debubble::models
