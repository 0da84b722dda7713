#include "exec/cuda/emulation/emulation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

/// The basis of the tests of kernels: the emulated GPU behaves like a GPU.
namespace debubble::exec::cuda {
namespace {

void note_places(std::vector<int>* visits) {
    (*visits)[static_cast<std::size_t>(block_index() * thread_count() + thread_index())] += 1;
}

TEST(Emulation, RunsEachThreadOfEachBlockOnce) {
    std::vector<int> visits(5 * 96);
    launch("visits", note_places, Geometry{5, 96, 0}, nullptr, &visits);
    EXPECT_THAT(visits, testing::Each(1));
}

/// Each thread gives its number to the next one, over shared memory.
void pass_on(std::vector<int>* got, bool waits) {
    auto* const memory = shared_memory<int>();
    memory[thread_index()] = thread_index();
    if (waits) block_barrier();
    (*got)[static_cast<std::size_t>(thread_index())] =
        memory[(thread_index() + 1) % thread_count()];
}

std::vector<int> passed_on(bool waits) {
    std::vector<int> got(64);
    launch("pass_on", pass_on, Geometry{1, 64, 256}, nullptr, &got, waits);
    return got;
}

TEST(Emulation, KeepsBarriersAndShowsThatOneIsMissing) {
    std::vector<int> expected(64);
    std::iota(expected.begin(), expected.end(), 1);
    expected.back() = 0;
    EXPECT_EQ(passed_on(true), expected);
    EXPECT_EQ(passed_on(true), expected);
#if !defined(__SANITIZE_THREAD__)  // which shows it too, and ends the test
    EXPECT_NE(passed_on(false), expected);
#endif
}

void sum_lanes(std::vector<int>* sums) {
    int value = thread_index();
    for (int lanes = 16; lanes > 0; lanes /= 2) value += warp_xor(value, lanes);
    (*sums)[static_cast<std::size_t>(thread_index())] = value;
}

TEST(Emulation, ExchangesWithinAWarp) {
    std::vector<int> sums(64);
    launch("sum_lanes", sum_lanes, Geometry{1, 64, 0}, nullptr, &sums);
    for (int i = 0; i < 64; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)], i < 32 ? 496 : 1520);
}

void vote(std::vector<unsigned>* votes) {
    (*votes)[static_cast<std::size_t>(thread_index())] = warp_ballot(thread_index() % 3 == 0);
}

TEST(Emulation, CollectsVotes) {
    std::vector<unsigned> votes(32);
    launch("vote", vote, Geometry{1, 32, 0}, nullptr, &votes);
    EXPECT_THAT(votes, testing::Each(0x49249249U));
}

/// Each thread asks for its four numbers, or for zeros, and looks at them before and after it
/// waits.
void copy_and_look(const std::vector<int>* from, std::vector<int>* before,
                   std::vector<int>* after) {
    const int first = 4 * thread_index();
    auto* const memory = shared_memory<int>();
    copy_later<16>(memory + first, from->data() + first, thread_index() != 1);
    std::copy_n(memory + first, 4, before->begin() + first);
    await_copies();
    std::copy_n(memory + first, 4, after->begin() + first);
}

TEST(Emulation, CopiesLater) {
    std::vector<int> from(128), before(128), after(128);
    std::iota(from.begin(), from.end(), 7);
    std::vector<int> expected = from;
    std::fill(expected.begin() + 4, expected.begin() + 8, 0);
    launch("copy", copy_and_look, Geometry{1, 32, 512}, nullptr, &from, &before, &after);
    EXPECT_THAT(before, testing::Each(-1));
    EXPECT_EQ(after, expected);
}

/// Matrix m has 100 m + 10 r + c at row r, column c.
template <bool kTurned>
void load_four(std::vector<unsigned>* got) {
    constexpr int kStride = 16;
    auto* const memory = shared_memory<std::uint16_t>();
    const int row = thread_index();
    for (int c = 0; c < 8; ++c)
        memory[row * kStride + c] =
            static_cast<std::uint16_t>(100 * (row / 8) + 10 * (row % 8) + c);
    block_barrier();
    unsigned pairs[4];
    load_matrices<kTurned>(pairs, memory + row * kStride);
    for (int m = 0; m < 4; ++m) (*got)[static_cast<std::size_t>(4 * thread_index() + m)] = pairs[m];
}

/// PTX, "Matrix load instruction: ldmatrix", of a lane in the middle.
TEST(Emulation, LoadsMatricesAsTheyStandAndTurned) {
    constexpr std::size_t kLane = 14;  // row 3 and columns 4 and 5, or turned column 3
    std::vector<unsigned> got(128), turned(128);
    launch("load", load_four<false>, Geometry{1, 32, 1024}, nullptr, &got);
    launch("load", load_four<true>, Geometry{1, 32, 1024}, nullptr, &turned);
    for (unsigned m = 0; m < 4; ++m) {
        EXPECT_EQ(got[4 * kLane + m], (100 * m + 34) | (100 * m + 35) << 16);
        EXPECT_EQ(turned[4 * kLane + m], (100 * m + 43) | (100 * m + 53) << 16);
    }
}

void half_of_them_wait() {
    if (thread_index() < 16) block_barrier();
}

TEST(Emulation, RefusesABarrierThatNotAllThreadsReach) {
    for (int time = 0; time < 2; ++time) {
        try {
            launch("half", half_of_them_wait, Geometry{1, 64, 0}, nullptr);
            FAIL() << "nobody noticed";
        } catch (const std::logic_error& error) {
            EXPECT_STREQ(error.what(),
                         "half: 16 threads of a block wait at a barrier that the others do not "
                         "reach");
        }
    }
}

}  // namespace
}  // namespace debubble::exec::cuda
