#include "sim/explain/bill.h"

#include <gmock/gmock.h>

#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"
#include "sim/report/report.h"

namespace debubble::sim {
namespace {

PredictionWithTrace with_bill(const std::string& name,
                              const std::vector<scenarios::Override>& keys = {}) {
    PredictOptions options;
    options.keep_trace = false;
    options.bill = true;
    return predict(scenarios::read_scenario(name, keys), options);
}

const BillPart* part(const Bill& bill, const std::string& key) {
    const auto found = std::ranges::find(bill.parts, key, &BillPart::key);
    return found == bill.parts.end() ? nullptr : &*found;
}

struct Job {
    const char* name;
    std::vector<scenarios::Override> keys = {};
};
const std::vector<Job> kJobs{
    {"gpt2-xl-1f1b"},
    {"gpt2-xl-zb-v"},
    {"gpt2-xl", {{"training.recompute", "full"}}},
    {"gpt2-xl-1f1b", {{"parallel.partition", "balanced"}}},
    {"a40-fsdp-7b"},
    {"gpt-22b"},
    {"deepseek-v3"},
    {"gpt2-xl", {{"imbalance", "{jitter: 0.03, draws: 3}"}}},
    {"gpt2-xl-zb-h2", {{"framework.post_validation", "true"}}},
};

TEST(Bill, AddsUpToTheStepToTheNanosecond) {
    for (const Job& job : kJobs) {
        const PredictionWithTrace answer = with_bill(job.name, job.keys);
        ASSERT_TRUE(answer.bill) << job.name;
        Duration sum{};
        for (const BillPart& one : answer.bill->parts) sum += one.takes;
        EXPECT_EQ(sum, answer.bill->step) << job.name;
        EXPECT_EQ(seconds(answer.bill->step), answer.prediction.step_time_s) << job.name;
    }
}

TEST(Bill, AsksForNothingThatMakesTheStepLonger) {
    for (const Job& job : kJobs) {
        const Bill bill = *with_bill(job.name, job.keys).bill;
        int freed = 0;
        for (const BillPart& one : bill.parts) {
            if (one.key != "kernels") {
                EXPECT_GE(one.takes, Duration{}) << job.name << ' ' << one.key;
            }
            if (!one.if_free) continue;
            ++freed;
            // Flows that end earlier may share links otherwise: by no more than a thousandth.
            EXPECT_LE(seconds(*one.if_free), 1.001 * seconds(bill.step))
                << job.name << ' ' << one.key;
        }
        EXPECT_GE(freed, 4) << job.name;
    }
}

TEST(Bill, BeginsWithTheFlopsOfTheModelAtThePeakOfAllGpus) {
    const scenarios::Scenario scenario = scenarios::read_scenario("gpt2-xl-1f1b", {});
    const Bill bill = *with_bill("gpt2-xl-1f1b").bill;
    const double ideal = scenarios::model_flops_per_step(scenario) *
                         scenarios::attended_share(scenario) / scenario.parallel.gpus() /
                         *scenarios::peak_flops_per_s(scenario);
    ASSERT_EQ(bill.parts.front().key, "ideal");
    EXPECT_NEAR(seconds(bill.parts.front().takes), ideal, 1e-6);
    EXPECT_FALSE(bill.parts.front().if_free) << "the ideal cannot be free";
}

TEST(Bill, IsThatOfTheReportWhereBothSpeakOfTheSame) {
    const PredictionWithTrace answer = with_bill("gpt-22b");
    const Prediction& p = answer.prediction;
    const auto ranks = static_cast<double>(p.ranks.size());
    double tensor = 0;
    double optimizer = 0;
    for (const RankPrediction& rank : p.ranks) {
        tensor += rank.communication[CommunicationKind::Tensor].exposed / ranks;
        optimizer += rank.optimizer_s / ranks;
    }
    ASSERT_NE(part(*answer.bill, "exposed_tp"), nullptr);
    EXPECT_NEAR(seconds(part(*answer.bill, "exposed_tp")->takes), tensor, 1e-6);
    EXPECT_NEAR(seconds(part(*answer.bill, "optimizer")->takes), optimizer, 1e-6);
}

TEST(Bill, PlaysAgainWhatIsFree) {
    // Without a network a plan of one pipeline rank has nothing but its computes left.
    const std::vector<scenarios::Override> one{{"gpus", "1"},
                                               {"parallel.tensor", "1"},
                                               {"parallel.pipeline", "1"},
                                               {"parallel.data", "1"}};
    const Bill alone = *with_bill("gpt2-xl-1f1b", one).bill;
    EXPECT_EQ(part(alone, "stage"), nullptr);
    EXPECT_EQ(part(alone, "warm_up"), nullptr);
    EXPECT_EQ(part(alone, "uneven_stages"), nullptr);
    const BillPart& optimizer = *part(alone, "optimizer");
    EXPECT_NEAR(seconds(alone.step - *optimizer.if_free), seconds(optimizer.takes), 1e-9);
}

TEST(Bill, TellsRecomputeFromTheSamePlanWithoutIt) {
    const auto busy_of = [](const Prediction& p) {
        double sum = 0;
        for (const RankPrediction& rank : p.ranks)
            sum += rank.busy_s / static_cast<double>(p.ranks.size());
        return sum;
    };
    const PredictionWithTrace full = with_bill("gpt2-xl", {{"training.recompute", "full"}});
    const PredictionWithTrace none = with_bill("gpt2-xl", {{"training.recompute", "none"}});
    const BillPart* again = part(*full.bill, "recompute");
    ASSERT_NE(again, nullptr);
    EXPECT_NEAR(seconds(again->takes), busy_of(full.prediction) - busy_of(none.prediction), 1e-6);
    EXPECT_NEAR(seconds(*again->if_free), none.prediction.step_time_s, 1e-6);
    EXPECT_EQ(part(*with_bill("gpt2-xl", {{"training.recompute", "none"}}).bill, "recompute"),
              nullptr);
}

TEST(Bill, IsInTheReportAndItsJson) {
    const PredictionWithTrace answer = with_bill("gpt2-xl-1f1b");
    const auto json = report_json(answer);
    std::int64_t sum = 0;
    for (const auto& one : json["bill"]["parts"]) sum += one["takes_ns"].get<std::int64_t>();
    EXPECT_EQ(sum, json["bill"]["step_ns"].get<std::int64_t>());
    const std::vector<TableLine> lines = bill_table(*answer.bill);
    ASSERT_EQ(lines.size(), answer.bill->parts.size() + 2);
    for (const TableLine& line : lines) EXPECT_LE(line.words.size(), 100U) << line.words;
    EXPECT_THAT(lines[1].words, testing::HasSubstr("model FLOPs at the peak rate"));
    EXPECT_FALSE(
        report_json(predict(scenarios::read_scenario("gpt2-xl-1f1b", {}))).contains("bill"));
}

}  // namespace
}  // namespace debubble::sim
