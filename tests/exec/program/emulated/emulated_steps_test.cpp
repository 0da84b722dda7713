#include <gmock/gmock.h>

#include "exec/comm/transports.h"
#include "exec/cuda/emulation/emulated_gpu.h"
#include "sim/memory/memory_play.h"
#include "tests/exec/support/parity/parity_cases.h"
#include "tests/exec/support/parity/parity_checks.h"

/// Steps on a device whose host runs ahead of it, as the emulated GPU shows them.
namespace debubble::exec::parity {
namespace {

using namespace std::chrono_literals;

constexpr Bytes kRoom{std::int64_t{1} << 28};

std::unique_ptr<Device> with_slow_kernels(int, int) {
    return cuda::make_emulated_device(kRoom, {100us, {}});
}
std::unique_ptr<Device> with_slow_copies(int, int) {
    return cuda::make_emulated_device(kRoom, {{}, 1ms});
}
std::unique_ptr<Device> at_any_pace(int, int) {
    return cuda::make_emulated_device(kRoom);
}

std::unique_ptr<Device> on_gpus_of_their_own(int rank, int) {
    return cuda::make_emulated_device(kRoom, {}, rank);
}

Case on(std::unique_ptr<Device> (*device)(int, int), std::string name, std::string parallel,
        std::string schedule = "1f1b", std::string training = {}) {
    Case c = layout(std::move(name), std::move(parallel), std::move(schedule), "gpt2",
                    std::move(training));
    c.device = device;
    return c;
}

const std::string kOffloadedOptimizer = "offload_optimizer: true";

Case with_muon(Case c) {
    c.name += "_muon";
    c.optimizer = "{name: muon, lr: 0.0005}";
    return c;
}

/// No work counts as done before its lane has done it, and none is in time by chance.
class Paces : public testing::TestWithParam<Case> {};
TEST_P(Paces, ChangeNothing) {
    expect_training_of_one_rank(GetParam(), train(GetParam(), 2));
}
std::vector<Case> paced_cases() {
    std::vector<Case> cases;
    for (const auto& [pace, device] : {std::pair{"slow_kernels", &with_slow_kernels},
                                       std::pair{"slow_copies", &with_slow_copies}}) {
        const auto add = [&, pace = std::string(pace), device = device](
                             const std::string& name, const std::string& parallel,
                             const std::string& schedule = "1f1b",
                             const std::string& training = {}) {
            cases.push_back(on(device, pace + "_" + name, parallel, schedule, training));
        };
        add("pp4", "{pipeline: 4, data: 1}", "zb-h1");
        add("zb_v", "{pipeline: 2, data: 1}", "zb-v");
        add("tp2_sp_pp2", "{tensor: 2, data: 1, sequence: true, pipeline: 2}");
        add("cp2_pp2", "{context: 2, data: 1, pipeline: 2}");
        add("pp2_zero2", "{pipeline: 2, data: 2, zero_stage: 2, wrap: stage}");
        add("zero3", "{data: 2, zero_stage: 3}");
        add("offload", "{pipeline: 2, data: 1}", "1f1b");
        cases.back().offloads = true;
        add("offloaded_optimizer", "{pipeline: 2, data: 1}", "1f1b", kOffloadedOptimizer);
        cases.back().framework = ", offload_buffer: 16 KiB";
        cases.push_back(with_muon(
            on(device, std::string(pace) + "_tp2_zero1", "{tensor: 2, data: 2, zero_stage: 1}")));
        cases.back().model = "llama";  // keys without biases, whose gradient AdamW makes of noise
    }
    return cases;
}
INSTANTIATE_TEST_SUITE_P(Layouts, Paces, testing::ValuesIn(paced_cases()),
                         [](const auto& each) { return each.param.name; });

/// Where devices cannot reach each other, everything goes through pinned memory of the host.
class Staged : public testing::TestWithParam<Case> {};
TEST_P(Staged, IsTheSameTraining) {
    expect_training_of_one_rank(GetParam(), train(GetParam(), 2));
}
INSTANTIATE_TEST_SUITE_P(Layouts, Staged,
                         testing::Values(on(on_gpus_of_their_own, "pp2", "{pipeline: 2, data: 1}",
                                            "zb-h1"),
                                         on(on_gpus_of_their_own, "pp2_zero2",
                                            "{pipeline: 2, data: 2, zero_stage: 2, wrap: stage}")),
                         [](const auto& each) { return each.param.name; });

class Steps : public testing::TestWithParam<Case> {};

/// The counts of objects that one rank's device was asked to make before and after each of three
/// steps. Events and lanes may be made in the first step; everything that can wait for all work of
/// a GPU is made before it.
TEST_P(Steps, MakeNothingAfterTheFirst) {
    const Job job(GetParam());
    const int ranks = job.scenario.parallel.gpus();
    const bool staged = GetParam().device == &on_gpus_of_their_own;
    run_local(ranks, Transport::Buffered, [&](Communicator& world) {
        const std::shared_ptr<Device> device = GetParam().device(world.rank(), ranks);
        JobOptions how;
        how.device = device;
        RankJob rank(job.scenario, job.plan, job.options, world, how);
        const Bytes rehearsed = total(rank.arena().peak().held);
        std::vector<cuda::EmulatedCounts> counts{cuda::counts_of(*device)};
        for (int step = 0; step < 3; ++step) {
            train_step(rank, job, step);
            counts.push_back(cuda::counts_of(*device));
        }
        EXPECT_EQ(counts[2], counts[1]);
        EXPECT_EQ(counts[3], counts[1]);
        EXPECT_GT(counts[0].kinds_of_products, 0);
        EXPECT_EQ(counts[1].kinds_of_products, counts[0].kinds_of_products);
        EXPECT_EQ(counts[1].allocations, counts[0].allocations);
        if (!staged) {  // there no kernel waits for ranks
            EXPECT_EQ(counts[1].pins, counts[0].pins);
        }
        EXPECT_LE(rehearsed, total(rank.arena().peak().held));
    });
}

Case with_adam(Case c) {
    c.optimizer = "adamw";
    return c;
}
Case of_model(std::string model, Case c) {
    c.name = model + "_" + c.name;
    c.model = model + "-wide";
    return c;
}

class PlannedSteps : public testing::TestWithParam<Case> {};
TEST_P(PlannedSteps, HoldWhatThePlanSays) {
    Case c = GetParam();
    c.seq_length = 64;
    c.optimizer = "adamw";
    const Result result = train(c, 1);
    for (const StepRecord& record : result.records) {
        const sim::PlayedMemory planned =
            sim::play_memory(scenario_of(c), result.plan.stages, result.plan.program, record.rank);
        const auto expected = static_cast<double>(planned.peak_allocated.count);
        EXPECT_NEAR(static_cast<double>(total(record.peak.held).count), expected, 0.01 * expected)
            << "rank " << record.rank.index << ": executed at " << record.peak.action
            << ", planned at " << planned.action;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Steps,
    testing::Values(
        on(at_any_pace, "alone", "{data: 1}"),
        on(at_any_pace, "pp4", "{pipeline: 4, data: 1}", "zb-h1"),
        on(at_any_pace, "tp2_sp", "{tensor: 2, data: 1, sequence: true}"),
        on(at_any_pace, "cp2", "{context: 2, data: 1}"),
        on(at_any_pace, "zero3", "{data: 2, zero_stage: 3}"),
        on(on_gpus_of_their_own, "staged", "{pipeline: 2, data: 1}"),
        with_muon(on(at_any_pace, "alone", "{data: 1}")),
        with_muon(on(at_any_pace, "tp2_zero1", "{tensor: 2, data: 2, zero_stage: 1}")),
        on(at_any_pace, "zero2", "{data: 2, zero_stage: 2}"),
        on(at_any_pace, "zero3_by_stage", "{data: 2, zero_stage: 3, wrap: stage}"),
        on(at_any_pace, "zb_h1_zero2", "{pipeline: 2, data: 2, zero_stage: 2}", "zb-h1"),
        on(at_any_pace, "chimera_zero2", "{pipeline: 2, data: 2, zero_stage: 2}", "chimera"),
        offloaded(on(at_any_pace, "v_half_offload", "{pipeline: 4, data: 1}", "v-half")),
        offloaded(on(at_any_pace, "offload", "{pipeline: 4, data: 1}", "1f1b")),
        with_adam(on(at_any_pace, "offloaded_optimizer", "{pipeline: 2, data: 1}", "1f1b",
                     kOffloadedOptimizer))),
    [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(Layouts, PlannedSteps, testing::ValuesIn([] {
                             std::vector<Case> cases;
                             for (const char* model : {"gpt2", "llama"})
                                 for (Case c :
                                      {on(at_any_pace, "pp4", "{pipeline: 4, data: 1}", "zb-h1"),
                                       on(at_any_pace, "offloaded_optimizer",
                                          "{pipeline: 2, data: 1}", "1f1b", kOffloadedOptimizer),
                                       on(at_any_pace, "cp2", "{context: 2, data: 1}"),
                                       on(at_any_pace, "zero3", "{data: 2, zero_stage: 3}")})
                                     cases.push_back(of_model(model, std::move(c)));
                             return cases;
                         }()),
                         [](const auto& each) { return each.param.name; });

/// Said before anything is allocated, and by ranks that plan for themselves.
TEST(Room, IsComparedWithThePlanFirst) {
    const Job job(on(at_any_pace, "alone", "{data: 1}"));
    run_local(1, Transport::Buffered, [&](Communicator& world) {
        JobOptions how;
        how.device = at_any_pace(0, 0);
        how.planned = kRoom + Bytes{1};
        const cuda::EmulatedCounts before = cuda::counts_of(*how.device);
        try {
            RankJob(job.scenario, job.plan, job.options, world, how);
            FAIL() << "it was begun";
        } catch (const WorldError& error) {
            EXPECT_STREQ(
                error.what(),
                "by the prediction the rank needs 0.25 GiB; an emulated GPU has 0.25 GiB for it");
        }
        EXPECT_EQ(cuda::counts_of(*how.device), before);
        how.planned = kRoom;
        EXPECT_NO_THROW(RankJob(job.scenario, job.plan, job.options, world, how));
    });
}

/// One rank, whose host has less patience than a pass lasts.
TEST(Watchdog, NamesWhatADeviceHasNotDone) {
    Case c = on(
        [](int, int) {
            return cuda::make_emulated_device(kRoom, {40ms, {}});
        },
        "stalled", "{data: 1}");
    c.micro_batches = 1;
    c.patience = 1s;
    try {
        train(c, 1);
        FAIL() << "nobody noticed";
    } catch (const DeadlinePassed& error) {
        EXPECT_THAT(error.what(), testing::MatchesRegex(
                                      "rank 0 waited for its device: the GPU has made no progress "
                                      "for .* s; compute: .* is not done, .* was the last"
                                      ".*"));
    }
}

}  // namespace
}  // namespace debubble::exec::parity
