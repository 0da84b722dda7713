#include "exec/comm/tcp/rendezvous.h"

#include <unistd.h>

#include <array>
#include <future>

#include <gtest/gtest.h>

#include "exec/comm/tcp/handshake_words.h"
#include "tests/exec/comm/tcp_job.h"
#include "tests/exec/support/stranger.h"

namespace debubble::exec {
namespace {

TEST(TcpRendezvous, SaysWhoHasNotCome) {
    const TcpListener listener = listen_here();
    const std::string address = "at 127.0.0.1:" + std::to_string(listener.port);
    EXPECT_EQ(failure_to_connect(job_of(listener, 50ms)),
              "rank 0 waited 0.05 s for rank 1 to join it " + address);
}

TEST(TcpRendezvous, SaysThatRank0IsNotThere) {
    const TcpListener listener = listen_here();
    ::close(listener.descriptor);
    EXPECT_EQ(failure_to_connect(job_at(1, listener.port, 200ms)),
              "rank 1 waited 0.2 s for rank 0 at 127.0.0.1:" + std::to_string(listener.port) +
                  ": Connection refused");
}

TEST(TcpRendezvous, ASecondJobAtThePortIsRefusedInWords) {
    const TcpListener listener = listen_here();
    auto first =
        std::async(std::launch::async, [&] { return failure_to_connect(job_of(listener, 1s)); });
    TcpJob second = job_at(1, listener.port);
    second.secret = "of another";
    const std::string where = "127.0.0.1:" + std::to_string(listener.port);
    EXPECT_EQ(failure_to_connect(second),
              "rank 0 of the job at " + where + " has refused rank 1: it belongs to another job");
    EXPECT_EQ(first.get(), "rank 0 waited 1 s for rank 1 to join it at " + where +
                               "; a stranger was refused, since it belongs to another job");
}

/// Nobody waits for the deadline: the job cannot come together.
TEST(TcpRendezvous, ARankOfAnotherBuildEndsTheJobInWordsOnBothSides) {
    const TcpListener listener = listen_here();
    TcpJob of_rank_0 = job_of(listener), of_rank_1 = job_at(1, listener.port);
    of_rank_0.build = {"0123456789abcdef"};
    of_rank_1.build = {"fedcba9876543210"};
    auto first = std::async(std::launch::async, [&] { return failure_to_connect(of_rank_0); });
    EXPECT_EQ(failure_to_connect(of_rank_1),
              "rank 0 at 127.0.0.1:" + std::to_string(listener.port) +
                  " runs build 0123456789ab of debubble, and rank 1 runs build fedcba987654: all "
                  "ranks of a job must run the same build");
    EXPECT_EQ(first.get(),
              "rank 1 cannot join: it runs build fedcba987654 of debubble, and rank 0 runs build "
              "0123456789ab; all ranks of a job must run the same build");
}

/// A caller that does not know the secret says nothing that counts.
TEST(TcpRendezvous, AStrangerOfAnotherBuildDoesNotEndTheJob) {
    const TcpListener listener = listen_here();
    TcpJob stranger = job_at(1, listener.port);
    stranger.secret = "a guess";
    stranger.build = {"fedcba9876543210"};
    auto rank_0 = std::async(std::launch::async, [&] { return sum_at(job_of(listener)); });
    check_has(failure_to_connect(stranger), "runs build");
    EXPECT_EQ(sum_at(job_at(1, listener.port)), 3);
    EXPECT_EQ(rank_0.get(), 3);
}

TEST(TcpRendezvous, APortThatIsTakenIsSaid) {
    const TcpListener listener = listen_here();
    EXPECT_EQ(failure_to_connect(job_at(0, listener.port)), "rank 0 cannot listen on port " +
                                                                std::to_string(listener.port) +
                                                                ": Address already in use");
    ::close(listener.descriptor);
}

TEST(TcpRendezvous, StrangersDoNotHoldTheJobUp) {
    const TcpListener listener = listen_here();
    const Stranger silent(listener.port), talkative(listener.port), impostor(listener.port);
    talkative.say(std::array<char, 512>{"GET / HTTP/1.1"});
    auto rank_0 = std::async(std::launch::async, [&] { return sum_at(job_of(listener)); });
    const auto greeting = impostor.hear<tcp::Greeting>();
    EXPECT_TRUE(is_ours(greeting));
    tcp::Hello hello;
    hello.from = 1;
    hello.ranks = 2;
    hello.proof = proof_of("a guess", hello, greeting.nonce);
    impostor.say(hello);
    const auto verdict = impostor.hear<tcp::Verdict>();
    EXPECT_EQ(verdict.accepted, 0u);
    EXPECT_EQ(verdict.proof, tcp::Proof{}) << "who is refused learns nothing of the secret";
    EXPECT_EQ(impostor.hear_text(verdict.refusal), "it belongs to another job");
    EXPECT_EQ(sum_at(job_at(1, listener.port)), 3);
    EXPECT_EQ(rank_0.get(), 3);
}

TEST(TcpRendezvous, MoreSilentStrangersThanItTakesDoNotKeepARankOut) {
    const TcpListener listener = listen_here();
    auto rank_0 = std::async(std::launch::async, [&] { return sum_at(job_of(listener)); });
    std::vector<std::unique_ptr<Stranger>> crowd;
    for (int i = 0; i < 300; ++i) crowd.push_back(std::make_unique<Stranger>(listener.port));
    crowd.back()->hear<tcp::Greeting>();  // all have been let in, or out
    const auto asked = Clock::now();
    EXPECT_EQ(sum_at(job_at(1, listener.port)), 3);
    EXPECT_LT(Clock::now() - asked, 5s) << "before strangers must go";
    EXPECT_EQ(rank_0.get(), 3);
}

TEST(TcpRendezvous, WhoSendsRubbishAfterJoiningIsLost) {
    for (const std::uint32_t size : {16u, 0xffffffffu}) {
        const TcpListener listener = listen_here();
        auto rank_0 = std::async(std::launch::async, [&] {
            const auto world = connect_tcp(job_of(listener));
            return failure_of([&] { world->barrier("BARRIER")->wait(soon()); });
        });
        const Stranger insider(listener.port);
        const auto greeting = insider.hear<tcp::Greeting>();
        tcp::Hello hello;
        hello.from = 1;
        hello.ranks = 2;
        hello.proof = proof_of("of this test", hello, greeting.nonce);
        insider.say(hello);
        EXPECT_EQ(insider.hear<tcp::Verdict>().accepted, 1u);
        insider.say(std::array<std::uint32_t, 8>{1, size, 0, 0, 99, 99, 99, 99});
        EXPECT_EQ(rank_0.get(),
                  "rank 0 stopped waiting for BARRIER among ranks 0, 1: rank 0 has lost rank 1: it "
                  "has sent bytes that are not a message of this program");
    }
}

/// The listener neither speaks the protocol nor knows the secret.
TEST(TcpRendezvous, WhatListensInsteadOfRank0IsTold) {
    for (const bool speaks : {false, true}) {
        const TcpListener listener = listen_here();
        auto caller = std::async(std::launch::async,
                                 [&] { return failure_to_connect(job_at(1, listener.port)); });
        const int taken = ::accept(listener.descriptor, nullptr, nullptr);
        const tcp::Greeting greeting;
        const std::array<char, sizeof greeting> other{"HTTP/1.1 200 OK"};
        ::send(taken, speaks ? static_cast<const void*>(&greeting) : other.data(), sizeof greeting,
               MSG_NOSIGNAL);
        tcp::Verdict verdict;
        verdict.accepted = 1;
        ::send(taken, &verdict, sizeof verdict, MSG_NOSIGNAL);
        check_has(caller.get(), speaks ? "does not know this job's secret"
                                       : "is not a rank of this version of debubble");
        ::close(taken);
        ::close(listener.descriptor);
    }
}

}  // namespace
}  // namespace debubble::exec
