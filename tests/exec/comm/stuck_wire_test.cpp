#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "exec/comm/processes/control.h"
#include "exec/comm/processes/engine.h"

/// A transport may hang where no other thread can reach it, as MPI does when another rank has
/// stopped. The rank ends all the same, with exit code 3 and a sentence.
namespace debubble::exec::processes {
namespace {

using namespace std::chrono_literals;

enum class Stuck { Nowhere, InOpen, InStep, InMoves, InGoodbyes, InEnd };

constexpr OperationKey kKey{7, 0, 0, 0};
constexpr std::size_t kBytes = 1 << 16;  ///< more than travels with an announcement

Terms terms() {
    return {local::Pattern::Message, {}, 0, {}, kBytes};
}

std::atomic<bool> steps_hang{false};  ///< from the next step on
std::atomic<bool> hangs{false};
std::atomic<bool> moves{false};  ///< the announced bytes have been asked for

[[noreturn]] void hang() {
    hangs = true;
    for (;;) std::this_thread::sleep_for(1h);
}

void wait_until(const std::atomic<bool>& it_is) {
    while (!it_is) std::this_thread::sleep_for(1ms);
}

/// The wire of rank 0, whose only peer announces a message and says goodbye, as far as it gets.
class StuckWire final : public Wire {
public:
    explicit StuckWire(Stuck where) : where_(where) {
        if (where == Stuck::InOpen) hang();
    }
    int rank() const override { return 0; }
    int ranks() const override { return 2; }
    void post(int, std::vector<std::byte>) override {}
    void move_out(int, std::uint64_t, std::span<const std::byte>, Ticket) override {}
    void move_in(int, std::uint64_t, std::span<std::byte>, Ticket) override { moves = true; }
    void refuse(int, std::uint64_t, std::size_t) override {}
    void abandon() override {}
    bool step(Listener& listener) override {
        if (steps_hang) hang();
        if (std::exchange(has_spoken_, true)) return false;
        if (where_ == Stuck::InMoves)
            listener.on_message(1, pack({Word::Announce, 0, kKey, terms()}, "SEND", "it", {}));
        if (where_ == Stuck::InEnd) listener.on_message(1, pack({Word::Goodbye}, "", "", {}));
        return true;
    }
    bool idle() const override { return true; }
    void rest() override { std::this_thread::sleep_for(1ms); }
    void wake() override {}
    void end() override {
        if (where_ == Stuck::InEnd) hang();
    }
    void break_off(const std::string&) override {}

private:
    Stuck where_;
    bool has_spoken_ = false;
};

class ARankWhoseWireIsStuck : public testing::Test {
protected:
    ARankWhoseWireIsStuck() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    /// Short is what is to pass; what is not to pass first takes longer than a busy machine.
    static Patience patience_for(Stuck where) {
        Patience patience{60s, 100ms, 100ms, 100ms, 60s};
        const bool never_joins = where == Stuck::InOpen, never_answers = where == Stuck::InEnd;
        if (never_joins || where == Stuck::InGoodbyes) patience.for_others = 200ms;
        if (never_answers) patience.for_others = 5s;
        if (never_joins || never_answers) patience.for_wire = 100ms;
        return patience;
    }
    static std::unique_ptr<MessageEngine> engine(Stuck where, const Patience& patience) {
        return std::make_unique<MessageEngine>(
            [where] { return std::make_unique<StuckWire>(where); }, patience);
    }
    static std::unique_ptr<MessageEngine> engine(Stuck where) {
        return engine(where, patience_for(where));
    }
    /// A receive that its sender has announced, if the wire says so.
    static std::shared_ptr<Operation> receive(std::vector<std::byte>& bytes) {
        bytes.resize(kBytes);
        auto operation = std::make_shared<Operation>();
        operation->key = kKey;
        operation->terms = terms();
        operation->description = "RECV from rank 1";
        operation->phases.push_back({{}, {}, {{1, bytes}}});
        return operation;
    }
    static void start_and(Stuck where, const Patience& patience,
                          const std::function<void(MessageEngine&, Operation&)>& go_on) {
        std::vector<std::byte> bytes;
        const auto rank = engine(where, patience);
        const auto operation = receive(bytes);
        rank->start(operation);
        steps_hang = where == Stuck::InStep;
        wait_until(where == Stuck::InStep ? hangs : moves);
        go_on(*rank, *operation);
    }
    static void start_and(Stuck where,
                          const std::function<void(MessageEngine&, Operation&)>& go_on) {
        start_and(where, patience_for(where), go_on);
    }
    static void start_and_wait(Stuck where) {
        Patience patience = patience_for(where);
        // For a wait, it counts from the wait's own deadline; nothing else is under way.
        if (where == Stuck::InStep) patience.for_wire = 100ms;
        start_and(where, patience,
                  [](MessageEngine& rank, Operation& it) { rank.wait(it, within(50ms)); });
    }
    static void start_and_look(Stuck where) {
        Patience patience = patience_for(where);
        patience.for_others = 5s;
        patience.for_wire = 100ms;
        start_and(where, patience, [](MessageEngine& rank, Operation& it) {
            for (;;) rank.done(it);
        });
    }
};

#define EXPECT_ENDS(statement, sentence) \
    EXPECT_EXIT(statement, testing::ExitedWithCode(3), "error: " sentence)

TEST_F(ARankWhoseWireIsStuck, EndsIfTheOthersDoNotCome) {
    EXPECT_ENDS(engine(Stuck::InOpen), "this process waited .* s for the other ranks of its job");
}

TEST_F(ARankWhoseWireIsStuck, EndsInAWait) {
    EXPECT_ENDS(start_and_wait(Stuck::InStep),
                "rank 0 waited .* s for RECV from rank 1, and the transport of its bytes does not");
}

TEST_F(ARankWhoseWireIsStuck, EndsWhereItOnlyAsks) {
    EXPECT_ENDS(start_and_look(Stuck::InStep),
                "the transport of the bytes of rank 0 has not answered for");
}

TEST_F(ARankWhoseWireIsStuck, NamesWhoseBytesDoNotCome) {
    EXPECT_ENDS(
        start_and_wait(Stuck::InMoves),
        "rank 0 waited .* s for RECV from rank 1: its bytes from or to rank 1 are in flight");
}

TEST_F(ARankWhoseWireIsStuck, EndsAfterTheFailureOfAnother) {
    const auto hear = [](MessageEngine& rank, Operation& it) {
        rank.fail("rank 1 has a cold");
        rank.wait(it, within(1h));
    };
    EXPECT_ENDS(start_and(Stuck::InMoves, hear), "rank 1 has a cold");
}

TEST_F(ARankWhoseWireIsStuck, EndsWhenItGivesUp) {
    EXPECT_ENDS(
        start_and(Stuck::InMoves, [](MessageEngine& rank, Operation& it) { rank.leave(it); }),
        "rank 0 gave RECV from rank 1 up before it was done");
}

TEST_F(ARankWhoseWireIsStuck, EndsWhenAnotherIsNeverThrough) {
    EXPECT_ENDS(engine(Stuck::InGoodbyes),
                "rank 0 had finished and waited .* s for rank 1 to finish");
}

TEST_F(ARankWhoseWireIsStuck, EndsWhenTheJobCannotBeLeft) {
    EXPECT_ENDS(engine(Stuck::InEnd), "the transport of the bytes of rank 0 has not answered for");
}

}  // namespace
}  // namespace debubble::exec::processes
