#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "schedule/csv/csv.h"
#include "schedule/lower.h"
#include "schedule/validate.h"
#include "tests/schedule/random_orders.h"

/// Whatever order of computes PyTorch plays to its end is a schedule.
namespace debubble::any_order {
namespace {

constexpr int kOrders = 300;

/// What torch.distributed.pipelining.schedules makes of computes (_add_send_recv), played as it
/// plays them (_simulate_comms_compute), written from their description: ranks in turns of one
/// action; a compute needs what its own rank has made or received, a receive that its send was
/// played, a send that its compute was. Strings stand for actions.
class PyTorch {
public:
    explicit PyTorch(const Schedule& schedule) : schedule_(schedule), owners_(schedule) {}

    bool plays() {
        std::vector<std::vector<Cell>> computes;
        for (const ActionList& list : schedule_.ranks) {
            auto& cells = computes.emplace_back();
            for (const Action& action : list) cells.push_back({std::get<Compute>(action), {}});
        }
        return add_messages(std::move(computes)) && play();
    }

    /// What it lowers the computes to, as it writes that.
    std::string csv() const {
        std::string text;
        for (const auto& list : lists_) {
            for (const Cell& cell : list)
                text += (cell.compute ? to_text(Action{*cell.compute}) : cell.message) + ",";
            text.back() = '\n';
        }
        return text;
    }

private:
    struct Cell {
        std::optional<Compute> compute;
        std::string message;  ///< "0SEND_F3", "1RECV_F3"
        std::string matching = {};
    };
    using Done = std::set<std::string>;

    static std::string text(const Message& m, const char* what, int stage) {
        const char* kind = m.kind == Message::Kind::Activation ? "F" : "B";
        return fmt::format("{}{}_{}{}", stage, what, kind, m.micro_batch.index);
    }
    static std::string send_of(const Message& m) { return text(m, "SEND", m.producer.index); }
    static std::string recv_of(const Message& m) { return text(m, "RECV", consumer_of(m).index); }
    static std::string made(const Message& m) { return text(m, "MADE", m.producer.index); }

    bool has_inputs(const Compute& c, const Done& done) const {
        const Inputs inputs = inputs_of(c, schedule_.stage_count(), 1);
        return std::all_of(inputs.begin(), inputs.end(), [&](const Message& input) {
            return done.contains(recv_of(input)) || done.contains(made(input));
        });
    }

    /// False: "Malformed compute schedule, can't schedule sends/recvs".
    bool add_messages(std::vector<std::vector<Cell>> computes) {
        const std::size_t ranks = computes.size();
        lists_.resize(ranks);
        std::vector<Done> done(ranks);
        std::vector<std::size_t> at(ranks, 0);
        for (bool progress = true; progress;) {
            progress = false;
            for (std::size_t r = 0; r < ranks; ++r) {
                if (at[r] == computes[r].size()) continue;
                const Cell& cell = computes[r][at[r]];
                if (!has_inputs(*cell.compute, done[r])) continue;
                ++at[r];
                progress = true;
                lists_[r].push_back(cell);
                const auto result = result_of(*cell.compute);
                if (!result) continue;
                done[r].insert(made(*result));
                const auto to = owners_.consumer_of(*result);
                if (!to || to->index == static_cast<int>(r)) continue;
                const auto peer = static_cast<std::size_t>(to->index);
                lists_[r].push_back({{}, send_of(*result), made(*result)});
                lists_[peer].push_back({{}, recv_of(*result), send_of(*result)});
                done[peer].insert(recv_of(*result));
            }
        }
        for (std::size_t r = 0; r < ranks; ++r)
            if (at[r] < computes[r].size()) return false;
        return true;
    }

    bool play() const {
        std::vector<Done> done(lists_.size());
        Done sent;
        std::vector<std::size_t> at(lists_.size(), 0);
        for (bool progress = true; progress;) {
            progress = false;
            for (std::size_t r = 0; r < lists_.size(); ++r) {
                if (at[r] == lists_[r].size()) continue;
                const Cell& cell = lists_[r][at[r]];
                if (cell.compute && !has_inputs(*cell.compute, done[r])) continue;
                const bool is_send = cell.message.find("SEND") != std::string::npos;
                const Done& needed = is_send ? done[r] : sent;
                if (!cell.compute && !needed.contains(cell.matching)) continue;
                if (is_send) sent.insert(cell.message);
                if (!cell.compute) done[r].insert(cell.message);
                if (cell.compute)
                    if (const auto result = result_of(*cell.compute)) done[r].insert(made(*result));
                ++at[r];
                progress = true;
            }
        }
        for (std::size_t r = 0; r < lists_.size(); ++r)
            if (at[r] < lists_[r].size()) return false;
        return true;
    }

