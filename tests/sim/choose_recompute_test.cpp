#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/plan/recompute_choices.h"
#include "scenarios/read/read_scenario.h"
#include "sim/grid/grid.h"
#include "sim/predict.h"
#include "sim/report/report.h"

namespace debubble::sim {
namespace {

using scenarios::Override;
using scenarios::RecomputeChoice;
using scenarios::Scenario;
using testing::HasSubstr;

/// Small jobs of every kind of network, in memory that the test sets.
std::vector<Scenario> small_jobs(const std::vector<Override>& more) {
    std::vector<Scenario> jobs;
    const auto add = [&](const char* name, std::vector<Override> keys) {
        keys.push_back({"training.recompute", "auto"});
        keys.insert(keys.end(), more.begin(), more.end());
        jobs.push_back(scenarios::read_scenario(name, keys));
    };
    add("gpt2-xl-1f1b", {{"model", "{base: gpt2-xl, layers: 12}"},
                         {"training.micro_batches", "8"},
                         {"training.global_batch", "8"}});
    add("mixtral-8x22b", {{"model", "{base: mixtral-8x22b, layers: 16}"},
                          {"parallel.data", "auto"},
                          {"training.global_batch", "64"}});
    return jobs;
}

Prediction predicted(const Scenario& scenario, const RecomputeChoice& choice) {
    return predict(with(scenario, choice), {.keep_trace = false}).prediction;
}

/// A device's memory, in bytes, of which plans that recompute nothing, something and all need less.
std::vector<std::int64_t> limits_for(const Scenario& scenario) {
    std::vector<std::int64_t> needs;
    for (const RecomputeChoice& choice : recompute_choices(scenario)) {
        const Prediction p = predicted(scenario, choice);
        needs.push_back(scenario.cluster.gpu.memory.count - p.memory_left.count);
    }
    std::ranges::sort(needs);
    return {needs.front(), needs[needs.size() / 4], needs[needs.size() / 2], needs.back()};
}

/// The job in each limit is what the fastest of all its choices that fit is.
void expect_the_best_of_all(Scenario job) {
    const bool offloads = job.training.chooses_offload;
    for (const std::int64_t limit : limits_for(job)) {
        job.cluster.gpu.memory = Bytes{limit};
        std::optional<Prediction> best;
        std::string words;
        for (const RecomputeChoice& choice : recompute_choices(job)) {
            const Prediction p = predicted(job, choice);
            if (!p.fits || (best && best->step_time_s <= p.step_time_s)) continue;
            best = p;
            const Scenario chosen = with(job, choice);
            words = recompute_text(chosen.training);
            if (offloads) words += "; offload " + offload_text(chosen.training);
        }
        ASSERT_TRUE(best) << job.name << ", " << limit;
        const Prediction chosen = predict(job).prediction;
        EXPECT_TRUE(chosen.fits);
        EXPECT_EQ(chosen.step_time_s, best->step_time_s) << job.name << ", " << limit;
        ASSERT_TRUE(chosen.recompute);
        EXPECT_EQ(chosen.recompute->words, words) << job.name << ", " << limit;
    }
}

TEST(RecomputeAuto, ChoosesWhatAnExhaustiveSearchDoes) {
    for (const Scenario& job : small_jobs({})) expect_the_best_of_all(job);
}

TEST(OffloadAuto, ChoosesWhatAnExhaustiveSearchDoes) {
    expect_the_best_of_all(small_jobs({{"training.offload", "auto"}}).front());
}

/// With a link to the host that costs next to nothing, what travels costs no time, and what runs
/// again does.
TEST(OffloadAuto, LetsActivationsTravelRatherThanRunAgain) {
    for (Scenario job : small_jobs({{"training.offload", "auto"}})) {
        job.cluster.gpu.host_link = BytesPerSecond{1e15};
        const Prediction nothing = predicted(job, RecomputeChoice{});
        job.cluster.gpu.memory =
            Bytes{job.cluster.gpu.memory.count - nothing.memory_left.count - 1};
        const Prediction chosen = predict(job).prediction;
        EXPECT_TRUE(chosen.fits);
        EXPECT_THAT(chosen.recompute->words, HasSubstr("offload {modules: ["));
        EXPECT_LE(chosen.step_time_s, 1.01 * nothing.step_time_s);
    }
}

TEST(OffloadAuto, IsRefusedBesideWhatIsNotChosen) {
    EXPECT_THROW(scenarios::read_scenario("gpt2-xl-1f1b", {{"training.offload", "auto"}}),
                 InputError);
}

TEST(RecomputeAuto, ComputesNothingAgainWhereEverythingFits) {
    for (Scenario job : small_jobs({})) {
        job.cluster.gpu.memory = Bytes{std::int64_t{1} << 45};
        job.framework.host_micro_batch = {};  // a longer backward may hide what a host waits for
        const PredictionWithTrace chosen = predict(job);
        EXPECT_EQ(chosen.prediction.recompute->words, "none");
        const PredictionWithTrace plain = predict(with(job, RecomputeChoice{}));
        EXPECT_EQ(chosen.trace.spans, plain.trace.spans);
    }
}

TEST(RecomputeAuto, NeverGetsFasterInLessMemory) {
    for (Scenario job : small_jobs({})) {
        double before = 0;
        std::vector<std::int64_t> limits = limits_for(job);
        std::ranges::reverse(limits);
        for (const std::int64_t limit : limits) {
            job.cluster.gpu.memory = Bytes{limit};
            const double now = predict(job, {.keep_trace = false}).prediction.step_time_s;
            EXPECT_GE(now, before) << job.name;
            before = now;
        }
    }
}

TEST(RecomputeAuto, SaysWhatNeedsTheLeastWhereNothingFits) {
    for (Scenario job : small_jobs({})) {
        job.cluster.gpu.memory = Bytes{limits_for(job).front() - 1};
        const Prediction p = predict(job).prediction;
        EXPECT_FALSE(p.fits);
        EXPECT_THAT(p.reason, HasSubstr("training.recompute: auto finds nothing that fits"));
        EXPECT_EQ(p.recompute->fitting, 0u);
        EXPECT_EQ(p.recompute->played, p.recompute->choices);
        EXPECT_EQ(p.memory_left.count, -1);
    }
}

/// What it chooses can be written into the scenario instead of `auto`, which then reads.
TEST(RecomputeAuto, ChoosesAmongWhatTheReaderTakes) {
    const std::vector<std::vector<Override>> kinds{
        {},
        {{"training.precision", "fp8-delayed"}},
        {{"schedule", "{name: combined-1f1b, stages_per_rank: 2}"}}};
    for (const std::vector<Override>& kind : kinds)
        for (const char* name : {"mixtral-8x22b", "deepseek-v3"}) {
            const auto read = [&](const std::string& recompute) {
                std::vector<Override> keys = kind;
                keys.push_back({"training.recompute", recompute});
                return scenarios::read_scenario(name, keys);
            };
            Scenario job;
            try {
                job = read("auto");
            } catch (const InputError&) {
                continue;  // the network's cut does not take the schedule
            }
            const auto choices = recompute_choices(job);
            EXPECT_LE(choices.size(), 2 * scenarios::kMostRecomputeChoices);
            for (std::size_t i = 0; i < choices.size(); i += choices.size() / 20 + 1) {
                const Scenario again = read(recompute_text(with(job, choices[i]).training));
                EXPECT_EQ(again.training.recompute, choices[i].recompute);
                EXPECT_EQ(again.training.recompute_extent, choices[i].extent);
            }
        }
}

/// A row that says only `auto` could not be planned again without being chosen again.
TEST(RecomputeAuto, StandsInTheRowsOfASweep) {
    const Grid grid(
        "include: gpt2-xl-1f1b\n"
        "cluster: {base: dgx-a100-80gb}\n"
        "training: {recompute: auto}\n"
        "sweep: {cluster.gpu.memory: [80 GiB, 14 GiB]}\n",
        "auto.yaml", {});
    EXPECT_THAT(evaluate(grid, 0).plan.value(), testing::EndsWith("; auto chose none"));
    const SweepRow row = evaluate(grid, 1);
    ASSERT_TRUE(row.plan);
    const std::string chosen = row.plan->substr(row.plan->rfind("; auto chose ") + 13);
    EXPECT_THAT(chosen, HasSubstr("layers: "));
    const Scenario again =
        scenarios::read_scenario("gpt2-xl-1f1b", {{"training.recompute", chosen}});
    EXPECT_NEAR(predict(again).prediction.step_time_s, row.figure("step_time_s"), 1e-9);
}

}  // namespace
}  // namespace debubble::sim
