#include <initializer_list>

#include <gtest/gtest.h>

#include "tests/sim/physical_models.h"

namespace debubble::sim {
namespace {

/// A forward and a backward, apart and as a pair.
struct Pair {
    ComputeCost forward;
    ComputeCost backward;
    ComputeCost both;
    Duration apart() const { return forward.duration + backward.duration; }
};

Pair pair_in(const scenarios::Scenario& scenario,
             std::initializer_list<scenarios::Exchange> hides = {}) {
    scenarios::Scenario with = scenario;
    for (const scenarios::Exchange exchange : hides)
        with.framework.pair_hides[static_cast<std::size_t>(exchange)] = true;
    const auto model = price(with);
    const Compute forward{Pass::Forward, Stage{0}, {1, {}}};
    const Compute backward{Pass::Backward, Stage{0}, {0, {}}};
    return {model->compute(forward, Rank{0}), model->compute(backward, Rank{0}),
            model->overlap({forward, backward}, Rank{0})};
}

TEST(PhysicalCostModel, APairTakesBothItsPassesWhereItsFrameworkHidesNothing) {
    for (const auto& scenario : {gpt_job(8, 1, 1), mixture_job(8, 1)}) {
        const Pair pair = pair_in(scenario);
        EXPECT_EQ(pair.both.duration, pair.apart());
        EXPECT_EQ(pair.both.exposed, pair.forward.exposed + pair.backward.exposed);
    }
}

TEST(PhysicalMemoryModel, APairHoldsWhatBothItsPassesHold) {
    for (const auto& scenario : {gpt_job(8, 1, 1), mixture_job(8, 1)}) {
        const auto memory = memory_of(scenario);
        const Compute forward{Pass::Forward, Stage{0}, {1, {}}};
        const Compute backward{Pass::Backward, Stage{0}, {0, {}}};
        const PassMemory both = memory->overlap({forward, backward});
        EXPECT_EQ(both.held_after,
                  memory->compute(forward).held_after + memory->compute(backward).held_after);
        EXPECT_EQ(total(both.at_peak), both.peak_above);
    }
}

TEST(PhysicalCostModel, APairHidesOnlyTheExchangesThatItsFrameworkLists) {
    using enum scenarios::Exchange;
    auto mixture = mixture_job(8, 2);  // experts over two nodes, tensor parallelism in each
    mixture.framework.host_module = mixture.framework.host_kernel = {};
    mixture.cluster.network.nic_bandwidth.value *= 4;  // no all-to-all is longer than a block
    const Pair tokens = pair_in(mixture, {ExpertAllToAll});
    EXPECT_LT(tokens.both.duration, tokens.apart());
    EXPECT_GT(tokens.both.exposed, Duration{}) << "tensor parallelism's stays";
    const Pair all = pair_in(mixture, {ExpertAllToAll, Tensor});
    EXPECT_LT(all.both.exposed, tokens.both.exposed);
    // A dense model has no experts to hide.
    auto dense = gpt_job(8, 1, 1);
    const Pair pair = pair_in(dense, {ExpertAllToAll});
    EXPECT_EQ(pair.both.exposed, pair.forward.exposed + pair.backward.exposed);
    EXPECT_NEAR(seconds(pair.both.duration), seconds(pair.apart()), 1e-3 * seconds(pair.apart()));
}

TEST(PhysicalCostModel, AnExchangeHidesBesideOneBlockOfTheOtherHalf) {
    auto mixture = mixture_job(8, 2);
    mixture.framework.host_module = mixture.framework.host_kernel = {};
    const auto hidden = [&] {
        const Pair pair = pair_in(mixture, {scenarios::Exchange::ExpertAllToAll});
        return seconds(pair.forward.exposed + pair.backward.exposed - pair.both.exposed);
    };
    double last = hidden();
    double kernels = 0;
    for (const double rate : {6e9, 1e9, 1e8}) {  // all-to-alls far longer than any block
        mixture.cluster.network.nic_bandwidth = {rate};
        const Pair pair = pair_in(mixture);
        kernels = seconds(pair.apart() - pair.forward.exposed - pair.backward.exposed);
        EXPECT_GE(hidden(), last * (1 - 1e-9));
        last = hidden();
    }
    EXPECT_GT(last, 0.5 * kernels);
    EXPECT_LE(last, kernels) << "no kernel hides two all-to-alls";
}

}  // namespace
}  // namespace debubble::sim