    const Schedule& schedule_;
    Owners owners_;
    std::vector<std::vector<Cell>> lists_;
};

std::string sentences(const std::vector<Violation>& violations) {
    std::string all;
    for (const Violation& violation : violations) all += violation.message + "\n";
    return all;
}

/// As it is read from a file of PyTorch's.
Schedule through_csv(const Schedule& schedule) {
    return read_csv(write_csv(schedule), {"random.csv", "random", schedule.placement}).schedule;
}

std::vector<LowerOptions> ways_to_lower(const Schedule& schedule) {
    std::vector<LowerOptions> ways(1);
    ways.push_back({});
    ways.back().receive = ReceivePlacement::Late;
    for (const int zero : {0, 2, 3}) {
        ways.push_back({});
        ways.back().data_parallel = ways.back().shard_by_stage = true;
        ways.back().zero_stage = zero;
        ways.back().tied = {Stage{0}, Stage{schedule.stage_count() - 1}};
    }
    return ways;
}

TEST(AnyOrder, ThatPyTorchPlaysIsValidHoweverItIsLowered) {
    std::mt19937 random(5);
    for (int i = 0; i < kOrders && !testing::Test::HasFailure(); ++i) {
        const Schedule schedule = random_order(random);
        ASSERT_TRUE(PyTorch(schedule).plays());
        ASSERT_EQ(sentences(validate(through_csv(schedule))), "") << write_csv(schedule);
        for (const LowerOptions& options : ways_to_lower(schedule)) {
            EXPECT_EQ(sentences(validate(lower(schedule, options))), "") << write_csv(schedule);
            const Program completed = complete(schedule, options);
            EXPECT_EQ(sentences(validate(completed)), "") << write_csv(schedule);
            EXPECT_EQ(sentences(check_training(completed, options)), "") << write_csv(schedule);
        }
    }
}

TEST(AnyOrder, ThatPyTorchHasLoweredIsValidAsItIs) {
    std::mt19937 random(8);
    for (int i = 0; i < kOrders && !testing::Test::HasFailure(); ++i) {
        const Schedule schedule = random_order(random);
        PyTorch lowered(schedule);
        ASSERT_TRUE(lowered.plays());
        const Schedule read =
            read_csv(lowered.csv(), {"random.csv", "random", schedule.placement}).schedule;
        EXPECT_EQ(sentences(validate(read)), "") << lowered.csv();
        for (const LowerOptions& options : ways_to_lower(schedule))
            EXPECT_EQ(sentences(validate(complete(read, options))), "") << lowered.csv();
    }
}

TEST(AnyOrder, ThatPyTorchDoesNotPlayIsADeadlock) {
    std::mt19937 random(6);
    int jammed = 0;
    for (int i = 0; i < kOrders && !testing::Test::HasFailure(); ++i) {
        Schedule schedule = random_order(random);
        ActionList& list = schedule.ranks[random() % schedule.ranks.size()];
        std::swap(list[random() % list.size()], list[random() % list.size()]);
        const bool plays = PyTorch(schedule).plays();
        EXPECT_EQ(validate(schedule).empty(), plays) << write_csv(schedule);
        jammed += plays ? 0 : 1;
    }
    EXPECT_GT(jammed, kOrders / 10);
}

/// What a channel brings is what is taken from it.
TEST(AnyOrder, ReceivesEachChannelInTheOrderOfItsSends) {
    std::mt19937 random(7);
    for (int i = 0; i < kOrders; ++i) {
        const Program program = lower(random_order(random), {});
        std::map<std::tuple<int, int, Message::Kind>, std::vector<Message>> sent, received;
        for (int r = 0; r < program.shape.ranks; ++r)
            for (const Action& action : program.ranks[r]) {
                if (const auto* send = std::get_if<Send>(&action))
                    sent[{r, send->to.index, send->message.kind}].push_back(send->message);
                if (const auto* recv = std::get_if<Recv>(&action))
                    received[{recv->from.index, r, recv->message.kind}].push_back(recv->message);
            }
        EXPECT_TRUE(sent == received);
    }
}

}  // namespace
}  // namespace debubble::any_order
