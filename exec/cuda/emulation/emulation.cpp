#include "exec/cuda/emulation/emulation.h"

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cassert>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "exec/cuda/emulation/races.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace debubble::exec::cuda {

namespace emulation {

constinit thread_local int thread = 0;
constinit thread_local int threads = 0;
constinit thread_local std::int64_t block = 0;
constinit thread_local std::int64_t blocks = 0;

namespace {

constexpr std::size_t kStack = 256 * 1024;

// This is not Boost's fiber class, which throws through fibers that have not ended, and these never
// end.
namespace context = boost::context::detail;

/// A point at which code can stop and go on: of the scheduler, or of a thread of the emulated
/// block.
struct Fiber {
    context::fcontext_t place = nullptr;  ///< while it is stopped
    std::unique_ptr<char[]> stack;
    const void* bottom = nullptr;
    std::size_t size = 0;
    void* fake_stack = nullptr;  ///< for AddressSanitizer
    void* race_fiber = nullptr;  ///< for ThreadSanitizer
};

/// Notes where the fiber that switched to this one has stopped.
void stands_still(context::transfer_t at) {
    static_cast<Fiber*>(at.data)->place = at.fctx;
}

void switch_between(Fiber& from, Fiber& to) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.size);
#endif
#if defined(DEBUBBLE_FIND_RACES)
    __tsan_switch_to_fiber(to.race_fiber, __tsan_switch_to_fiber_no_sync);
#endif
    stands_still(context::jump_fcontext(to.place, &from));
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

/// A barrier that opens when all threads have come, and counts how often it did.
struct Barrier {
    int expected = 0;
    int arrived = 0;
    std::uint64_t opened = 0;
};

struct Warp {
    Barrier barrier;
    /// Used alternately: the fastest lane is at most one shuffle ahead.
    std::uint64_t values[2][kWarp];
};

struct EmulatedThread {
    Fiber fiber;
    const Barrier* waits_at = nullptr;
    std::uint64_t until = 0;
    std::vector<Copy> copies;  ///< copies asked for, not awaited
    bool ended = false;
};

/// The shared memory of blocks, one after the other; all of it starts as NaN. Where races are
/// sought, every block of a launch has its own, since blocks have no order.
class SharedMemory {
public:
    void have(const Geometry& how) {
        const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(how.shared_bytes, 1));
        each_ = (bytes + kAlignment - 1) / kAlignment * kAlignment;
        const std::size_t all =
            races::kSought ? each_ * static_cast<std::size_t>(how.blocks) : bytes;
        memory_ = ::operator new (all, std::align_val_t{kAlignment});
        std::memset(memory_, 0xff, all);
    }
    void drop() {
        ::operator delete (std::exchange(memory_, nullptr), std::align_val_t{kAlignment});
    }
    void* of(std::int64_t block) const {
        return static_cast<char*>(memory_) +
               (races::kSought ? each_ * static_cast<std::size_t>(block) : 0);
    }

private:
    static constexpr std::size_t kAlignment = 128;
    std::size_t each_ = 0;
    void* memory_ = nullptr;
};

/// The block that this thread of the process emulates.
class Block {
public:
    /// Room for the warps of any block, so that no launch makes new memory that its threads, which
    /// begin where the launch does, would seem to race with.
    Block() { warps_.reserve(kMaxThreads / kWarp); }
    ~Block() {
#if defined(DEBUBBLE_FIND_RACES)
        for (const EmulatedThread& each : threads_)
            if (each.fiber.race_fiber != nullptr) __tsan_destroy_fiber(each.fiber.race_fiber);
#endif
    }

    /// Runs the blocks in any order: a block knows of the others only that the launch began and
    /// ended.
    void run_all(const char* name, const Geometry& how, const std::function<void()>& body) {
        turn();
        if (races::kSought) shared_.have(how);
        races::before(&begun_);
        for (block = 0; block < blocks; ++block) run(name, how, body);
        races::after(&ended_);
        if (races::kSought) shared_.drop();
    }

