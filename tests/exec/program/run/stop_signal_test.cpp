#include "exec/program/run/stopping.h"

#include <csignal>

#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace debubble::exec {
namespace {

constexpr int kStops[] = {SIGINT, SIGTERM, SIGUSR1};

/// How many of the signals that ask for an end are blocked on the thread that calls.
int blocked_here() {
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    int count = 0;
    for (const int signal : kStops) count += sigismember(&blocked, signal);
    return count;
}

TEST(AStopSignal, IsHeardThoughNoThreadThatComputesCanBeInterrupted) {
    for (const int signal : kStops) {
        const StopSignal stop;
        EXPECT_EQ(blocked_here(), 3);
        int in_a_worker = 0;
        std::thread([&] { in_a_worker = blocked_here(); }).join();
        EXPECT_EQ(in_a_worker, 3);
        EXPECT_FALSE(stop.came());
        ::kill(::getpid(), signal);
        const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (!stop.came() && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_TRUE(stop.came());
    }
    EXPECT_EQ(blocked_here(), 0);
}

TEST(AStopSignalDeathTest, EndsTheProcessAtOnceWhenItComesAgain) {
    const auto ask_twice = [] {
        const StopSignal stop;
        ::kill(::getpid(), SIGTERM);
        while (!stop.came()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ::kill(::getpid(), SIGTERM);
        std::this_thread::sleep_for(std::chrono::minutes(1));
    };
    EXPECT_EXIT(ask_twice(), testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace debubble::exec
