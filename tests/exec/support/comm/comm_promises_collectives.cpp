#include "tests/exec/support/comm/comm_promises.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/exec/support/comm/comm_checks.h"

/// Collectives, and groups of ranks.
namespace debubble::exec {

namespace {

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
            c.reduce_scatter_uneven(pieces_of<ConstBuffer>(all, type, sizes), as_buffer(mine, type),
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

}  // namespace

std::vector<ConformanceCase> collective_promises() {
    return {
        {"ReductionsOfEveryType", reductions_of_every_type},
        {"AllToAllCarriesUnequalPieces", all_to_all_carries_unequal_pieces},
        {"AllToAllGathersUnequalParts", all_to_all_gathers_unequal_parts},
        {"PiecesAreReducedByTheirRanks", pieces_are_reduced_by_their_ranks},
        {"EveryRankCanBeTheRoot", every_rank_can_be_the_root},
        {"SumsAreTakenInRankOrder", sums_are_taken_in_rank_order},
        {"SixteenBitSumsRoundOnce", sixteen_bit_sums_round_once},
        {"ANanSurvivesTheMaximum", a_nan_survives_the_maximum},
        {"GroupsAreWorldsOfTheirOwn", groups_are_worlds_of_their_own},
    };
}

}  // namespace debubble::exec
