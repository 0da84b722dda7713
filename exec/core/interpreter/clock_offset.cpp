#include "exec/core/interpreter/gather_records.h"

#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace debubble::exec {

namespace {

constexpr int kRounds = 20;
constexpr Message::Kind kThere = Message::Kind::Activation;
constexpr Message::Kind kBack = Message::Kind::Gradient;

using Now = std::function<Clock::time_point()>;

/// Communicators do not have 64-bit integers, so each value becomes two words.
Buffer words(std::span<std::int64_t> values) {
    return {std::as_writable_bytes(values), DataType::Int32};
}

Duration since_epoch(Clock::time_point at) {
    return std::chrono::duration_cast<Duration>(at.time_since_epoch());
}

/// The part of rank 0; returns the offset that the other side adds.
ClockOffset ping(Communicator& world, int peer, std::chrono::nanoseconds patience, const Now& now) {
    ClockOffset best{{}, Duration::max()};
    for (int round = 0; round < kRounds; ++round) {
        std::int64_t nothing = 0, theirs = 0;
        const Pending answer = world.receive({peer, kBack}, words({&theirs, 1}), "CLOCK");
        const Duration sent = since_epoch(now());
        world.send({peer, kThere}, words({&nothing, 1}), "CLOCK")->wait(within(patience));
        answer->wait(within(patience));
        const Duration back = since_epoch(now());
        const Duration error = (back - sent + Duration{1}) / 2;
        if (error < best.error) best = {sent + (back - sent) / 2 - Duration{theirs}, error};
    }
    return best;
}

void pong(Communicator& world, std::chrono::nanoseconds patience, const Now& now) {
    for (int round = 0; round < kRounds; ++round) {
        std::int64_t nothing = 0;
        world.receive({0, kThere}, words({&nothing, 1}), "CLOCK")->wait(within(patience));
        std::int64_t mine = since_epoch(now()).count();
        world.send({0, kBack}, words({&mine, 1}), "CLOCK")->wait(within(patience));
    }
}

}  // namespace

std::int64_t clock_identity() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string boot;
    std::getline(file, boot);
    return static_cast<std::int64_t>(std::hash<std::string>{}(boot));
}

ClockOffset measure_clock_offset(Communicator& world, std::chrono::nanoseconds patience,
                                 std::int64_t identity, const Now& now) {
    std::vector<std::int64_t> identities(world.size());
    world.all_gather(words({&identity, 1}), words(identities), "CLOCKS")->wait(within(patience));
    std::int64_t found[2] = {0, 0};
    for (int peer = 1; peer < world.size(); ++peer) {
        if (identities[peer] == identities[0]) continue;
        if (world.rank() == 0) {
            const ClockOffset offset = ping(world, peer, patience, now);
            found[0] = offset.add.count();
            found[1] = offset.error.count();
            world.send({peer, kThere}, words(found), "CLOCK")->wait(within(patience));
        } else if (world.rank() == peer) {
            pong(world, patience, now);
            world.receive({0, kThere}, words(found), "CLOCK")->wait(within(patience));
        }
    }
    if (world.rank() == 0) return {};
    return {Duration{found[0]}, Duration{found[1]}};
}

}  // namespace debubble::exec
