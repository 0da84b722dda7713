#include <cmath>

#include <gtest/gtest.h>

#include "exec/comm/transports.h"
#include "exec/cpu/cpu_kernels.h"
#include "tests/exec/support/parity/parity_job.h"

/// The losses that routers add are among those whose gradient the step follows.
namespace debubble::exec::parity {
namespace {

struct Losses {
    double before = 0, after = 0;  ///< of the same samples, with what the routers add
    double of_routers = 0;         ///< before
    double norm = 0;
};

/// A step of plain gradient descent on some samples, and another on the same.
Losses two_steps(const Case& c) {
    const Job job(c);
    Losses losses;
    run_local(1, Transport::Buffered, [&](Communicator& world) {
        RankJob rank(job.scenario, job.plan, job.options, world,
                     {cpu_kernels_maker("fixed-order", 1), Bytes{1 << 28}, job.patience});
        const auto routers = [&] {
            const RouterTotals totals = rank.router_totals();
            return totals.balance + totals.z;
        };
        const auto all = [&] {
            train_step(rank, job, 0);
            return rank.loss_total() / static_cast<double>(counted_targets(job, 0)) + routers();
        };
        losses.before = all();
        losses.of_routers = routers();
        losses.norm = rank.training().outcome().norm;
        losses.after = all();
    });
    return losses;
}

class RouterLosses : public testing::TestWithParam<Case> {};

/// To first order, the sum of the losses falls by the rate times the square of the gradient's norm.
/// Where choices are counted, the step is so short that none changes.
TEST_P(RouterLosses, FallAsTheirGradientSays) {
    const Losses with = two_steps(GetParam());
    Case plain = GetParam();
    plain.training.clear();
    const Losses without = two_steps(plain);
    EXPECT_GT(with.of_routers, 0);
    EXPECT_EQ(without.of_routers, 0);
    EXPECT_NEAR(with.before - with.of_routers, without.before, 1e-9)
        << "the reported loss is alone";
    EXPECT_GT(with.norm, 1.5 * without.norm) << "their gradient counts";
    const double rate = lr_of(Job(GetParam()).options.optimizer);
    const double expected = rate * with.norm * with.norm;
    EXPECT_NEAR(with.before - with.after, expected, 0.02 * expected);
}

/// Terms that count all replicas' tokens: as many replicas are one with as many times the samples.
TEST(StepRouters, BalanceTheMicroBatchesOfAllReplicas) {
    Case two;
    two.model = "sigmoid-experts";
    two.training = "moe_aux_loss_coeff: 3\n  moe_router_load_balancing_type: global_aux_loss";
    two.parallel = "{data: 2}";
    two.micro_batches = 2;  // one for each
    Case one = two;
    one.parallel = "{data: 1}";
    one.micro_batches = 1;
    one.micro_batch = 2;
    const Result apart = train(two, 2), together = train(one, 2);
    for (std::size_t step = 0; step < 2; ++step) {
        EXPECT_GT(together.router_losses[step], 0);
        EXPECT_NEAR(apart.router_losses[step], together.router_losses[step],
                    1e-6 * together.router_losses[step]);
        EXPECT_NEAR(apart.norms[step], together.norms[step], 1e-5 * together.norms[step]);
    }
    Case alone = two;
    alone.training = "moe_aux_loss_coeff: 3";
    EXPECT_GT(std::abs(train(alone, 1).norms[0] - apart.norms[0]), 1e-4 * apart.norms[0])
        << "each replica's tokens by themselves are another loss";
}

/// The counts of one microbatch are those of the step so far; later ones have the mean.
TEST(StepRouters, BalanceTheMeanOfTheMicroBatchesSoFar) {
    Case c;
    c.model = "pre-softmax-experts";
    c.training = "moe_aux_loss_coeff: 3";
    c.parallel = "{data: 1}";
    c.micro_batches = 1;
    Case over_step = c;
    over_step.training += "\n  moe_router_load_balancing_type: global_aux_loss";
    const Result first = train(c, 2), same = train(over_step, 2);
    EXPECT_EQ(same.router_losses, first.router_losses);
    EXPECT_EQ(same.weights, first.weights);
    c.micro_batches = over_step.micro_batches = 4;
    EXPECT_NE(train(over_step, 1).router_losses, train(c, 1).router_losses);
}

Case of(std::string name, std::string rate, std::string model, std::string training) {
    Case c;
    c.name = std::move(name);
    c.model = std::move(model);
    c.training = std::move(training);
    c.parallel = "{data: 1}";
    c.micro_batch = 2;
    c.optimizer = "{name: sgd, lr: " + rate + "}";
    return c;
}

Case sliced(Case c) {
    c.schedule = "{name: seq-1f1b, slices: 2}";
    return c;
}

INSTANTIATE_TEST_SUITE_P(
    All, RouterLosses,
    testing::Values(of("aux", "1e-8", "mixtral", "moe_aux_loss_coeff: 500"),
                    of("aux_of_sigmoids", "1e-8", "sigmoid-experts",
                       "moe_aux_loss_coeff: 500\n  moe_router_bias_update_rate: 0"),
                    of("aux_of_sequences", "1e-8", "pre-softmax-experts",
                       "moe_aux_loss_coeff: 500\n  moe_router_load_balancing_type: seq_aux_loss"),
                    of("aux_of_steps", "1e-8", "pre-softmax-experts",
                       "moe_aux_loss_coeff: 500\n  moe_router_load_balancing_type: "
                       "global_aux_loss"),
                    sliced(of("aux_of_slices", "1e-8", "mixtral", "moe_aux_loss_coeff: 500")),
                    sliced(of("aux_of_sliced_sequences", "1e-8", "pre-softmax-experts",
                              "moe_aux_loss_coeff: 500\n  moe_router_load_balancing_type: "
                              "seq_aux_loss")),
                    of("z", "1e-4", "pre-softmax-experts", "moe_z_loss_coeff: 0.5")),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace debubble::exec::parity
