#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "exec/comm/transports.h"
#include "exec/cuda/nccl/calls.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "tests/exec/cuda/looked_at.h"
#include "tests/exec/cuda/nccl/fake_nccl.h"
#include "tests/exec/support/comm/comm_checks.h"
#include "tests/exec/support/comm/comm_conformance.h"
#include "tests/exec/support/tcp_world.h"

/// Ids, plans, order and failures around NCCL, with lanes and a library that are threads of the
/// host. What carries the ids is a real communicator: threads, or TCP.
namespace debubble::exec::nccl {
namespace {

/// Neighbours on a ring, both ways, both kinds.
GroupUse ring(std::span<const int> ranks) {
    const int size = static_cast<int>(ranks.size());
    std::set<Edge> edges;
    for (int rank = 0; rank < size && size > 1; ++rank) {
        const int next = (rank + 1) % size;
        for (const auto kind : {Message::Kind::Activation, Message::Kind::Gradient}) {
            edges.insert({rank, next, kind, 0});
            edges.insert({next, rank, kind, 0});
        }
    }
    return {{edges.begin(), edges.end()}, true};
}

/// One rank: its lanes, its calls, and a communicator over them.
struct Rank {
    FakeLanes lanes;
    FakeCalls* calls = nullptr;
    std::unique_ptr<Communicator> whole;
    std::unique_ptr<Communicator> world;  ///< the same ranks, with ways on a ring

