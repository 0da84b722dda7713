#include "exec/program/run/world/same_run.h"

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "exec/comm/transports.h"
#include "exec/program/run/prepare_run.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::exec {
namespace {

using testing::Contains;
using testing::Each;
using testing::Not;

/// The sentence of each rank that brings these facts.
std::vector<std::string> verdicts(const std::vector<RunFacts>& by_rank) {
    std::vector<std::string> said(by_rank.size());
    run_local(static_cast<int>(by_rank.size()), Transport::Buffered, [&](Communicator& world) {
        const auto rank = static_cast<std::size_t>(world.rank());
        try {
            check_same_run(world, by_rank[rank], std::chrono::seconds(60));
        } catch (const InputError& error) {
            said[rank] = error.what();
        }
    });
    return said;
}

TEST(RanksThatRunTheSame, AreToldNothing) {
    EXPECT_THAT(verdicts({{{"a", "1"}, {"b", "2"}}, {{"a", "1"}, {"b", "2"}}}), Each(""));
    EXPECT_THAT(verdicts({{{"a", "1"}}}), Each(""));
}

TEST(RanksThatDoNotRunTheSame, AreAllToldWhatDiffersAndWhere) {
    EXPECT_THAT(verdicts({{{"lr", "0.1"}, {"seed", "1"}, {"clip", "1"}},
                          {{"lr", "0.2"}, {"seed", "1"}},
                          {{"lr", "0.1"}, {"seed", "1"}, {"clip", "1"}},
                          {{"lr", "0.1"}, {"seed", "1"}, {"clip", "1"}},
                          {{"lr", "0.3"}, {"seed", "1"}, {"clip", "1"}}}),
                Each("error: all ranks must run the same: lr is 0.1 on ranks 0 and 2-3, 0.2 on "
                     "rank 1, 0.3 on rank 4\n"
                     "error: all ranks must run the same: clip is 1 on ranks 0 and 2-4, not set on "
                     "rank 1\n"));
}

TEST(RanksThatDoNotRunTheSame, AreToldOfManyDifferencesTheFirst) {
    RunFacts one, other;
    for (int i = 0; i < 20; ++i) {
        one.push_back({"key " + std::to_string(i), "a"});
        other.push_back({"key " + std::to_string(i), "b"});
    }
    const std::string said = verdicts({one, other}).front();
    EXPECT_THAT(said, testing::HasSubstr("key 7 is a on rank 0, b on rank 1\n"));
    EXPECT_THAT(said, Not(testing::HasSubstr("key 8 is")));
    EXPECT_THAT(said, testing::EndsWith("error: and 12 more differ\n"));
}

RunFacts facts_in(const std::string& training, const std::string& name = "tiny") {
    const scenarios::Scenario scenario = scenarios::parse_scenario("name: " + name + R"(
model: {name: )" + name + R"(, family: gpt2, layers: 4, hidden: 8, heads: 2, vocab: 260,
        max_positions: 16}
cluster: dgx-a100-40gb
gpus: 2
parallel: {pipeline: 2}
training: {global_batch: 4, micro_batch: 1, seq_length: 16, )" + training +
                                                                       "}\n",
                                                                   "tiny.yaml");
    return scenario_facts(scenario, training_options(scenario));
}

TEST(TheFactsOfAScenario, HaveNoPathsAndNoNames) {
    const std::string there = "data: {text: there.txt}, init_from: b, checkpoint: {dir: x}";
    const std::string here = "data: {text: here.txt}, init_from: a, checkpoint: {dir: y}";
    EXPECT_EQ(facts_in(there, "one"), facts_in(here, "two"));
}

TEST(TheFactsOfAScenario, AreTheSameHoweverTheScenarioSaysThem) {
    EXPECT_EQ(facts_in("optimizer: {name: adamw, lr: 1e-3}, seed: 0"),
              facts_in("optimizer: adamw"));
    EXPECT_EQ(
        facts_in("precision: fp32"),
        facts_in("precision: {compute: fp32, main_params: none, grads: fp32, moments: fp32}"));
    EXPECT_THAT(facts_in("clip_norm: 1.0"), Contains(Fact{"training.clip_norm", "1"}));
    for (const std::string name : {"adamw", "sgd", "muon"})
        EXPECT_THAT(facts_in("optimizer: {name: " + name + ", weight_decay_of: matrices}"),
                    Contains(Fact{"training.optimizer.weight_decay_of", "matrices"}));
}

TEST(TheFactsOfAScenario, HaveANameOfTheirOwnEach) {
    std::vector<std::string> names;
    for (const Fact& fact : facts_in("precision: fp16, checkpoint: {dir: x, every: 2}"))
        names.push_back(fact.what);
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
    EXPECT_GT(names.size(), 50u);
}

}  // namespace
}  // namespace debubble::exec
