#include "sim/memory/memory_events.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/overloaded.h"

namespace debubble::sim {
namespace {

using testing::ElementsAre;

constexpr Message kArrives{Message::Kind::Activation, Stage{0}, {0, {}}};
constexpr Message kLeaves{Message::Kind::Gradient, Stage{1}, {0, {}}};

Compute compute(Pass pass, int stage, int mb) {
    return {pass, Stage{stage}, {mb, {}}};
}

/// Messages of 7 bytes, gathered stages of 70, gradients of 40 that wait and of 300 that stay.
class EverythingHeld final : public MemoryModel {
public:
    Bytes gradients_in_backward(Rank) const override { return Bytes{300}; }
    Bytes message(const Message&) const override { return Bytes{7}; }
    MemoryByClass left_unreduced(const Compute&) const override {
        MemoryByClass left{};
        left[static_cast<std::size_t>(MemoryClass::Gradients)] = Bytes{40};
        return left;
    }
    Bytes unsharded_bytes(Stage) const override { return Bytes{70}; }
};

/// "1: +7 received from the begin of 0", by the index of the action that the event belongs to.
std::vector<std::string> events_of(ActionList list, const MemoryModel& memory) {
    Program program{"test", {2, 1, 2, 1}, loop_placement(2, 1), {{}, std::move(list)}};
    const auto events = memory_events(program, PlacementIndex(program.placement), Rank{1}, memory);
    const auto when = [](Moment at) {
        return fmt::format("{} of {}", at.edge == Moment::Edge::Begin ? "begin" : "end", at.action);
    };
    constexpr std::array kHeld{"received", "sent", "gathered", "unreduced", "gradients"};
    const auto what = [&](const Allocation& a) {
        return fmt::format("{} {}", a.bytes.count, kHeld[static_cast<std::size_t>(a.held)]);
    };
    std::vector<std::string> lines;
    for (const MemoryEvent& event : events)
        lines.push_back(
            fmt::format("{}: ", event.action) +
            std::visit(
                Overloaded{
                    [&](const Allocation& a) {
                        return fmt::format("+{}, {}", what(a), when(a.at));
                    },
                    [&](const Release& r) {
                        const auto& of = std::get<Allocation>(events[r.allocation].what);
                        return fmt::format("-{}, {}{}", what(of), when(r.at),
                                           r.not_before ? " after " + when(*r.not_before) : "");
                    },
                    [](const PassRuns& p) {
                        return to_text(Action(p.pass)) + (p.again ? " again" : "");
                    },
                    [](const OptimizerRuns&) { return std::string("optimizer"); },
                    [](const SavedLeaves& s) { return to_text(Action(s.forward)) + " leaves"; },
                    [](const SavedReturns& s) { return to_text(Action(s.forward)) + " returns"; },
                },
                event.what));
    return lines;
}

TEST(MemoryEvents, ABufferIsHeldUntilItsMessageIsReadOrSent) {
    EXPECT_THAT(events_of({Recv{kArrives, Rank{0}}, compute(Pass::Forward, 1, 0),
                           compute(Pass::BackwardInput, 1, 0), Send{kLeaves, Rank{0}},
                           compute(Pass::Forward, 1, 1)},
                          EverythingHeld()),
                ElementsAre("0: +7 received, begin of 0", "1: -7 received, begin of 1", "1: 1F0",
                            "2: 1I0", "2: +40 unreduced, end of 2", "3: +7 sent, end of 2",
                            "4: 1F1", "3: -7 sent, end of 3"));
}

TEST(MemoryEvents, UnreducedGradientsWaitForTheirReductionAndTheNextBackward) {
    EXPECT_THAT(events_of({compute(Pass::Backward, 1, 0), ReduceGrad{Stage{1}},
                           compute(Pass::Backward, 1, 1), OptimizerStep{}},
                          EverythingHeld()),
                ElementsAre("0: 1B0", "0: +40 unreduced, end of 0", "0: +300 gradients, end of 0",
                            "2: -40 unreduced, begin of 2 after end of 1", "2: 1B1",
                            "2: +40 unreduced, end of 2",
                            "3: -40 unreduced, begin of 3 after end of 1", "3: optimizer"));
}

TEST(MemoryEvents, CopiesLeaveAfterTheNextComputeAndReturnWithTheirReload) {
    const MicroBatch first{0, {}};
    EXPECT_THAT(events_of({Unshard{Stage{1}}, compute(Pass::Forward, 1, 0),
                           Offload{Stage{1}, first}, compute(Pass::Forward, 1, 1),
                           Reshard{Stage{1}}, Reload{Stage{1}, first}, Recompute{Stage{1}, first}},
                          EverythingHeld()),
                ElementsAre("0: +70 gathered, begin of 0", "1: 1F0", "3: 1F1", "2: 1F0 leaves",
                            "4: -70 gathered, end of 4", "5: 1F0 returns", "6: 1F0 again"));
}

/// The last stage of two receives activations only; its buffers are there from the start, and again
/// after the backward of what they brought.
TEST(MemoryEvents, BuffersOfAllMessagesMayExistFromTheStart) {
    class Kept final : public MemoryModel {
        Bytes message(const Message&) const override { return Bytes{7}; }
        bool keeps_messages() const override { return true; }
    };
    EXPECT_THAT(events_of({Recv{kArrives, Rank{0}}, compute(Pass::Forward, 1, 0),
                           compute(Pass::Backward, 1, 0), Send{kLeaves, Rank{0}},
                           compute(Pass::Forward, 1, 1)},
                          Kept()),
                ElementsAre("0: +7 received, begin of 0", "0: +7 received, begin of 0",
                            "1: -7 received, begin of 1", "1: 1F0", "2: 1B0",
                            "2: +7 received, end of 2", "3: +7 sent, end of 2",
                            "4: -7 received, begin of 4", "4: 1F1", "3: -7 sent, end of 3"));
}

TEST(MemoryEvents, WhatHoldsNothingIsNotSaid) {
    EXPECT_THAT(events_of({Recv{kArrives, Rank{0}}, compute(Pass::Forward, 1, 0),
                           compute(Pass::Backward, 1, 0), Send{kLeaves, Rank{0}}},
                          MemoryModel()),
                ElementsAre("1: 1F0", "2: 1B0"));
}

}  // namespace
}  // namespace debubble::sim
