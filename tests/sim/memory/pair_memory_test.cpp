#include "sim/memory/pair_memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/partition/partition.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"
#include "sim/memory/memory_play.h"
#include "sim/memory/pass_memory.h"
#include "sim/predict.h"
#include "tests/sim/scenarios.h"

namespace debubble::sim {
namespace {

PassPiece piece_with(std::int64_t peak, std::int64_t after) {
    PassPiece made;
    made.at_peak[0] = Bytes{peak};
    made.after[0] = Bytes{after};
    return made;
}

using enum models::TurnPart;

/// A layer without an exchange.
std::vector<LayerPiece> layer_with(std::int64_t peak, std::int64_t after) {
    return {{Computes, piece_with(peak, after)}};
}

/// Three layers that keep 10 bytes each: while the one adds a layer, the other gives one back.
TEST(PairMemory, OfEqualPassesIsThatOfOneAndALayer) {
    const PassPieces forward{piece_with(1, 1),
                             {layer_with(14, 11), layer_with(24, 21), layer_with(34, 31)},
                             piece_with(38, 31)};
    const PassPieces backward{piece_with(5, 0),
                              {layer_with(7, -10), layer_with(-3, -20), layer_with(-13, -30)},
                              piece_with(-30, -31)};
    const PassMemory pair = pair_memory(forward, backward);
    // Beside the 31 bytes that the backward's microbatch has held from the beginning. The backward
    // comes first, so that its peak meets the layers that the forward has run so far.
    EXPECT_EQ(pair.peak_above, Bytes{7 + 1});
    EXPECT_EQ(pair.held_after, Bytes{0});
    EXPECT_LT(31 + pair.peak_above.count, 31 + 38 + 7) << "two of them";
}

TEST(PairMemory, OfUnequalPassesGoesOnWithTheLongerOne) {
    const PassPieces forward{piece_with(1, 1), {layer_with(14, 11)}, piece_with(11, 11)};
    const PassPieces backward{
        piece_with(0, 0), {layer_with(7, -10), layer_with(9, -20)}, piece_with(-20, -20)};
    EXPECT_EQ(pair_memory(forward, backward).peak_above, Bytes{9 + 11});
    EXPECT_EQ(pair_memory({piece_with(1, 1), {}, piece_with(40, 40)}, backward).peak_above,
              Bytes{40 - 20})
        << "the head comes when the other's layers are gone";
}

/// A layer of experts whose forward holds 100 bytes of rows until its experts have run, and whose
/// backward holds 50 from its first exchange to its second: they are there together, since the
/// experts' forward comes after the backward's second exchange was asked for.
TEST(PairMemory, FollowsThePartsOfALayerInTheirOrderOfIssue) {
    const PassPieces forward{piece_with(0, 0),
                             {{{Computes, piece_with(3, 2)},
                               {Asks, piece_with(102, 102)},
                               {Computes, piece_with(110, 10)},
                               {Asks, piece_with(12, 12)},
                               {Computes, piece_with(12, 10)}}},
                             piece_with(10, 10)};
    const PassPieces backward{piece_with(0, 0),
                              {{{Computes, piece_with(1, 1)},
                                {Asks, piece_with(50, 50)},
                                {Computes, piece_with(60, 45)},
                                {Weights, piece_with(48, 40)},
                                {Asks, piece_with(70, 70)},
                                {Computes, piece_with(70, -10)},
                                {Weights, piece_with(-5, -10)}}},
                              piece_with(-10, -10)};
    EXPECT_EQ(pair_memory(forward, backward).peak_above, Bytes{110 + 70});
}

TEST(PassPieces, HaveThePeakOfTheWholePass) {
    for (const int layers : {1, 3, 6}) {
        const auto scenario = gpt_job(2, 1, 1, layers);
        const models::StageGraph graph = models::build_stage(
            scenario.model, scenarios::execution_of(scenario), {0, layers, true, true});
        for (const auto& steps : {models::forward_steps(graph), models::backward_steps(graph)}) {
            const PassMemory whole = play(graph, steps);
            const PassPieces pieces = pieces_of(graph, steps);
            ASSERT_EQ(static_cast<int>(pieces.layers.size()), layers);
            Bytes most = std::max(total(pieces.before.at_peak), total(pieces.after.at_peak));
            for (const std::vector<LayerPiece>& layer : pieces.layers)
                for (const LayerPiece& part : layer)
                    most = std::max(most, total(part.piece.at_peak));
            EXPECT_EQ(most, whole.peak_above);
            EXPECT_EQ(total(pieces.after.after), whole.held_after);
        }
    }
}

scenarios::Scenario experts_in_pairs(const char* schedule, int micro_batches) {
    return scenarios::parse_scenario(
        fmt::format("model: {{base: qwen3-30b-a3b, layers: 8}}\ncluster: hgx-h100\ngpus: 16\n"
                    "parallel: {{expert: 16, zero_stage: 1}}\nschedule: {}\n"
                    "training: {{micro_batches: {}, micro_batch: 1, seq_length: 4096}}\n"
                    "framework: {{base: megatron-2026, dispatcher: hybridep, allocator: exact}}\n",
                    schedule, micro_batches),
        "experts.yaml");
}

TEST(PairMemory, OfCombinedPassesIsHardlyMoreThanOfOneMicroBatch) {
    const Bytes alone = predict(experts_in_pairs("1f1b", 4)).prediction.ranks.front().peak_memory;
    const Bytes pairs =
        predict(experts_in_pairs("combined-1f1b", 4)).prediction.ranks.front().peak_memory;
    const auto activations = [&](const char* schedule) {
        const auto rank = predict(experts_in_pairs(schedule, 4)).prediction.ranks.front();
        return static_cast<double>(
            rank.memory[static_cast<std::size_t>(MemoryClass::Activations)].count);
    };
    EXPECT_GT(pairs, alone);
    EXPECT_LT(activations("combined-1f1b"), 1.5 * activations("1f1b"));
}

TEST(PairMemory, IsWhatIsPlayedStepByStep) {
    const scenarios::Scenario scenario = experts_in_pairs("combined-1f1b", 3);
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const PlayedMemory played = play_memory(scenario, plan.stages, plan.program, Rank{0});
    EXPECT_EQ(played.peak_allocated, predict(scenario).prediction.ranks.front().peak_memory);
}

}  // namespace
}  // namespace debubble::sim
