#include <gtest/gtest.h>

#include "exec/comm/local.h"
#include "exec/cpu/cpu_kernels.h"
#include "tests/exec/support/parity_job.h"

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

INSTANTIATE_TEST_SUITE_P(
    All, RouterLosses,
    testing::Values(of("aux", "1e-8", "mixtral", "moe_aux_loss_coeff: 500"),
                    of("aux_of_sigmoids", "1e-8", "sigmoid-experts",
                       "moe_aux_loss_coeff: 500\n  moe_router_bias_update_rate: 0"),
                    of("aux_of_sequences", "1e-8", "pre-softmax-experts",
                       "moe_aux_loss_coeff: 500\n  moe_router_load_balancing_type: seq_aux_loss"),
                    of("z", "1e-4", "pre-softmax-experts", "moe_z_loss_coeff: 0.5")),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace debubble::exec::parity
