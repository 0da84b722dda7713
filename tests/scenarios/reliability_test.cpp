#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "text/shipped_files.h"

/// What stops a run of weeks, and what it costs.
namespace debubble::scenarios {
namespace {

Scenario scenario_that_says(const std::string& keys) {
    return parse_scenario("model: gpt2-xl\ncluster: dgx-a100-80gb\nnodes: 4\n" + keys, "here.yaml");
}

std::string mistake_of(const std::string& keys) {
    try {
        (void)scenario_that_says(keys);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(Reliability, ChangesKeysOfAShippedProfile) {
    const Reliability plain = *scenario_that_says("reliability: llama3-2024\n").reliability;
    EXPECT_NEAR(plain.failures_per_gpu_year, 0.1107, 1e-9);
    EXPECT_EQ(plain.hosts_per_switch, 2);
    EXPECT_EQ(plain.restart, (RestartTimes{768, 0, 0.0}));
    EXPECT_TRUE(plain.checkpoint.async);
    EXPECT_FALSE(plain.checkpoint.every_s);
    EXPECT_FALSE(plain.spares);
    const Reliability mine = *scenario_that_says(
                                  "reliability: {base: llama3-2024, spares: 3, repair: 2 d, "
                                  "checkpoint: {every: 30 min}, restart: {start: 90 s}}\n")
                                  .reliability;
    EXPECT_EQ(mine.failures_per_gpu_year, plain.failures_per_gpu_year);
    EXPECT_EQ(mine.spares, 3);
    EXPECT_EQ(mine.repair_s, 2 * 86400);
    EXPECT_EQ(mine.checkpoint.every_s, 1800);
    EXPECT_EQ(mine.restart.start_s, 90);
    EXPECT_FALSE(mine.restart.load_s);
    EXPECT_TRUE(plain.maintenance);
    EXPECT_FALSE(scenario_that_says("reliability: {base: llama3-2024, maintenance: none}\n")
                     .reliability->maintenance);
    EXPECT_FALSE(scenario_that_says("").reliability);
}

TEST(Reliability, KeepsItsProfileWhereOneKeyIsSet) {
    const Scenario s = parse_scenario(
        "model: gpt2-xl\ncluster: dgx-a100-80gb\n"
        "reliability: rsc-1\n",
        "here.yaml", {{"reliability.spares", "3"}});
    EXPECT_EQ(s.reliability->spares, 3);
    EXPECT_NEAR(s.reliability->failures_per_host_year, 2.374, 1e-9);
}

TEST(Reliability, OfEveryShippedProfileFails) {
    for (const std::string& name : text::shipped_names("scenarios/reliability")) {
        const Reliability r = *scenario_that_says("reliability: " + name + "\n").reliability;
        EXPECT_EQ(r.name, name);
        EXPECT_GT(r.failures_per_gpu_year + r.failures_per_host_year, 0) << name;
    }
}

TEST(Reliability, SaysWhatIsWrong) {
    EXPECT_THAT(mistake_of("reliability: {detect: 5}\n"),
                testing::HasSubstr("here.yaml:4:23: error: 'detect': '5' has no unit; write it as "
                                   "'4 h'"));
    EXPECT_THAT(mistake_of("reliability: {checkpoint: {every: 0 s}}\n"),
                testing::HasSubstr("'every' must be more than 0 s, or auto"));
    EXPECT_THAT(mistake_of("reliability: {maintenance: {every: 0 s, takes: 1 h}}\n"),
                testing::HasSubstr("'maintenance.every' must be more than 0 s"));
    EXPECT_THAT(mistake_of("reliability: {spare: 3}\n"),
                testing::HasSubstr("did you mean 'spares'"));
    EXPECT_THAT(mistake_of("reliability: llama-2024\n"),
                testing::HasSubstr("did you mean 'llama3-2024'"));
    EXPECT_THAT(mistake_of("reliability: {slow_rank: {rate: 1, factor: 0.5}}\n"),
                testing::HasSubstr("'factor'"));
    EXPECT_THAT(mistake_of("price: {gpu_hour: 2.5}\n"),
                testing::HasSubstr("three letters, as '2.5 USD', not '2.5'"));
    EXPECT_THAT(mistake_of("energy: {pue: 0.9}\n"), testing::HasSubstr("'pue'"));
}

/// Replicas that share their state cannot go on without one of them.
TEST(Reliability, IsElasticOnlyWhereReplicasHaveTheWholeState) {
    EXPECT_EQ(mistake_of("parallel: {data: 32}\nreliability: {elastic: true}\n"), "");
    EXPECT_THAT(mistake_of("parallel: {data: 32, zero_stage: 1}\nreliability: {elastic: true}\n"),
                testing::HasSubstr("no replica has the whole state"));
    const Scenario copies = scenario_that_says(
        "parallel: {data: 32, zero_stage: 3, shard: 8}\nreliability: {elastic: true}\n");
    EXPECT_EQ(elastic_replicas(copies), 4);
    EXPECT_THAT(mistake_of("parallel: {pipeline: 32}\nreliability: {elastic: true}\n"),
                testing::HasSubstr("there is one replica"));
}

/// What was measured of a cluster stands between another one's profile and the scenario's own keys.
TEST(Reliability, OfAClusterGoesAboveAProfileAndBelowTheScenario) {
    const auto with = [](const std::string& own, const std::string& keys) {
        return parse_scenario("model: gpt2-xl\ncluster: {base: dgx-a100-80gb, reliability: " + own +
                                  "}\nnodes: 4\n" + keys,
                              "here.yaml");
    };
    const std::string measured = "{checkpoint: {write_bandwidth: 3 GB/s}, restart: {start: 90 s}}";
    const Reliability alone = *with(measured, "").reliability;
    EXPECT_EQ(alone.checkpoint.write_bandwidth, BytesPerSecond{3e9});
    EXPECT_EQ(alone.restart.start_s, 90);
    EXPECT_EQ(alone.failures_per_gpu_year, 0);
    const Reliability named = *with(measured, "reliability: llama3-2024\n").reliability;
    EXPECT_EQ(named.checkpoint.write_bandwidth, BytesPerSecond{3e9});
    EXPECT_EQ(named.checkpoint.read_bandwidth, BytesPerSecond{7e12}) << "which was not measured";
    EXPECT_NEAR(named.failures_per_gpu_year, 0.1107, 1e-9);
    EXPECT_EQ(named.restart.start_s, 90);
    const Reliability own = *with(measured,
                                  "reliability: {base: llama3-2024, checkpoint: "
                                  "{write_bandwidth: 5 GB/s}}\n")
                                 .reliability;
    EXPECT_EQ(own.checkpoint.write_bandwidth, BytesPerSecond{5e9});
    EXPECT_TRUE(own.checkpoint.async);
    const Reliability no_base = *with(measured, "reliability: {spares: 2}\n").reliability;
    EXPECT_EQ(no_base.spares, 2);
    EXPECT_EQ(no_base.checkpoint.write_bandwidth, BytesPerSecond{3e9});
    EXPECT_NEAR(with("rsc-1", "").reliability->failures_per_host_year, 2.374, 1e-9);
    try {
        (void)with("{checkpoint: {every: 0 s}}", "");
        FAIL() << "a save each 0 s";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("here.yaml:2:"));
        EXPECT_THAT(error.what(), testing::HasSubstr("'every' must be more than 0 s"));
        EXPECT_EQ(error.diagnostics().size(), 1u);
    }
}

/// Four saves of 14 bytes for each of 1.56 billion parameters are 87 GB; half of it on each node.
TEST(Reliability, KeepsNoMoreCopiesThanHostsHaveMemoryFor) {
    const auto mistake = [](const std::string& memory, int nodes) -> std::string {
        try {
            (void)parse_scenario(
                "model: gpt2-xl\ncluster: {base: dgx-a100-80gb, host_memory: " + memory +
                    "}\nnodes: " + std::to_string(nodes) +
                    "\nreliability: {base: rsc-1, checkpoint: {keep_in_memory: true}}\n",
                "here.yaml");
        } catch (const InputError& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(mistake("50 GB", 2), "");
    EXPECT_THAT(
        mistake("40 GB", 2),
        testing::HasSubstr("here.yaml:4:40: error: keep_in_memory holds 43.6 GB on each node "
                           "(4 saves of 10.9 GB: the last complete one and the next, each "
                           "with a neighbour's), which has 40 GB (cluster.host_memory)"));
    EXPECT_EQ(mistake("40 GB", 4), "");
}

TEST(Tokens, AreACountBesideWhichNothingElseSaysHowLongARunIs) {
    EXPECT_EQ(scenario_that_says("training: {tokens: 15T}\n").training.run.tokens,
              15'000'000'000'000);
    EXPECT_EQ(scenario_that_says("training: {tokens: 1.5e9}\n").training.run.tokens, 1'500'000'000);
    EXPECT_THAT(mistake_of("training: {tokens: 15T, steps: 3}\n"),
                testing::HasSubstr("here.yaml:4:20: error: give either 'steps' or 'tokens'"));
    EXPECT_THAT(mistake_of("training: {tokens: 15T, epochs: 3}\n"),
                testing::HasSubstr("give either 'epochs' or 'tokens'"));
    EXPECT_THAT(mistake_of("training: {tokens: 15Q}\n"), testing::HasSubstr("unknown unit 'Q'"));
}

}  // namespace
}  // namespace debubble::scenarios
