#include "schedule/standstill.h"

#include <map>
#include <optional>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "schedule/csv/csv.h"
#include "schedule/dependencies.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "schedule/validate.h"
#include "tests/schedule/random_orders.h"

/// Orders on transports whose messages share streams.
namespace debubble::streams {
namespace {

Duration units(double count) {
    return Duration{static_cast<std::int64_t>(count * 1e9 + 0.5)};
}

Program read_program(std::string_view text) {
    return read_csv(text, {"test.csv", "test", {}}).schedule;
}

/// Of F = 1 / v, I = W = 1 / v, and messages of 0.1.
double makespan_of(std::string_view name, const PipelineShape& shape, Transport transport,
                   double link) {
    LowerOptions options;
    options.transport = transport;
    options.optimizer = OptimizerPlacement::None;
    const Duration part = units(1.0 / shape.stages_per_rank);
    const Program program = lower(generate(name, shape), options);
    return seconds(
        makespan_on_streams(program, transport, {{{part, part, part}}, units(link), {}}));
}

struct PublishedMakespan {
    const char* schedule;
    PipelineShape shape;
    double link;
    double group;
    double pair;
};

/// Orders that the lowering of torch 2.15 makes, played by an event model of the rules of NCCL: one
/// stream for a rank, and one for each two ranks.
TEST(Streams, PlaysTheOrdersOfPyTorchAsAnotherModelOfThemDoes) {
    constexpr PublishedMakespan kPublished[] = {
        {"interleaved-1f1b", {2, 2, 4, 1}, 0.1, 14.4, 14.4},
        {"interleaved-1f1b", {4, 2, 8, 1}, 0.1, 37.5, 29.9},
        {"interleaved-1f1b", {4, 2, 8, 1}, 0, 33.5, 28.5},
        {"interleaved-1f1b", {8, 2, 16, 1}, 0.1, 94.9, 61.5},
        {"interleaved-1f1b", {8, 2, 16, 1}, 0, 84.0, 58.5},
        {"interleaved-zb", {4, 2, 8, 1}, 0.1, 32.7, 27.5},
        {"interleaved-zb", {4, 2, 8, 1}, 0, 29.5, 25.5},
    };
    for (const PublishedMakespan& known : kPublished) {
        SCOPED_TRACE(testing::Message()
                     << known.schedule << " p=" << known.shape.ranks << " C=" << known.link);
        EXPECT_NEAR(makespan_of(known.schedule, known.shape, Transport::Group, known.link),
                    known.group, 1e-6);
        EXPECT_NEAR(makespan_of(known.schedule, known.shape, Transport::Pair, known.link),
                    known.pair, 1e-6);
    }
}

/// Megatron-LM's calls of batch_isend_irecv, each a group for which rank and host wait.
TEST(Streams, PlaysTheBatchesOfMegatronAsAnotherModelOfThemDoes) {
    EXPECT_NEAR(makespan_of("1f1b", {4, 1, 8, 1}, Transport::Batched, 0.1), 34.9, 1e-6);
    EXPECT_NEAR(makespan_of("1f1b", {8, 1, 16, 1}, Transport::Batched, 0.1), 73.3, 1e-6);
    EXPECT_NEAR(makespan_of("interleaved-1f1b", {4, 2, 8, 1}, Transport::Batched, 0.1), 31.0, 1e-6);
    EXPECT_NEAR(makespan_of("interleaved-1f1b", {8, 2, 16, 1}, Transport::Batched, 0.1), 63.8,
                1e-6);
    EXPECT_NEAR(makespan_of("interleaved-1f1b", {4, 4, 8, 1}, Transport::Batched, 0.1), 31.15,
                1e-6);
    EXPECT_NEAR(makespan_of("interleaved-1f1b", {3, 2, 6, 1}, Transport::Batched, 0.1), 22.8, 1e-6);
}

constexpr std::string_view kCrossing =
    "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
    "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n";

TEST(Streams, AForwardAndABackwardThatCrossOnOneStreamNeverMeet) {
    const Program program = read_program(kCrossing);
    EXPECT_FALSE(find_standstill(program, Transport::Own));
    for (const Transport transport : {Transport::Pair, Transport::Group}) {
        const auto stop = find_standstill(program, transport);
        ASSERT_TRUE(stop);
        EXPECT_EQ(stop->sentence,
                  "0RECV_B0 on rank 0, which is queued after 0SEND_F1, which waits for 1RECV_F1 on "
                  "rank 1, which is queued after 1SEND_B0, which waits for 0RECV_B0 on rank 0");
    }
    // The send and the receive of a batch meet in any order.
    EXPECT_FALSE(find_standstill(program, Transport::Batched));
}

/// No two ranks cross: a check by pairs would miss it. The list has forwards alone.
TEST(Streams, ATriangleOfRanksHangsOnOneStreamOfARankAndNotOnOneOfAPair) {
    const Program program = read_program(
        "0F0,0SEND_F0,0F1,0SEND_F1,0F2,0SEND_F2,3RECV_F0,3F0\n"
        "1RECV_F0,1F0,1SEND_F0,1RECV_F1,1F1,1SEND_F1,1RECV_F2,1F2\n"
        "2RECV_F0,2F0,2SEND_F0,2RECV_F1,2F1\n");
    EXPECT_FALSE(find_standstill(program, Transport::Pair));
    const auto stop = find_standstill(program, Transport::Group);
    ASSERT_TRUE(stop);
    for (const char* rank : {"rank 0", "rank 1", "rank 2"})
        EXPECT_THAT(stop->sentence, testing::HasSubstr(rank));
}

/// PyTorch's deferred receives make such orders of ZBV (torch 2.15, _defer_recv_ops).
TEST(Streams, SendsAndReceivesInUnlikeOrderExchangeTheirData) {
    EXPECT_TRUE(exchanged_messages(read_program(kCrossing), Transport::Pair).empty());
    const Program swapped = read_program(
        "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
        "1RECV_F1,1F1,1RECV_F0,1F0,1B0,1SEND_B0,1B1,1SEND_B1\n");
    for (const Transport transport : {Transport::Own, Transport::Pair, Transport::Batched}) {
        const auto found = exchanged_messages(swapped, transport);
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].to.index, 1);
        EXPECT_EQ(found[0].sentence,
                  "wrong data: message 1 from rank 0 to rank 1 is sent by 0SEND_F0 and received by "
                  "1RECV_F1");
    }
}