    void run(const char* name, const Geometry& how, const std::function<void()>& body) {
        begin(how, body);
        for (int running = how.threads; running > 0;) {
            const int before = running;
            bool moved = false;
            for (int i = 0; i < how.threads; ++i) {
                EmulatedThread& next = threads_[backwards_ ? how.threads - 1 - i : i];
                if (next.ended || (next.waits_at && next.waits_at->opened == next.until)) continue;
                moved = true;
                resume(next);
                if (next.ended) --running;
            }
            if (moved || running < before) continue;
            give_up();
            throw std::logic_error(std::string(name) + ": " + std::to_string(running) +
                                   " threads of a block wait at a barrier that the others "
                                   "do not reach");
        }
        if (!races::kSought) shared_.drop();
    }

    void wait(Barrier& barrier) {
        EmulatedThread& mine = me();
        if (++barrier.arrived == barrier.expected) {
            barrier.arrived = 0;
            ++barrier.opened;
            return;
        }
        mine.waits_at = &barrier;
        mine.until = barrier.opened;
        switch_between(mine.fiber, scheduler_);
        mine.waits_at = nullptr;
    }
    void wait_for_block() {
        races::before(&all_);
        wait(all_);
        races::after(&all_);
    }

    Warp& meet(std::uint64_t value) {
        Warp& warp = warps_[thread / kWarp];
        warp.values[warp.barrier.opened % 2][thread % kWarp] = value;
        wait(warp.barrier);
        return warp;  // barrier.opened - 1 was the number of this shuffle
    }

    EmulatedThread& me() {
        return threads_[thread];
    }
    void* shared() const {
        return shared_.of(block);
    }

private:
    void begin(const Geometry& how, const std::function<void()>& body) {
        assert(how.threads % kWarp == 0 && how.threads <= kMaxThreads && "whole warps");
        body_ = &body;
        all_ = {how.threads, 0, 0};
        warps_.assign(static_cast<std::size_t>(how.threads / kWarp), {});
        for (Warp& warp : warps_) warp.barrier.expected = kWarp;
        for (int i = 0; i < how.threads; ++i) prepare(threads_[i]);
        if (!races::kSought) shared_.have(how);
    }
    /// Runs the threads forwards and backwards in turn.
    void turn() {
        backwards_ = !backwards_;
    }

    /// A fiber lives as long as the thread of the process, and runs one body after another.
    void prepare(EmulatedThread& thread) {
        thread.waits_at = nullptr;
        thread.copies.clear();
        thread.ended = false;
        Fiber& fiber = thread.fiber;
        if (fiber.stack) return;
        fiber.stack = std::make_unique_for_overwrite<char[]>(kStack);
#if defined(DEBUBBLE_FIND_RACES)
        fiber.race_fiber = __tsan_create_fiber(0);
        scheduler_.race_fiber = __tsan_get_current_fiber();
#endif
        fiber.bottom = fiber.stack.get();
        fiber.size = kStack;
        fiber.place = context::make_fcontext(fiber.stack.get() + kStack, kStack, &Block::enter);
    }

    void resume(EmulatedThread& next) {
        emulation::thread = static_cast<int>(&next - threads_.data());
        switch_between(scheduler_, next.fiber);
    }

    /// The fibers are stopped in the middle of a body that will not be finished.
    void give_up() {
        races::after(&all_);
        races::after(&ended_);
        threads_ = std::vector<EmulatedThread>(kMaxThreads);
        shared_.drop();
    }

    static void enter(context::transfer_t from);

    Fiber scheduler_;
    std::vector<EmulatedThread> threads_ = std::vector<EmulatedThread>(kMaxThreads);
    std::vector<Warp> warps_;
    Barrier all_;
    SharedMemory shared_;
    char begun_ = 0, ended_ = 0;  ///< addresses for races.h
    const std::function<void()>* body_ = nullptr;
    bool backwards_ = false;
};

thread_local Block the_block;

