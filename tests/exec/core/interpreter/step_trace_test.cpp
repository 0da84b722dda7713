#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "tests/exec/core/interpreter/fake_training.h"
#include "tests/exec/core/interpreter/forwarding.h"

/// What a step's trace says of its passes: communication in them, and time of a core.
namespace debubble::exec::fake {
namespace {

/// Does what `before` says ahead of every forward, as if that were part of it.
class Sleeper final : public Forwarding {
public:
    Sleeper(std::unique_ptr<StageRunner> inner, std::function<void(const MicroBatch&)> before)
        : Forwarding(std::move(inner)), before_(std::move(before)) {}
    ArenaTensor forward(const MicroBatch& mb, ArenaTensor input) override {
        before_(mb);
        return Forwarding::forward(mb, std::move(input));
    }

private:
    std::function<void(const MicroBatch&)> before_;
};

TEST(TheTraceOfAStep, TellsHowLongAPassStoodStill) {
    Job job{gpipe_of_two(), {1, 1, 1, 2}};
    job.wrap = [](Stage stage, std::unique_ptr<StageRunner> inner) -> std::unique_ptr<StageRunner> {
        return std::make_unique<Disturbed>(std::move(inner), [stage](const MicroBatch& mb) {
            if (stage.index == 1 && mb.index == 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
        });
    };
    Trace trace;
    run(job, &trace);
    const Action stood{Compute{Pass::Forward, Stage{1}, {0, {}}}};
    for (const Span& span : trace.spans) {
        EXPECT_LE(span.exposed, span.length());
        const auto* compute = std::get_if<Compute>(&span.action);
        if (span.action == stood) {
            EXPECT_GE(span.exposed, std::chrono::milliseconds(20));
        } else if (compute == nullptr || compute->pass != Pass::Forward) {
            EXPECT_EQ(span.exposed, Duration{}) << to_text(span.action);
        }
    }
}

/// The forwards of stage 1 sleep, in communication or outside of it.
Trace run_with_sleepers(bool in_communication) {
    Job job{gpipe_of_two(), {1, 1, 1, 2}};
    job.wrap = [&](Stage stage,
                   std::unique_ptr<StageRunner> inner) -> std::unique_ptr<StageRunner> {
        const auto sleep = [stage](const MicroBatch&) {
            if (stage.index == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        };
        if (in_communication) return std::make_unique<Disturbed>(std::move(inner), sleep);
        return std::make_unique<Sleeper>(std::move(inner), sleep);
    };
    Trace trace;
    run(job, &trace);
    return trace;
}

TEST(TheTraceOfAStep, TellsForHowLongAPassHadACore) {
    for (const Span& span : run_with_sleepers(false).spans) {
        const bool is_pass = std::holds_alternative<Compute>(span.action);
        EXPECT_EQ(span.on_core > Duration{}, is_pass) << to_text(span.action);
        if (is_pass && span.rank == Rank{1} && span.length() >= std::chrono::milliseconds(50)) {
            EXPECT_LT(span.on_core, std::chrono::milliseconds(25)) << "it slept";
        }
    }
}

TEST(TheTraceOfAStep, CountsNoCommunicationAsTimeOfACore) {
    int slept = 0;
    for (const Span& span : run_with_sleepers(true).spans) {
        if (span.exposed < std::chrono::milliseconds(50)) continue;
        ++slept;
        EXPECT_LT(span.on_core, std::chrono::milliseconds(25)) << to_text(span.action);
    }
    EXPECT_EQ(slept, 2);
}

}  // namespace
}  // namespace debubble::exec::fake