/// A V on two ranks: activations and gradients from rank 0 to rank 1 share a communicator on some
/// transports alone.
TEST(Streams, KindsOfMessagesExchangeTheirDataWhereTheyShareACommunicator) {
    const Program program = read_program(
        "0F0,0SEND_F0,3RECV_F0,3F0,3B0,3SEND_B0,0F1,0SEND_F1,0RECV_B0,0B0,3RECV_F1,3F1,3B1,3SEND_"
        "B1,"
        "0RECV_B1,0B1\n"
        "1RECV_F0,1F0,2F0,2SEND_F0,1RECV_F1,1F1,2RECV_B0,2B0,1B0,1SEND_B0,2F1,2SEND_F1,2RECV_B1,"
        "2B1,"
        "1B1,1SEND_B1\n");
    EXPECT_TRUE(exchanged_messages(program, Transport::Own).empty());
    const auto found = exchanged_messages(program, Transport::Pair);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].sentence,
              "wrong data: message 2 from rank 0 to rank 1 is sent by 3SEND_B0 and received by "
              "1RECV_F1");
}

TEST(Streams, JudgesAnOrderOnEveryTransport) {
    std::map<std::string_view, std::vector<Violation>> verdicts;
    const auto judged = judge_transports(read_program(kCrossing));
    ASSERT_EQ(judged.size(), kTransports.size());
    for (std::size_t i = 0; i < judged.size(); ++i)
        verdicts[kTransports[i].name] = judged[i].violations;
    EXPECT_TRUE(verdicts["own"].empty());
    EXPECT_TRUE(verdicts["issue-ordered"].empty());
    EXPECT_TRUE(verdicts["batched"].empty());
    ASSERT_EQ(verdicts["pair"].size(), 1u);
    EXPECT_EQ(verdicts["pair"][0].kind, Violation::Kind::Deadlock);
    EXPECT_FALSE(verdicts["group"].empty());
}

/// The pair transport once more, written from its rules: streams are queues, of which every turn
/// starts what it can.
class Queues {
public:
    explicit Queues(const Program& program) : program_(program), at_(program.ranks.size(), 0) {}

    bool finishes() {
        for (bool moved = true; moved;) {
            moved = false;
            for (int rank = 0; rank < static_cast<int>(at_.size()); ++rank) moved |= compute(rank);
            for (auto& [ranks, queue] : queues_) moved |= meet(ranks);
        }
        for (const auto& [ranks, queue] : queues_)
            if (!queue.empty()) return false;
        for (std::size_t rank = 0; rank < at_.size(); ++rank)
            if (at_[rank] < program_.ranks[rank].size()) return false;
        return true;
    }

private:
    using Ranks = std::pair<int, int>;  // whose queue, and the other

