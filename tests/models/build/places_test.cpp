#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"

/// Norms at other places, parallel parts, sinks, chunks and caps, against sums by hand.
namespace debubble::models {
namespace {

constexpr std::int64_t kSeqLength = 64, kStreamWidth = 256, kHeads = 8, kKeyHeads = 4,
                       kHeadDim = 32;

Execution on_one_rank() {
    Execution how;
    how.seq_length = kSeqLength;
    return how;
}

StageGraph layer_of(const Architecture& model, const Execution& how) {
    return build_stage(model, how, {0, 1, false, false});
}

/// Bytes that the backward of a layer reads of its forward, each tensor once.
std::int64_t saved(const StageGraph& graph) {
    std::set<int> tensors;
    for (const Operator& op : graph.operators) tensors.insert(op.saved.begin(), op.saved.end());
    std::int64_t bytes = 0;
    for (const int tensor : tensors) bytes += graph.tensors[tensor].bytes.count;
    return bytes;
}

Architecture with(const auto& change) {
    Architecture model = llama(1, kStreamWidth, kHeads, kKeyHeads, 512, 1000);
    change_layers(model, change);
    return model;
}
Architecture plain() {
    return with([](LayerKeys&) {});
}

/// Behind a norm that stands before a part, its product reads what was normed: 4 h a token of both.
/// Behind none it reads the stream itself; a norm after a part keeps the part's result, 2 h.
TEST(NormPositions, DecideWhatIsSaved) {
    const Execution how = on_one_rank();
    const std::int64_t before = saved(layer_of(plain(), how));
    const auto at = [&](NormPosition position) {
        return saved(layer_of(with([&](LayerKeys& keys) { keys.norm_position = position; }), how));
    };
    const std::int64_t token = 2 * kStreamWidth;  // bytes of a token of the stream
    EXPECT_EQ(at(NormPosition::After), before);
    EXPECT_EQ(at(NormPosition::Both), before + 2 * kSeqLength * (token + 4));
    EXPECT_EQ(
        parameter_count(with([](LayerKeys& keys) { keys.norm_position = NormPosition::Both; })) -
            parameter_count(plain()),
        2 * kStreamWidth);
    EXPECT_EQ(
        parameter_count(with([](LayerKeys& keys) { keys.norm_position = NormPosition::After; })),
        parameter_count(plain()));
}

/// Both parts read one input: a layer saves one tensor of the stream less than one after the other.
TEST(ParallelParts, ShareTheirInput) {
    const Execution how = on_one_rank();
    const StageGraph graph =
        layer_of(with([](LayerKeys& keys) { keys.parallel_residual = true; }), how);
    EXPECT_EQ(saved(graph), saved(layer_of(plain(), how)) - 2 * kSeqLength * kStreamWidth);
    std::vector<const op::Norm*> norms;
    for (const Operator& op : graph.operators)
        if (const auto* norm = op.as<op::Norm>()) norms.push_back(norm);
    ASSERT_EQ(norms.size(), 2u);
    EXPECT_EQ(norms[0]->x.tensor, norms[1]->x.tensor);
    // The MLP's backward comes first and adds the gradient of the sum, attention's adds to that.
    EXPECT_EQ(norms[1]->through, graph.output_gradient);
    EXPECT_EQ(norms[0]->through, norms[0]->x.gradient);
}

TEST(Sinks, AreALogitOfEachHeadAndCutWithThem) {
    const Architecture model = with([](LayerKeys& keys) { keys.sinks = true; });
    EXPECT_EQ(parameter_count(model) - parameter_count(plain()), kHeads);
    Execution how = on_one_rank();
    EXPECT_EQ(saved(layer_of(model, how)), saved(layer_of(plain(), how)));
    how.tensor = 4;
    EXPECT_EQ(
        layer_of(model, how).parameter_elements() - layer_of(plain(), how).parameter_elements(),
        kHeads / 4);
    how.attention = AttentionKernel::Unfused;
    EXPECT_THROW(layer_of(model, how), InputError);
}

/// Chunks of c tokens: s (c + 1) / 2 pairs of a sequence of s, half a pair of each query less where
/// positions are continuous.
TEST(Chunks, PairsAreThoseCountedOneByOne) {
    for (const std::int64_t queries : {1, 7, 64, 100})
        for (const std::int64_t before : {0, 5, 200})
            for (const std::int64_t chunk : {1, 3, 50, 128, 1000}) {
                FlashAttention work{1, 1, 1, queries, before + queries, 8};
                work.chunk = chunk;
                std::int64_t counted = 0;
                for (std::int64_t q = before; q < before + queries; ++q) counted += q % chunk + 1;
                EXPECT_NEAR(pairs(work), static_cast<double>(counted),
                            static_cast<double>(queries) / 2 + 1e-9)
                    << queries << " after " << before << ", chunk " << chunk;
            }
}

/// A weight of every column of queries and keys, a copy of both, and two statistics a token; ranks
/// add up their sums.
TEST(WidthNorm, HasAWeightOfEveryColumn) {
    const Architecture model = with([](LayerKeys& keys) { keys.qk_norm = QkNorm::Width; });
    const std::int64_t columns = (kHeads + kKeyHeads) * kHeadDim;
    EXPECT_EQ(parameter_count(model) - parameter_count(plain()), columns);
    Execution how = on_one_rank();
    EXPECT_EQ(saved(layer_of(model, how)) - saved(layer_of(plain(), how)),
              kSeqLength * (2 * columns + 8));
    how.tensor = 2;
    EXPECT_EQ(
        layer_of(model, how).parameter_elements() - layer_of(plain(), how).parameter_elements(),
        columns / 2);
    int sums = 0;
    const StageGraph graph = layer_of(model, how);
    for (const auto& pass : {forward_steps(graph), backward_steps(graph)})
        for (const Kernel& kernel : pass.kernels)
            if (const auto* work = std::get_if<Collective>(&kernel.work))
                sums += work->bytes.count == 8 * kSeqLength;
    EXPECT_EQ(sums, 2);
}

TEST(L2Norm, HasNoWeights) {
    const Architecture model = with([](LayerKeys& keys) { keys.qk_norm = QkNorm::L2; });
    EXPECT_EQ(parameter_count(model), parameter_count(plain()));
    EXPECT_EQ(saved(layer_of(model, on_one_rank())) - saved(layer_of(plain(), on_one_rank())),
              kSeqLength * (2 * (kHeads + kKeyHeads) * kHeadDim + 4 * (kHeads + kKeyHeads)));
}

/// Biases of experts 2 f + h of each and one of each for the router, as gpt-oss has them.
TEST(ExpertBiases, AreCountedAndCutWithTheirOutputs) {
    const auto mixture = [](LayerKeys& keys) {
        keys.experts = 8;
        keys.experts_per_token = 2;
    };
    Architecture without = with(mixture), biased = with(mixture);
    change_layers(biased, [](LayerKeys& keys) {
        keys.linear_bias = keys.router_bias = true;
        keys.qkv_bias = keys.output_bias = false;
    });
    const auto dense = [](Architecture& model) { model.family = Family::GptOss; };
    dense(without);
    dense(biased);
    EXPECT_EQ(parameter_count(biased) - parameter_count(without), 8 * (2 * 512 + kStreamWidth) + 8);
    Execution how = on_one_rank();
    how.tensor = how.expert = how.expert_tensor = 2;
    how.sequence_parallel = true;
    EXPECT_EQ(
        layer_of(biased, how).parameter_elements() - layer_of(without, how).parameter_elements(),
        4 * (2 * 512 / 2 + kStreamWidth) + 8);
}

/// Logits of tokens x vocabulary exist twice, before and after their cap.
TEST(SoftCap, OfLogitsKeepsThemBeforeIt) {
    Execution how = on_one_rank();
    how.kernels.vocabulary_multiple = 1;
    Architecture model = plain();
    const auto head = [&] { return saved(build_stage(model, how, {0, 0, false, true})); };
    const std::int64_t before = head();
    model.logit_softcap = 30;
    EXPECT_EQ(head() - before, 2 * kSeqLength * 1000);
}

}  // namespace
}  // namespace debubble::models
