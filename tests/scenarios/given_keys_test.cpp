#include <gmock/gmock.h>

#include "scenarios/read/read_scenario.h"

namespace debubble::scenarios {
namespace {

using testing::Contains;

using testing::Not;
using testing::Pair;
using testing::StartsWith;

GivenKeys given_by(const std::string& more, const std::vector<Override>& set = {}) {
    return parse_scenario("model: gpt2-xl\ncluster: dgx-a100-80gb\n" + more, "given.yaml", set)
        .given;
}

TEST(GivenKeys, AreThoseOfTheScenarioByTheirPaths) {
    const GivenKeys given = given_by(
        "name: mine\npublished: {source: x, step: 1 s}\nparallel: {data: 8}\ntraining: {optimizer: "
        "{name: adamw, lr: 1}}\n");
    EXPECT_EQ(given, (GivenKeys{{"parallel.data", "8"},
                                {"training.optimizer.lr", "1"},
                                {"training.optimizer.name", "adamw"}}));
}

TEST(GivenKeys, OfAPartAreThoseThatDifferFromTheShippedOneBelow) {
    EXPECT_THAT(given_by("framework: megatron-2026\n"), testing::IsEmpty());
    EXPECT_EQ(
        given_by("framework: {base: megatron-2026, dispatcher: deepep, eager_experts: true}\n"),
        (GivenKeys{{"framework.dispatcher", "deepep"}}))
        << "experts are the profile's";
    EXPECT_EQ(given_by("", {{"cluster.network.nic_bandwidth", "77 Gb/s"}}),
              (GivenKeys{{"cluster.network.nic_bandwidth", "77 Gb/s"}}));
    EXPECT_EQ(given_by("", {{"model.layers", "3"}}), (GivenKeys{{"model.layers", "3"}}));
}

TEST(GivenKeys, OfAPartWithoutABaseAreAll) {
    EXPECT_THAT(given_by("framework: {host_kernel: 3 us}\n"),
                Contains(Pair("framework.host_kernel", "3 us")));
}

TEST(GivenKeys, AreOneHashWhereTheyAreLong) {
    std::string loads = "1.1";
    for (int i = 0; i < 60; ++i) loads += ", 1.25";
    const std::vector<Override> set{{"imbalance", "{router: {loads: [" + loads + "]}}"},
                                    {"parallel", "{data: 8, expert: 8}"},
                                    {"model", "mixtral-8x7b"}};
    const GivenKeys given = given_by("", set);
    EXPECT_THAT(given, Contains(Pair("imbalance.router.loads", StartsWith("sha256 "))));
    EXPECT_THAT(given, Not(Contains(testing::Key("model"))));
    EXPECT_NE(
        given,
        given_by("", {{"imbalance", "{router: {loads: [" + loads + ", 1.5]}}"}, set[1], set[2]}));
}

}  // namespace
}  // namespace debubble::scenarios