    /// The next action of the list: a message is put on its queue once the computes before it are
    /// over, a compute runs if its input is there.
    bool compute(int rank) {
        const ActionList& list = program_.ranks[static_cast<std::size_t>(rank)];
        std::size_t& at = at_[static_cast<std::size_t>(rank)];
        if (at == list.size()) return false;
        if (const auto* send = std::get_if<Send>(&list[at]))
            queues_[{rank, send->to.index}].push_back(list[at]);
        else if (const auto* recv = std::get_if<Recv>(&list[at]))
            queues_[{rank, recv->from.index}].push_back(list[at]);
        else if (!has_input(rank, list[at]))
            return false;
        ++at;
        return true;
    }
    bool has_input(int rank, const Action& action) const {
        bool all = true;
        for_each_compute(action, [&](const Compute& c) {
            const auto input = neighbour_input_of(c, program_.stage_count());
            if (input && comes_from_another(rank, *input)) all = all && came_.contains(*input);
        });
        return all;
    }
    bool comes_from_another(int rank, const Message& input) const {
        for (const Action& action : program_.ranks[static_cast<std::size_t>(rank)])
            if (const auto* recv = std::get_if<Recv>(&action); recv && recv->message == input)
                return true;
        return false;
    }
    bool meet(Ranks ranks) {
        auto& mine = queues_[ranks];
        auto& theirs = queues_[{ranks.second, ranks.first}];
        if (mine.empty() || theirs.empty()) return false;
        const auto* send = std::get_if<Send>(&mine.front());
        const auto* recv = std::get_if<Recv>(&theirs.front());
        if (send == nullptr || recv == nullptr) return false;
        came_.insert(recv->message);
        mine.erase(mine.begin());
        theirs.erase(theirs.begin());
        return true;
    }

    const Program& program_;
    std::vector<std::size_t> at_;
    std::map<Ranks, std::vector<Action>> queues_;
    std::set<Message> came_;
};

/// Receives and sends of a program that finishes, moved by chance to where its computes allow.
Program shuffled(std::mt19937& random, Program program) {
    for (ActionList& list : program.ranks)
        if (random() % 2 == 0) {
            const std::size_t i = random() % list.size();
            const bool sends = std::holds_alternative<Send>(list[i]);
            if (!sends && !std::holds_alternative<Recv>(list[i])) continue;
            // A send may come later, and a receive earlier.
            const std::size_t few = 1 + random() % 3;
            const std::size_t to =
                sends ? std::min(i + few, list.size() - 1) : i - std::min(i, few);
            const Action moved = list[i];
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
            list.insert(list.begin() + static_cast<std::ptrdiff_t>(to), moved);
        }
    return program;
}

TEST(Streams, JudgesAThousandOrdersAsQueuesOfMessagesDo) {
    std::mt19937 random(7);
    int hangs = 0;
    for (int order = 0; order < 1000; ++order) {
        SCOPED_TRACE(order);
        LowerOptions options;
        options.optimizer = OptimizerPlacement::None;
        options.transport = order % 2 == 0 ? Transport::Pair : Transport::Own;
        const Program program = shuffled(random, lower(random_order(random), options));
        const bool stops = find_standstill(program, Transport::Pair).has_value();
        ASSERT_EQ(stops, !Queues(program).finishes());
        hangs += stops;
        if (!stops) makespan_on_streams(program, Transport::Pair, unit_costs());
    }
    EXPECT_GT(hangs, 200) << "hardly any order hangs";
    EXPECT_LT(hangs, 900) << "hardly any order finishes";
}

/// Whether the graph of all waits, by which makespan_on_streams() plays, has no cycle.
bool has_an_order(const Program& program, Transport transport) {
    try {
        makespan_on_streams(program, transport, unit_costs());
        return true;
    } catch (const InputError&) {
        return false;
    }
}

TEST(Streams, PlayedOrdersFinishWhereTheGraphOfTheirWaitsHasNoCycle) {
    std::mt19937 random(11);
    for (const Transport transport : {Transport::Pair, Transport::Group, Transport::Batched}) {
        int finished = 0;
        for (int order = 0; order < 500; ++order) {
            SCOPED_TRACE(testing::Message() << name_of(transport) << ' ' << order);
            LowerOptions options;
            options.optimizer = OptimizerPlacement::None;
            options.transport = order % 2 == 0 ? transport : Transport::Own;
            const Program program = shuffled(random, lower(random_order(random), options));
            const bool finishes = finishes_on_streams(program, transport);
            ASSERT_EQ(finishes, has_an_order(program, transport));
            finished += finishes;
        }
        EXPECT_GT(finished, 50) << name_of(transport);
        EXPECT_LT(finished, 450) << name_of(transport);
    }
}

TEST(Streams, AnEndWithoutItsOtherEndIsLeftToTheGraph) {
    const Program program =
        read_program("0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
    for (const Transport transport : {Transport::Pair, Transport::Group, Transport::Batched})
        EXPECT_FALSE(finishes_on_streams(program, transport));
}

}  // namespace
}  // namespace debubble::streams
