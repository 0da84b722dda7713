#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "sim/report/report.h"
#include "tests/models/change_layers.h"
#include "tests/sim/report/sample_answer.h"

namespace debubble::sim {
namespace {

using sample::answer;
using sample::bubble;
using sample::kGib;
using sample::rank;
using sample::two_stages;
using testing::HasSubstr;
using testing::Not;

TEST(ReportText, IsAPageThatSaysEverything) {
    EXPECT_EQ(report_text(two_stages(), answer(true)),
              R"(tiny: gpt2 (124.4 M parameters) on 2 x NVIDIA A40 (a40-pair)
  tensor 1, pipeline 2, data 1; 1f1b; 4 microbatches of 8 x 1024 tokens
  megatron-2026 with dispatcher deepep; optimizer muon
  across nodes: pipeline 2 over 2 nodes

  step time   100.000 ms            327,680 tokens/s          320 samples/s
  MFU         43.2 %                causal 40.1 %, HFU 45.7 % 64.7 TFLOP/s per GPU
  bubble      25.0 %                span bubble 20.0 %        makespan 95.000 ms
  memory      fits: at most 40.00 of 44.00 GiB, on rank 0 at 0F1, gelu

Where the step goes, mean over the ranks
  compute                     70.000 ms   70.0 %  ############################
  exposed communication        5.000 ms    5.0 %  ##
  optimizer                    5.000 ms    5.0 %  ##
  idle: warm-up                5.000 ms    5.0 %  ##
  idle: cool-down              5.000 ms    5.0 %  ##
  idle: waits for a stage     10.000 ms   10.0 %  ####

rank  stages             busy    exposed  optimizer       idle  peak GiB  at
   0  0             70.000 ms   5.000 ms   5.000 ms  20.000 ms     40.00  0F1, gelu
   1  1             70.000 ms   5.000 ms   5.000 ms  20.000 ms     30.00  1F1, gelu

note: 24 layers on 2 ranks: 12, 12

constants: 1 datasheet, 2 fitted; --json lists them with their sources

)");
}

TEST(ReportText, SaysWhatItsFiguresMeanIfAskedTo) {
    const std::string plain = report_text(two_stages(), answer(true));
    EXPECT_EQ(
        report_text(two_stages(), answer(true), {.explain = true}),
        plain +
            R"(bubble: 1 - computes / (ranks x makespan), inner communication and recompute counted as compute.
span bubble: the same over a rank's own first start to last end, worst rank. busy + exposed +
optimizer + idle = step time of each rank. MFU: model FLOPs without recompute over peak, attention
in full; causal without what masks leave out; HFU with recompute. 1 GiB = 2^30 bytes.
)");
}

TEST(ReportText, FoldsNeighboursThatAreAlikeButForTheirPeaks) {
    PredictionWithTrace a = answer(true);
    a.prediction.ranks = {rank(0, 40)};
    for (int i = 1; i < 6; ++i) a.prediction.ranks.push_back(rank(i, 30));
    for (int i = 6; i < 9; ++i) a.prediction.ranks.push_back(rank(i, 36 - i));
    a.prediction.ranks[0].busy_s = a.prediction.ranks[8].busy_s = 0.060;
    a.prediction.ranks[0].idle_s = a.prediction.ranks[8].idle_s = 0.030;
    EXPECT_THAT(report_text(two_stages(), a), HasSubstr(R"(
   0  0             60.000 ms   5.000 ms   5.000 ms  30.000 ms     40.00  0F1, gelu
   1  1             70.000 ms   5.000 ms   5.000 ms  20.000 ms     30.00  1F1, gelu
      ranks 2 to 7 identical but for peaks of 29.00 to 30.00 GiB
   8  8             60.000 ms   5.000 ms   5.000 ms  30.000 ms     28.00  8F1, gelu
)"));
    a.prediction.ranks.resize(6);
    EXPECT_THAT(report_text(two_stages(), a), HasSubstr("\n      ranks 2 to 5 identical\n"));
    a.prediction.ranks.resize(3);
    EXPECT_THAT(report_text(two_stages(), a), Not(HasSubstr("identical")));
}

TEST(ReportText, SaysWhatCommunicationServes) {
    PredictionWithTrace a = answer(true);
    EXPECT_THAT(report_text(two_stages(), a), Not(HasSubstr("Communication")));
    for (RankPrediction& r : a.prediction.ranks) {
        r.communication[CommunicationKind::Tensor] = {0.004, 0.001, 1e9};
        r.communication[CommunicationKind::Pipeline] = {0.001, 0.001, 1e8};
        r.waits_for_links_s = 0.003;
    }
    EXPECT_THAT(report_text(two_stages(), a), HasSubstr(R"(
Communication, mean             exposed     hidden         size         GB/s
  tensor parallel              4.000 ms   1.000 ms    953.7 MiB        200.0
  pipeline                     1.000 ms   1.000 ms    95.37 MiB         20.0  3.000 ms idle

)"));
}

TEST(ReportText, SaysWhyAPlanDoesNotFit) {
    PredictionWithTrace a = answer(false);
    a.prediction.reason = "rank 7 is full";
    a.prediction.memory_verdict = MemoryVerdict::DoesNotFit;
    EXPECT_THAT(report_text(two_stages(), a),
                HasSubstr("memory      does not fit: rank 7 is full\n"));
    a.prediction.reason.clear();
    EXPECT_THROW(report_text(two_stages(), a), Defect) << "predict always says why";
}

TEST(ReportText, SaysWhatIsReservedAndLeftAndWhereNobodyCanTellWhetherItFits) {
    PredictionWithTrace a = answer(true);
    a.prediction.ranks[0].reserved = Bytes{41 * kGib};
    a.prediction.headroom = Bytes{2 * kGib};
    a.prediction.memory_left = Bytes{kGib};
    EXPECT_THAT(report_text(two_stages(), a),
                HasSubstr("memory      fits: at most 40.00 of 44.00 GiB, on rank 0 at 0F1, gelu; "
                          "the allocator reserves at\n              most 41.00; 2.00 are headroom; "
                          "1.00 left\n"));
    a.prediction.memory_verdict = MemoryVerdict::CannotBeTold;
    a.prediction.memory_range = MemoryRange{
        Bytes{39 * kGib}, Bytes{43 * kGib}, {"megatron-2026", "dense", 8, 0.95, 1, 1.05}};
    EXPECT_THAT(report_text(two_stages(), a), HasSubstr("memory      cannot be told: at most"));
    EXPECT_THAT(memory_range_words(*a.prediction.memory_range),
                "39.00 to 43.00 GiB by 80 % of the 8 published peaks most like it (megatron-2026, "
                "dense)");
    EXPECT_EQ(
        headline(a.prediction),
        "tiny: step 100.000 ms, bubble 25.0 %, exposed 5.0 %, MFU 43.2 %, memory: cannot be told");
}

TEST(ReportText, SaysThatMfuIsUnknownInsteadOfInventingOne) {
    PredictionWithTrace a = answer(true);
    a.prediction.mfu.reset();
    EXPECT_THAT(report_text(two_stages(), a), HasSubstr("  MFU         unknown"));
    EXPECT_EQ(headline(a.prediction), "tiny: step 100.000 ms, bubble 25.0 %, exposed 5.0 %, fits");
}

TEST(ReportText, KeepsToOneHundredColumnsWhateverTheNames) {
    PredictionWithTrace a = answer(false);
    a.prediction.scenario = std::string(300, 'x');
    a.prediction.reason = "rank 0 needs 47.00 GiB at " + std::string(200, 'p');
    a.prediction.notes.push_back(std::string(150, 'y') + " " + std::string(90, 'z'));
    for (RankPrediction& r : a.prediction.ranks) {
        r.peak_op = std::string(200, 'p');
        r.stages.clear();
        for (int s = 0; s < 40; ++s) r.stages.push_back(Stage{2 * s});
    }
    a.prediction.ranks.resize(100, a.prediction.ranks.front());
    for (int i = 0; i < 100; ++i) {
        RankPrediction& r = a.prediction.ranks[static_cast<std::size_t>(i)];
        r.rank = Rank{i};
        r.busy_s += 0.001 * i;
    }
    const std::string text = report_text(two_stages(), a);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        EXPECT_LE(end - begin, 100U) << text.substr(begin, end - begin);
        begin = end + 1;
    }
    EXPECT_THAT(text, HasSubstr("... 68 more ranks"));
}

TEST(ReportText, IsColouredOnlyWhenAsked) {
    const auto escapes = [](const std::string& s) { return std::ranges::count(s, '\x1b'); };
    EXPECT_EQ(escapes(report_text(two_stages(), answer(true))), 0);
    EXPECT_GT(escapes(report_text(two_stages(), answer(true), {true})), 0);
}

TEST(ReportText, NamesShardingChunksAndRecomputeInThePlan) {
    scenarios::Scenario s = two_stages();
    s.parallel.zero_stage = 1;
    s.parallel.stages_per_rank = 2;
    s.training.micro_batches = 1;
    s.training.recompute = models::Recompute::Full;
    EXPECT_EQ(plan_of(s),
              "tensor 1, pipeline 2, data 1, ZeRO-1; 1f1b of 2 stages per rank; 1 microbatch of "
              "8 x 1024 tokens; full recompute");
}

TEST(ReportText, NamesHowExpertsAreSharedAndCut) {
    scenarios::Scenario s = two_stages();
    s.parallel.tensor = s.parallel.expert_tensor = 2;
    s.parallel.expert = 4;
    change_layers(s.model, [](models::LayerKeys& keys) { keys.experts = 8; });
    EXPECT_THAT(plan_of(s), testing::StartsWith("tensor 2, pipeline 2, data 1, expert 4; 1f1b"));
    s.parallel.expert_tensor = 1;
    s.training.expert_load = 1.25;
    EXPECT_THAT(plan_of(s), testing::StartsWith("tensor 2, pipeline 2, data 1, expert 4, "
                                                "expert_tensor 1, expert_load 1.25; 1f1b"));
}

TEST(Report, SaysWhatPairsHide) {
    PredictionWithTrace a = answer(true);
    EXPECT_THAT(report_text(two_stages(), a), Not(HasSubstr("of all-to-all")));
    EXPECT_FALSE(report_json(a).contains("pairs"));
    const auto part = [](Lane lane, int begin_ms, int end_ms) {
        PairPart p;
        p.lane = lane;
        p.begin = Instant{std::chrono::milliseconds(begin_ms)};
        p.end = Instant{std::chrono::milliseconds(end_ms)};
        return p;
    };
    a.trace.pair_parts = {part(Lane::Collective, 0, 10), part(Lane::Compute, 0, 5),
                          part(Lane::Compute, 10, 90), part(Lane::Collective, 30, 40)};
    Span pair;
    pair.action = Overlap{};
    for (PairPart& p : a.trace.pair_parts) p.products = p.lane == Lane::Compute ? 0.5 : 0;
    a.trace.spans = {pair};
    EXPECT_THAT(report_text(two_stages(), a),
                HasSubstr("  pairs       20.000 ms of all-to-all in each, 75.0 % of it hidden "
                          "under computes, 37.5 % under GEMMs "
                          "and attention\n"));
    const auto json = report_json(a);
    EXPECT_EQ(json["pairs"]["pairs"], 1);
    EXPECT_DOUBLE_EQ(json["pairs"]["exchange_s"].get<double>(), 0.020);
    EXPECT_DOUBLE_EQ(json["pairs"]["hidden_s"].get<double>(), 0.015);
    EXPECT_DOUBLE_EQ(json["pairs"]["beside_products_s"].get<double>(), 0.0075);
}

}  // namespace
}  // namespace debubble::sim
