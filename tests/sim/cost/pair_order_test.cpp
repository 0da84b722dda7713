#include "sim/cost/passes/pair_time.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
#include "sim/cost/passes/pair_layers.h"
#include "sim/predict.h"

/// The parts of pairs in simulated traces.
namespace debubble::sim {
namespace {

std::string words(const PlacedPart& part) {
    return (part.forward ? "F " : "B ") + std::string(name_of(part.step));
}

/// Megatron-Core's order of issue within a layer, stream by stream.
TEST(PartsOfAPair, RunInTheOrderOfIssueOnTheirStreams) {
    const LayerParts forward{4.83, 6.09, 4.29, 7.33};
    const LayerParts backward{9.22, 7.34, 5.47, 4.42, 2.38, 5.33};
    std::vector<std::string> computed, exchanged;
    for (const PlacedPart& part : played({forward}, {backward}).parts)
        (part.exchange ? exchanged : computed).push_back(words(part));
    EXPECT_EQ(computed,
              (std::vector<std::string>{"F attention", "B experts", "B expert weights", "F experts",
                                        "B attention", "B attention weights"}));
    EXPECT_EQ(exchanged,
              (std::vector<std::string>{"B combine", "F dispatch", "B dispatch", "F combine"}));
}

/// The forward's first layer meets the backward's last.
TEST(PartsOfAPair, AreThoseOfEveryLayerOfBothPasses) {
    const std::vector<LayerParts> three(3, {1, 1, 1, 1}), two(2, {1, 1, 1, 1});
    std::map<std::string, int> parts;
    for (const PlacedPart& part : played(three, two).parts)
        ++parts[words(part) + " " + std::to_string(part.layer.value())];
    EXPECT_EQ(parts.size(), 4U * (3 + 2));
    EXPECT_EQ(played(three, two).parts.front().layer, 1) << "B combine of the last layer";
    EXPECT_EQ(parts.at("F combine 2"), 1);
}

Trace simulated(const std::string& schedule) {
    return predict(scenarios::parse_scenario(
                       "model: {base: deepseek-v3, layers: 8}\ncluster: hgx-h100\ngpus: 32\n"
                       "parallel: {pipeline: 2, stages_per_rank: 2, expert: 16, expert_tensor: 1}\n"
                       "schedule: " +
                           schedule + "\ntraining: {micro_batches: 4, seq_length: 4096}\n",
                       "pair.yaml"))
        .trace;
}

/// Neither stream runs two parts at once, and all of them lie inside their pair, which they fill.
TEST(PartsOfAPair, FillThePairsOfASimulatedTrace) {
    const Trace trace = simulated("{name: combined-1f1b, delay_wgrad: true}");
    int pairs = 0;
    for (const Span& span : trace.spans) {
        const auto* pair = std::get_if<Overlap>(&span.action);
        if (pair == nullptr) continue;
        ++pairs;
        std::map<Lane, Instant> end;
        Instant last = span.begin;
        int weights = 0;
        for (const PairPart& part : trace.pair_parts) {
            if (part.rank != span.rank || (part.pass != pair->first && part.pass != pair->second))
                continue;
            EXPECT_GE(part.begin, span.begin);
            EXPECT_LE(part.end, span.end);
            EXPECT_GE(part.begin, end[part.lane]) << name_of(part.step);
            end[part.lane] = part.end;
            last = std::max(last, part.end);
            weights += part.step == PairStep::ExpertWeights;
            if (part.step == PairStep::Outside) continue;
            EXPECT_GE(part.layer, 2 * part.pass.stage.index);
            EXPECT_LT(part.layer, 2 * part.pass.stage.index + 2);
        }
        EXPECT_EQ(weights, 2) << "of each layer of the backward";
        EXPECT_LE(span.end - last, span.length() / 100);
    }
    EXPECT_EQ(pairs, 8);
    EXPECT_TRUE(simulated("interleaved-1f1b").pair_parts.empty());
}

}  // namespace
}  // namespace debubble::sim