    Rank(FakeLibrary& library, Communicator& host, std::chrono::nanoseconds patience = 60s) {
        auto mine = std::make_unique<FakeCalls>(library, lanes);
        calls = mine.get();
        whole = connect(host, lanes, std::move(mine), ring, patience);
        world = whole->group(host.ranks());
    }
};

std::vector<std::string> run_over(bool tcp, int ranks,
                                  const std::function<void(Communicator&)>& body) {
    if (tcp) return run_tcp(ranks, body);
    std::vector<std::string> failures(static_cast<std::size_t>(ranks));
    try {
        run_local(ranks, Transport::Buffered, body);
    } catch (const std::exception& error) {
        failures[0] = error.what();
    }
    return failures;
}

class NcclCommunicator : public testing::TestWithParam<std::tuple<bool, int, ConformanceCase>> {};

TEST_P(NcclCommunicator, KeepsThePromise) {
    const auto& [tcp, ranks, promise] = GetParam();
    FakeLibrary library;
    const auto failures = run_over(tcp, ranks, [&](Communicator& host) {
        std::optional<Rank> rank;
        try {
            rank.emplace(library, host);
            host.barrier("READY")->wait(soon());
        } catch (const Aborted&) {  // another rank has failed already, as it is to
            if (!promise.ends_the_job) throw;
            return;
        }
        rank->whole.reset();
        LookedAt looked(std::move(rank->world));
        promise.body(looked);
    });
    EXPECT_EQ(failures, std::vector<std::string>(static_cast<std::size_t>(ranks)));
}

INSTANTIATE_TEST_SUITE_P(Conformance, NcclCommunicator,
                         testing::Combine(testing::Bool(), testing::Values(2, 3),
                                          testing::ValuesIn(conformance_cases())),
                         [](const auto& run) {
                             return (std::get<0>(run.param) ? "OverTcp" : "OverThreads") +
                                    std::to_string(std::get<1>(run.param)) +
                                    std::get<2>(run.param).name;
                         });

TEST(NcclPlan, NamesEveryWayOfEveryProgramOnce) {
    for (const auto& [name, stages_per_rank] : std::map<std::string, int>{
             {"1f1b", 1}, {"interleaved-1f1b", 2}, {"zb-v", 2}, {"dualpipe", 1}}) {
        SCOPED_TRACE(name);
        const Program program = lower(generate(name, {4, stages_per_rank, 8, 1}), {});
        const std::vector<Edge> edges = edges_of(program);
        EXPECT_TRUE(std::ranges::is_sorted(edges));
        EXPECT_EQ(std::set<Edge>(edges.begin(), edges.end()).size(), edges.size());
        std::set<Edge> used;
        for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
            for (const Action& action : program.ranks[rank])
                if (const auto* recv = std::get_if<Recv>(&action))
                    used.insert({recv->from.index, static_cast<int>(rank), recv->message.kind, 0});
        EXPECT_EQ(std::set<Edge>(edges.begin(), edges.end()), used)
            << "the receives, from the sends";
    }
}

/// Else two ranks could wait for each other, each in another communicator.
TEST(NcclPlan, AllRanksMakeTheirCommunicatorsInOneOrder) {
    FakeLibrary library;
    run_local(4, Transport::Own, [&](Communicator& host) {
        Rank rank(library, host);
        const int pair = host.rank() / 2 * 2;
        const auto group = rank.world->group(std::vector{pair, pair + 1});
        host.barrier("BARRIER")->wait(soon());
    });
    std::map<const void*, std::vector<int>> of_rank;
    for (const auto& [who, world] : library.inits) of_rank[who].push_back(world);
    ASSERT_EQ(of_rank.size(), 4u);
    for (const auto& [a, mine] : of_rank) {
        EXPECT_EQ(mine.size(), 1u + 8 + 1 + 4 + 1) << "the whole, a ring and its group, a pair's";
        for (const auto& [b, other] : of_rank) {
            const auto shared = [](const std::vector<int>& of, const std::vector<int>& with) {
                std::vector<int> both;
                for (const int world : of)
                    if (std::ranges::count(with, world) > 0) both.push_back(world);
                return both;
            };
            EXPECT_EQ(shared(mine, other), shared(other, mine));
        }
    }
}

/// The sentence of each rank when rank 1 calls `spoil` in the middle of a training.
std::vector<std::string> heard_after(std::chrono::nanoseconds patience,
                                     const std::function<void(FakeLibrary&, Rank&)>& spoil) {
    FakeLibrary library;
    std::vector<std::string> heard(3);
    run_over(true, 3, [&](Communicator& host) {
        Rank rank(library, host, patience);
        std::vector<float> values(4, 1.0F);
        const Buffer data = buffer_of(std::span(values));
        const auto sum = [&](const std::string& label) {
            const Pending request = rank.world->all_reduce(data, Reduction::Sum, label);
            request->wait(soon());
            while (!request->done()) std::this_thread::sleep_for(1ms);
        };
        sum("1REDUCE_GRAD");
        rank.lanes.finish();
        host.barrier("BARRIER")->wait(soon());
        if (host.rank() == 1) spoil(library, rank);
        heard[static_cast<std::size_t>(host.rank())] = failure_of([&] {
            for (;;) sum("2REDUCE_GRAD");
        });
    });
    return heard;
}

TEST(NcclWatch, WhatNcclReportsLaterEndsAllRanks) {
    const auto heard = heard_after(
        60s, [](FakeLibrary&, Rank& rank) { rank.calls->breaks("unhandled system error"); });
    for (const std::string& sentence : heard)
        check_has(sentence, "NCCL reports on rank 1: unhandled system error; ");
}

TEST(NcclWatch, AStreamThatStandsStillIsNamedWithWhatItDidLast) {
    const auto heard = heard_after(300ms, [](FakeLibrary& library, Rank&) {
        const std::lock_guard lock(library.mutex);
        library.stuck = true;
    });
    for (const std::string& sentence : heard) {
        check_has(sentence,
                  " waited 0.3 s for 2REDUCE_GRAD among ranks 0, 1, 2 to end on its stream");
        check_has(sentence, ": last issued 2REDUCE_GRAD among ranks 0, 1, 2, last completed ");
    }
}

/// Outside a step no rank has told the others yet.
TEST(NcclWatch, ARankThatUnwindsWaitsForNobody) {
    FakeLibrary library;
    const auto asked = Clock::now();
    const auto failures = run_over(true, 2, [&](Communicator& host) {
        Rank rank(library, host);
        host.barrier("READY")->wait(soon());
        if (host.rank() == 1) throw WorldError("the disk is full");
        for (;;) rank.world->barrier("BARRIER")->wait(soon());
    });
    EXPECT_EQ(failures[1], "the disk is full");
    EXPECT_LT(Clock::now() - asked, 5s);
}

TEST(NcclWatch, AStepLongerThanThePatienceIsNoStandstill) {
    FakeLibrary library;
    const auto failures = run_over(false, 2, [&](Communicator& host) {
        Rank rank(library, host, 300ms);
        std::vector<float> values(4, 1.0F);
        std::vector<Pending> requests;
        for (int pass = 0; pass < 8; ++pass) {
            rank.lanes.ask(kComputeLane, [] { std::this_thread::sleep_for(100ms); });
            requests.push_back(rank.world->all_reduce(buffer_of(std::span(values)), Reduction::Sum,
                                                      "REDUCE_GRAD"));
            requests.back()->wait(soon());
        }
        const auto asked = Clock::now();
        while (!requests.back()->done()) std::this_thread::sleep_for(1ms);
        EXPECT_GT(Clock::now() - asked, 600ms) << "else it proves nothing";
    });
    EXPECT_EQ(failures, std::vector<std::string>(2));
}

}  // namespace
}  // namespace debubble::exec::nccl