void Block::enter(context::transfer_t from) {
    stands_still(from);
    Block& block = the_block;
    EmulatedThread& me = block.threads_[thread];
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &block.scheduler_.bottom, &block.scheduler_.size);
#endif
    for (;;) {
        races::after(&block.begun_);
        (*block.body_)();
        races::before(&block.ended_);
        me.ended = true;
        switch_between(me.fiber, block.scheduler_);
    }
}

}  // namespace

namespace {

void run_here(const char* name, const Geometry& how, const std::function<void()>& body) {
    threads = how.threads;
    blocks = how.blocks;
    the_block.run_all(name, how, body);
}

}  // namespace

void run(const char* name, const Geometry& how, Stream stream, std::function<void()> body) {
    assert(how.blocks <= kMaxBlocks && how.shared_bytes <= kMaxSharedBytes && "the GPU has it");
    auto* const line = reinterpret_cast<Line*>(stream);
    if (line == nullptr) return run_here(name, how, body);
    line->ask([name, how, body = std::move(body)] { run_here(name, how, body); });
}

void* shared() {
    return the_block.shared();
}

const std::uint64_t* of_warp(std::uint64_t value) {
    const Warp& warp = the_block.meet(value);
    return warp.values[(warp.barrier.opened - 1) % 2];
}

void remember(const Copy& copy) {
    the_block.me().copies.push_back(copy);
}
bool take_copy(Copy& copy) {
    std::vector<Copy>& copies = the_block.me().copies;
    if (copies.empty()) return false;
    copy = copies.back();
    copies.pop_back();
    return true;
}

namespace {

/// The pairs of a lane, as numbers.
struct Fragments {
    float a[4][2];
    float b[2][2];
};

void widen(bool bf16, unsigned pair, float (&to)[2]) {
    for (int i = 0; i < 2; ++i) {
        const auto bits = static_cast<std::uint16_t>(pair >> (16 * i));
        to[i] = bf16 ? from_bf16(bits) : from_fp16(bits);
    }
}

/// Adds to a lane's results the products of its two rows of A and its two columns of B, of which
/// each lane has some. Not instrumented, which would make it five times as long: all indices but
/// the lane's are constants.
[[gnu::no_sanitize("address", "undefined")]] void add_products(float* d,
                                                               const std::uint64_t* fragments,
                                                               int lane) {
    constexpr int kDepth = 16;
    float rows[2][kDepth], columns[2][kDepth];
    for (int k = 0; k < kDepth; ++k) {
        // Index of the lane, in its row or column, that has the pair.
        const int pair = k % 8 / 2;
        for (int half = 0; half < 2; ++half) {
            const std::uint64_t of_row = fragments[lane / 4 * 4 + pair];
            const std::uint64_t of_column = fragments[(lane % 4 * 2 + half) * 4 + pair];
            // NOLINTBEGIN(performance-no-int-to-ptr)
            rows[half][k] = reinterpret_cast<const Fragments*>(of_row)->a[half + k / 8 * 2][k % 2];
            columns[half][k] = reinterpret_cast<const Fragments*>(of_column)->b[k / 8][k % 2];
            // NOLINTEND(performance-no-int-to-ptr)
        }
    }
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < kDepth; ++k) d[i] += rows[i / 2][k] * columns[i % 2][k];
}

}  // namespace

void multiply(bool bf16, float* d, const unsigned* a, const unsigned* b) {
    Fragments mine;
    for (int i = 0; i < 4; ++i) widen(bf16, a[i], mine.a[i]);
    for (int i = 0; i < 2; ++i) widen(bf16, b[i], mine.b[i]);
    add_products(d, of_warp(reinterpret_cast<std::uintptr_t>(&mine)), thread % kWarp);
    the_block.meet(0);  // no fragments go away before all lanes have read them
}

}  // namespace emulation

void block_barrier() {
    emulation::the_block.wait_for_block();
}

unsigned warp_ballot(bool vote) {
    const std::uint64_t* const votes = emulation::of_warp(vote ? 1 : 0);
    unsigned all = 0;
    for (int lane = 0; lane < kWarp; ++lane)
        if (votes[lane] != 0) all |= 1U << lane;
    return all;
}

}  // namespace debubble::exec::cuda
