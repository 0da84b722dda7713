#include "tests/exec/support/comm_conformance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "tests/exec/support/comm_checks.h"

namespace debubble::exec {

namespace {

constexpr Message::Kind kActivation = Message::Kind::Activation;
constexpr Message::Kind kGradient = Message::Kind::Gradient;

int next(const Communicator& c) {
    return (c.rank() + 1) % c.size();
}
int previous(const Communicator& c) {
    return (c.rank() + c.size() - 1) % c.size();
}

/// Every rank sends to the next and receives from the previous, all asked in an order that
/// even issue-ordered transport carries out: along an open chain, then back from its end.
void exchange(Communicator& c, ConstBuffer out, Buffer in, const Channel& channel) {
    const auto with = [&](int peer) { return Channel{peer, channel.kind, channel.tag}; };
    Pending receive, send;
    if (c.rank() > 0) receive = c.receive(with(previous(c)), in, "0RECV_F0");
    send = c.send(with(next(c)), out, "0SEND_F0");
    if (c.rank() == 0) receive = c.receive(with(previous(c)), in, "0RECV_F0");
    send->wait(soon());
    receive->wait(soon());
}

void big_messages_arrive_whole(Communicator& c) {
    constexpr std::size_t kElements = 3'000'001;
    std::vector<std::int32_t> out(kElements), in(kElements);
    std::iota(out.begin(), out.end(), c.rank() * 1000);
    exchange(c, buffer_of(std::span(out)), buffer_of(std::span(in)), {0, kActivation});
    std::iota(out.begin(), out.end(), previous(c) * 1000);
    check(in == out, "every element is the sender's");
}

void all_types_are_carried_unchanged(Communicator& c) {
    for (const DataType type : kAllTypes) {
        auto out = encode(table(17, [&](int i) { return i + c.rank(); }), type);
        std::vector<std::byte> in(out.size());
        exchange(c, as_buffer(out, type), as_buffer(in, type), {0, kActivation});
        check(in == encode(table(17, [&](int i) { return i + previous(c); }), type),
              "the bits that were sent");
    }
}

/// A rank that polls gets there without a wait.
void done_comes_without_a_wait(Communicator& c) {
    if (c.rank() > 1) return;
    float value = c.rank() == 0 ? 3.0f : 0.0f;
    const Buffer data = buffer_of(std::span(&value, 1));
    const Pending request = c.rank() == 0 ? c.send({1, kActivation}, data, "0SEND_F0")
                                          : c.receive({0, kActivation}, data, "1RECV_F0");
    const Deadline patience = soon();
    while (!request->done()) {
        check(Clock::now() < patience, "a message is done some time");
        std::this_thread::yield();
    }
    check(value == 3.0f, "done means that the bytes are there");
    request->wait(Clock::now());
}

void many_outstanding_messages_keep_their_order(Communicator& c) {
    constexpr int kMessages = 200;
    std::vector<int> out(kMessages), in(kMessages, -1);
    std::iota(out.begin(), out.end(), 0);
    std::vector<Pending> requests;
    for (int i = 0; i < kMessages; ++i) {
        const std::span item_out(&out[i], 1), item_in(&in[i], 1);
        if (c.rank() > 0) {
            requests.push_back(c.receive({previous(c), kActivation}, buffer_of(item_in), "RECV"));
        }
        if (c.rank() + 1 < c.size()) {
            requests.push_back(c.send({next(c), kActivation}, buffer_of(item_out), "SEND"));
        }
    }
    std::reverse(requests.begin(), requests.end());  // waited for in any order
    for (const Pending& request : requests) request->wait(soon());
    if (c.rank() > 0) check(in == out, "first in, first out");
}

void channels_do_not_mix(Communicator& c) {
    int out[3] = {10, 20, 30}, in[3] = {};
    const Channel channels[3] = {{0, kActivation, 0}, {0, kActivation, 1}, {0, kGradient, 0}};
    std::vector<Pending> requests;
    for (int i = 0; i < 3; ++i) {
        Channel channel = channels[i];
        if (c.rank() == 0) {
            channel.peer = 1;
            requests.push_back(c.send(channel, buffer_of(std::span(&out[i], 1)), "SEND"));
        } else if (c.rank() == 1) {
            requests.push_back(c.receive(channel, buffer_of(std::span(&in[i], 1)), "RECV"));
        }
    }
    for (const Pending& request : requests) request->wait(soon());
    if (c.rank() == 1) {
        check(std::equal(in, in + 3, out), "kind and tag tell messages apart");
    }
}

void nothing_is_carried_too(Communicator& c) {
    std::vector<float> none;
    const Buffer empty = buffer_of(std::span(none));
    exchange(c, empty, empty, {0, kGradient});
    c.all_reduce(empty, Reduction::Sum, "REDUCE_GRAD")->wait(soon());
    c.all_gather(empty, empty, "UNSHARD")->wait(soon());
    c.reduce_scatter(empty, empty, Reduction::Max, "REDUCE_GRAD")->wait(soon());
    c.broadcast(empty, 0, "INIT")->wait(soon());
    const std::vector<ConstBuffer> out(c.size(), empty);
    const std::vector<Buffer> in(c.size(), empty);
    c.all_to_all(out, in, "DISPATCH")->wait(soon());
    c.reduce_pieces(out, empty, Reduction::Sum, "SCATTER")->wait(soon());
}

/// Rank r holds i % 7 + r; so the sum over n ranks is n (i % 7) + n (n - 1) / 2.
void reductions_of_every_type(Communicator& c) {
    const int n = c.size();
    const std::size_t count = static_cast<std::size_t>(n) * 1037;
    for (const DataType type : kAllTypes) {
        const auto mine = encode(table(count, [&](int i) { return i % 7 + c.rank(); }), type);
        const auto sum =
            encode(table(count, [&](int i) { return n * (i % 7) + n * (n - 1) / 2; }), type);
        const auto max = encode(table(count, [&](int i) { return i % 7 + n - 1; }), type);
        auto all = mine;
        c.all_reduce(as_buffer(all, type), Reduction::Sum, "REDUCE_GRAD")->wait(soon());
        check(all == sum, "all-reduce adds");
        all = mine;
        c.all_reduce(as_buffer(all, type), Reduction::Max, "GRAD_NORM")->wait(soon());
        check(all == max, "all-reduce takes the largest");
        all = mine;
        std::vector<std::byte> part(all.size() / n);
        c.reduce_scatter(as_buffer(all, type), as_buffer(part, type), Reduction::Sum, "RS")
            ->wait(soon());
        check(std::equal(part.begin(), part.end(), sum.begin() + c.rank() * part.size()),
              "reduce-scatter gives each rank its part");
        check(all == mine, "reduce-scatter leaves its input");
        const Buffer in_place = as_buffer(all, type).part(c.rank(), n);
        c.reduce_scatter(as_buffer(all, type), in_place, Reduction::Sum, "RS")->wait(soon());
        check(std::equal(part.begin(), part.end(), in_place.bytes.begin()), "in place as well");
        c.all_gather(in_place, as_buffer(all, type), "UNSHARD")->wait(soon());
        check(all == sum, "all-gather undoes the scattering");
    }
}

/// Buffers over pieces of `memory`, which follow each other; `sizes` in bytes.
template <class AnyBuffer>
std::vector<AnyBuffer> pieces_of(std::vector<std::byte>& memory, DataType type,
                                 const std::vector<std::size_t>& sizes) {
    std::vector<AnyBuffer> pieces;
    std::size_t first = 0;
    for (const std::size_t size : sizes) {
        pieces.push_back(Buffer(std::span(memory).subspan(first, size), type));
        first += size;
    }
    return pieces;
}

/// Elements that rank `from` has for rank `to`: none, a few, or many in one case.
int elements_between(int from, int to, int most) {
    return (from + 2 * to) % 3 * (1 + (from + to) % 2 * most);
}

/// Element i of the piece that rank `from` has for rank `to`.
int element_between(int from, int to, int i) {
    return i % 5 + 7 * from + 3 * to;
}

void all_to_all_carries_unequal_pieces(Communicator& c) {
    for (const int most : {3, 20'000})
        for (const DataType type : kAllTypes) {
            std::vector<std::byte> out, expected;
            std::vector<std::size_t> out_sizes, in_sizes;
            const auto add = [&](std::vector<std::byte>& to, std::vector<std::size_t>& sizes,
                                 int sender, int receiver) {
                const auto piece =
                    encode(table(elements_between(sender, receiver, most),
                                 [&](int i) { return element_between(sender, receiver, i); }),
                           type);
                to.insert(to.end(), piece.begin(), piece.end());
                sizes.push_back(piece.size());
            };
            for (int peer = 0; peer < c.size(); ++peer) {
                add(out, out_sizes, c.rank(), peer);
                add(expected, in_sizes, peer, c.rank());
            }
            std::vector<std::byte> in(expected.size());
            c.all_to_all(pieces_of<ConstBuffer>(out, type, out_sizes),
                         pieces_of<Buffer>(in, type, in_sizes), "DISPATCH")
                ->wait(soon());
            check(in == expected, "each piece comes to its rank, in the order of the senders");
        }
}

/// One piece for everybody: an all-gather of parts whose sizes differ.
void all_to_all_gathers_unequal_parts(Communicator& c) {
    std::vector<std::byte> mine =
        encode(table(10 * c.rank(), [&](int i) { return i + c.rank(); }), DataType::Fp32);
    const std::vector<ConstBuffer> out(c.size(), as_buffer(mine, DataType::Fp32));
    std::vector<std::byte> expected;
    std::vector<std::size_t> sizes;
    for (int peer = 0; peer < c.size(); ++peer) {
        const auto part = encode(table(10 * peer, [&](int i) { return i + peer; }), DataType::Fp32);
        expected.insert(expected.end(), part.begin(), part.end());
        sizes.push_back(part.size());
    }
    std::vector<std::byte> in(expected.size());
    c.all_to_all(out, pieces_of<Buffer>(in, DataType::Fp32, sizes), "GATHER")->wait(soon());
    check(in == expected, "the parts of all ranks, in their order");
}

/// Rank r's piece has 40 r elements; element i of rank s's is i % 7 + r + s.
void pieces_are_reduced_by_their_ranks(Communicator& c) {
    const int n = c.size();
    for (const DataType type : kAllTypes) {
        std::vector<std::byte> all;
        std::vector<std::size_t> sizes;
        for (int r = 0; r < n; ++r) {
            const auto piece =
                encode(table(40 * r, [&](int i) { return i % 7 + r + c.rank(); }), type);
            all.insert(all.end(), piece.begin(), piece.end());
            sizes.push_back(piece.size());
        }
        const std::vector<std::byte> before = all;
        for (const Reduction reduction : {Reduction::Sum, Reduction::Max}) {
            const bool adds = reduction == Reduction::Sum;
            std::vector<std::byte> mine(sizes[c.rank()]);
            c.reduce_pieces(pieces_of<ConstBuffer>(all, type, sizes), as_buffer(mine, type),
                            reduction, "SCATTER")
                ->wait(soon());
            const auto expected =
                encode(table(40 * c.rank(),
                             [&](int i) {
                                 const int least = i % 7 + c.rank();
                                 return adds ? n * least + n * (n - 1) / 2 : least + n - 1;
                             }),
                       type);
            check(mine == expected, "the reduction of the pieces for this rank");
            check(all == before, "the pieces stay as they were");
        }
    }
}

void every_rank_can_be_the_root(Communicator& c) {
    for (int root = 0; root < c.size(); ++root) {
        std::vector<int> values(1000, c.rank());
        c.broadcast(buffer_of(std::span(values)), root, "INIT")->wait(soon());
        check(values == std::vector<int>(1000, root), "the root's values");
    }
}

/// (1e8 + 1) - 1e8 + ... depends on the order: the sums are those of rank order, bit for bit.
void sums_are_taken_in_rank_order(Communicator& c) {
    const auto value = [](int rank, int i) {
        const float large = rank % 2 == 0 ? 1e8f : -1e8f;
        return i % 3 == 0 ? large : 0.1f * static_cast<float>(i + 1) / static_cast<float>(rank + 3);
    };
    std::vector<float> expected(5000), values(5000);
    for (int repetition = 0; repetition < 5; ++repetition) {
        for (int i = 0; i < 5000; ++i) {
            values[i] = value((c.rank() + repetition) % c.size(), i);
            expected[i] = value(repetition % c.size(), i);
            for (int r = 1; r < c.size(); ++r) {
                expected[i] += value((r + repetition) % c.size(), i);
            }
        }
        c.all_reduce(buffer_of(std::span(values)), Reduction::Sum, "REDUCE_GRAD")->wait(soon());
        check(values == expected, "each rank has the sum in rank order, bitwise");
    }
}

/// 1 + 2^-8 + 2^-8 is 1 if each sum is rounded to bf16, and 1 + 2^-7 if only the last is.
void sixteen_bit_sums_round_once(Communicator& c) {
    const double values[] = {c.rank() == 0 ? 1.0 : c.rank() < 3 ? 0x1p-8 : 0.0};
    auto bytes = encode(values, DataType::Bf16);
    c.all_reduce(as_buffer(bytes, DataType::Bf16), Reduction::Sum, "REDUCE_GRAD")->wait(soon());
    const double sum[] = {c.size() > 2 ? 1 + 0x1p-7 : 1.0};
    check(bytes == encode(sum, DataType::Bf16), "added in fp32");
}

void a_nan_survives_the_maximum(Communicator& c) {
    for (int holder = 0; holder < c.size(); ++holder) {
        float flag = c.rank() == holder ? NAN : 1.0f;
        c.all_reduce(buffer_of(std::span(&flag, 1)), Reduction::Max, "GRAD_NORM")->wait(soon());
        check(flag != flag, "the NaN is seen by all");
    }
}

/// Pairs of neighbours, all but the first rank, and all ranks backwards; used in turn.
void groups_are_worlds_of_their_own(Communicator& c) {
    const auto sum_over = [&](Communicator& group) {
        int sum = c.global_rank() + 1;
        group.all_reduce(buffer_of(std::span(&sum, 1)), Reduction::Sum, "SUM")->wait(soon());
        return sum;
    };
    std::vector<int> backwards(c.ranks().rbegin(), c.ranks().rend());
    const auto reversed = c.group(backwards);
    const auto twin = c.group(backwards);
    check(reversed->rank() == c.size() - 1 - c.rank(), "positions are those of the list");
    check(reversed->global_rank() == c.rank(), "global ranks stay");
    std::vector<int> received(2, -1), sent{7, 8};
    if (c.rank() < 2) {  // position size-1-r of the reversed group is rank r
        const Channel to_other{c.size() - 1 - (1 - c.rank()), kActivation};
        for (int i = 0; i < 2; ++i) {
            Communicator& way = i == 0 ? *reversed : *twin;
            const auto request =
                c.rank() == 0
                    ? way.send(to_other, buffer_of(std::span(&sent[i], 1)), "SEND")
                    : way.receive(to_other, buffer_of(std::span(&received[i], 1)), "RECV");
            request->wait(soon());
        }
        if (c.rank() == 1) check(received == sent, "twin groups do not mix");
    }
    if (c.rank() > 0) {
        std::vector<int> tail(c.ranks().begin() + 1, c.ranks().end());
        check(sum_over(*c.group(tail)) == c.size() * (c.size() + 1) / 2 - 1, "all but rank 0");
    }
    const int pair = c.rank() / 2 * 2;
    if (pair + 1 < c.size()) {
        check(sum_over(*c.group(std::vector{pair, pair + 1})) == 2 * pair + 3, "the pair's sum");
    }
    check(sum_over(*reversed) == c.size() * (c.size() + 1) / 2, "everybody's sum");
}

void waits_tell_when_the_bytes_moved(Communicator& c) {
    const Clock::time_point before = Clock::now();
    float value = 0;
    const Buffer data = buffer_of(std::span(&value, 1));
    const Pending request = c.rank() == 0   ? c.send({1, kActivation}, data, "0SEND_F0")
                            : c.rank() == 1 ? c.receive({0, kActivation}, data, "1RECV_F0")
                                            : c.barrier("BARRIER");
    const Pending barrier = c.rank() < 2 ? c.barrier("BARRIER") : nullptr;
    const Interval interval = request->wait(soon());
    check(
        before <= interval.begin && interval.begin <= interval.end && interval.end <= Clock::now(),
        "the interval lies between asking and having");
    check(request->wait(soon()).end == interval.end, "a second wait says the same");
    if (barrier) barrier->wait(soon());
}

/// The last rank fails before it comes; the others wait for it in different ways.
void one_failure_ends_all_waits(Communicator& c) {
    if (c.rank() == c.size() - 1) {
        c.abort("no space left on device");
        return;
    }
    const Clock::time_point start = Clock::now();
    float value = 0;
    const Buffer data = buffer_of(std::span(&value, 1));
    const Pending request = c.rank() == 0 ? c.receive({c.size() - 1, kGradient}, data, "0RECV_B3")
                                          : c.all_reduce(data, Reduction::Sum, "0RECV_B3");
    const std::string sentence = failure_of([&] { request->wait(soon()); });
    check_has(sentence, "rank " + std::to_string(c.rank()) + " stopped waiting for 0RECV_B3");
    check_has(sentence,
              "rank " + std::to_string(c.size() - 1) + " failed: no space left on device");
    check(Clock::now() - start < 20s, "long before the deadline");
    check_has(failure_of([&] { c.barrier("BARRIER")->wait(soon()); }), "no space left");
}

void a_deadline_names_what_and_who_is_missing(Communicator& c) {
    if (c.rank() == 0) {
        float value = 0;
        const Pending request =
            c.receive({1, kActivation}, buffer_of(std::span(&value, 1)), "0RECV_F3");
        const std::string sentence = failure_of([&] { request->wait(shortly()); });
        const std::string start = "rank 0 waited ";
        check(sentence.starts_with(start), "it says who waited");
        check(std::stod(sentence.substr(start.size())) >= 0.049, "and how long");
        check_has(sentence, " s for 0RECV_F3 from rank 1: rank 1 has not reached it");
    } else {
        const std::string sentence = failure_of([&] { c.barrier("BARRIER")->wait(soon()); });
        check_has(sentence, "stopped waiting for BARRIER among ranks 0, 1");
        check_has(sentence, ": rank 0 waited ");
    }
}

/// Each receives first what the other sends second: no transport can carry that out.
void a_deadlock_ends_and_names_the_wait(Communicator& c) {
    if (c.rank() > 1) return;
    float in = 0, out = 0;
    const int other = 1 - c.rank();
    const std::string sentence = failure_of([&] {
        c.receive({other, kActivation}, buffer_of(std::span(&in, 1)), "1RECV_F0")->wait(shortly());
        c.send({other, kActivation}, buffer_of(std::span(&out, 1)), "0SEND_F0")->wait(shortly());
    });
    check_has(sentence, "1RECV_F0 from rank " + std::to_string(other));
    check_has(sentence, "has not reached it");
}

void unequal_sizes_are_told_on_both_sides(Communicator& c) {
    if (c.rank() > 1) return;
    std::vector<float> values(4);
    const std::span all(values);
    const std::string sentence = failure_of([&] {
        (c.rank() == 0 ? c.send({1, kActivation}, buffer_of(all), "0SEND_F1")
                       : c.receive({0, kActivation}, buffer_of(all.first(3)), "1RECV_F1"))
            ->wait(soon());
        c.barrier("BARRIER")->wait(soon());
    });
    check_has(sentence, "0SEND_F1 to rank 1 for a message of 16 bytes of fp32");
    check_has(sentence, "1RECV_F1 from rank 0 for a message of 12 bytes of fp32");
}

void unequal_pieces_are_told_on_both_sides(Communicator& c) {
    std::vector<float> values(8);
    const std::span all(values);
    const std::string sentence = failure_of([&] {
        std::vector<ConstBuffer> out(c.size(), buffer_of(all.first(1)));
        if (c.rank() == 0) out[1] = buffer_of(all.first(2));
        std::vector<float> taken(c.size());
        std::vector<Buffer> in;
        for (int r = 0; r < c.size(); ++r) in.push_back(buffer_of(std::span(taken).subspan(r, 1)));
        c.all_to_all(out, in, "DISPATCH")->wait(soon());
        c.barrier("BARRIER")->wait(soon());
    });
    check_has(sentence, "rank 0 takes DISPATCH among rank");
    check_has(sentence, "for a piece of an all-to-all of 8 bytes of fp32");
    check_has(sentence, "for a piece of an all-to-all of 4 bytes of fp32");
}

void a_request_given_up_does_not_hang_the_others(Communicator& c) {
    float value = 0;
    const Buffer data = buffer_of(std::span(&value, 1));
    if (c.rank() == 0) {
        c.receive({1, kActivation}, data, "0RECV_F0");
    } else {
        check_has(failure_of([&] { c.barrier("BARRIER")->wait(soon()); }),
                  "rank 0 gave 0RECV_F0 from rank 1 up before it was done");
    }
}

}  // namespace

const std::vector<ConformanceCase>& conformance_cases() {
    static const std::vector<ConformanceCase> cases{
        {"BigMessagesArriveWhole", big_messages_arrive_whole},
        {"AllTypesAreCarriedUnchanged", all_types_are_carried_unchanged},
        {"DoneComesWithoutAWait", done_comes_without_a_wait},
        {"ManyOutstandingMessagesKeepTheirOrder", many_outstanding_messages_keep_their_order},
        {"ChannelsDoNotMix", channels_do_not_mix},
        {"NothingIsCarriedToo", nothing_is_carried_too},
        {"ReductionsOfEveryType", reductions_of_every_type},
        {"AllToAllCarriesUnequalPieces", all_to_all_carries_unequal_pieces},
        {"AllToAllGathersUnequalParts", all_to_all_gathers_unequal_parts},
        {"PiecesAreReducedByTheirRanks", pieces_are_reduced_by_their_ranks},
        {"EveryRankCanBeTheRoot", every_rank_can_be_the_root},
        {"SumsAreTakenInRankOrder", sums_are_taken_in_rank_order},
        {"SixteenBitSumsRoundOnce", sixteen_bit_sums_round_once},
        {"ANanSurvivesTheMaximum", a_nan_survives_the_maximum},
        {"GroupsAreWorldsOfTheirOwn", groups_are_worlds_of_their_own},
        {"WaitsTellWhenTheBytesMoved", waits_tell_when_the_bytes_moved},
        {"OneFailureEndsAllWaits", one_failure_ends_all_waits, true},
        {"ADeadlineNamesWhatAndWhoIsMissing", a_deadline_names_what_and_who_is_missing, true},
        {"ADeadlockEndsAndNamesTheWait", a_deadlock_ends_and_names_the_wait, true},
        {"UnequalSizesAreToldOnBothSides", unequal_sizes_are_told_on_both_sides, true},
        {"UnequalPiecesAreToldOnBothSides", unequal_pieces_are_told_on_both_sides, true},
        {"ARequestGivenUpDoesNotHangTheOthers", a_request_given_up_does_not_hang_the_others, true},
    };
    return cases;
}

}  // namespace debubble::exec
