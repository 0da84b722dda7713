#include "exec/program/calibrate/device_sweep.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <random>

#include "exec/core/communicator/communicator.h"
#include "exec/core/pinned_pool.h"
#include "exec/program/calibrate/statistics.h"

namespace debubble::exec {

namespace {

constexpr int kRounds = 5;
constexpr int kMostRepeats = 100;
constexpr std::int64_t kMostCopied = std::int64_t{1} << 24;  ///< elements
constexpr double kTick = 1e-9;          ///< seconds, so that no copy is infinitely fast
constexpr std::int64_t kHidden = 1024;  ///< width of a norm's row
constexpr std::int64_t kHeads = 2;
constexpr std::int64_t kHeadDim = 128;
constexpr std::int64_t kBlock = 128;  ///< queries that a multiprocessor takes at a time
constexpr std::int64_t kWaves = 4;    ///< waves of blocks of attention

/// The median of several rounds; a call that takes long is a round of its own.
double seconds_of(Kernels& kernels, const SweepLimits& limits, const std::function<void()>& work) {
    const auto timed = [&](int repeats) {
        const Clock::time_point begin = Clock::now();
        for (int i = 0; i < repeats; ++i) work();
        kernels.finish();
        return std::chrono::duration<double>(Clock::now() - begin).count() / repeats;
    };
    timed(1);  // work that is done once: kernels are loaded, a library chooses
    const double first = timed(1);
    const double enough = std::chrono::duration<double>(limits.enough).count();
    if (first > enough) return first;
    const int repeats = std::clamp(static_cast<int>(enough / first), 1, kMostRepeats);
    std::vector<double> seconds(kRounds);
    std::ranges::generate(seconds, [&] { return timed(repeats); });
    return median(std::move(seconds));
}

/// The tensors of one shape of the sweep.
class Operands {
public:
    Operands(Kernels& kernels, Arena& arena) : kernels_(kernels), arena_(arena) {}

    TensorView empty(const Shape& shape, DataType type) {
        memory_.push_back(arena_.allocate(shape, type, MemoryClass::Workspace, "sweep"));
        return memory_.back().view();
    }
    /// Numbers in [-1, 1) that repeat after a while. A product of zeros would mislead, since it
    /// draws less power, which decides the clock.
    TensorView random(const Shape& shape, DataType type) {
        const TensorView whole = empty(shape, type);
        const std::int64_t elements = shape.elements();
        const std::int64_t piece = std::min<std::int64_t>(elements, std::int64_t{1} << 16);
        const Tensor some({piece});
        std::mt19937 random(1);
        std::uniform_real_distribution<float> value(-1, 1);
        for (float& x : some.as<float>()) x = value(random);
        const auto part = [&](std::int64_t first, std::int64_t count) {
            return TensorView{whole.data + first * size_of(type), {count}, type};
        };
        kernels_.upload(some.view(), part(0, piece));
        for (std::int64_t done = piece; done < elements; done *= 2) {
            const std::int64_t count = std::min(done, elements - done);
            kernels_.copy(part(0, count), part(done, count));
        }
        return whole;
    }

private:
    Kernels& kernels_;
    Arena& arena_;
    std::vector<ArenaTensor> memory_;
};

class Sweep {
public:
    Sweep(const DeviceFacts& facts, Kernels& kernels, Arena& arena, const SweepLimits& limits)
        : facts_(facts),
          kernels_(kernels),
          arena_(arena),
          limits_(limits),
          room_(facts.memory.count / facts.ranks / 2),
          narrow_(facts.bf16 ? DataType::Bf16 : DataType::Fp16) {}

    std::vector<KernelTiming> run() && {
        std::int64_t deepest = 0;
        for (std::int64_t k = 512; k <= limits_.deepest_product && goes_on(k > 1024); k *= 2)
            product(deepest = k, narrow_);
        product(deepest, DataType::Fp32);
        for (const bool backward : {false, true}) {
            last_ = 0;
            for (std::int64_t length = kBlock;
                 length <= limits_.longest_sequence && goes_on(length > 2 * kBlock); length *= 2)
                attention(length, backward);
        }
        last_ = 0;
        for (std::int64_t n = 4 * kHidden;
             n <= limits_.most_elements && 6 * n <= room_ && goes_on(true); n *= 4)
            elementwise(n);
        return std::move(timings_);
    }

private:
    /// Every kind has at least two shapes.
    bool goes_on(bool enough_shapes) const {
        return !enough_shapes || last_ < std::chrono::duration<double>(limits_.enough).count();
    }

    void add(models::Kernel kernel, const std::function<void()>& work) {
        last_ = seconds_of(kernels_, limits_, work);
        timings_.push_back({std::move(kernel), last_});
    }

    void product(std::int64_t k, DataType type) {
        const std::int64_t blocks = facts_.multiprocessors;
        auto down = static_cast<std::int64_t>(std::sqrt(static_cast<double>(blocks) / 2));
        for (down = std::max<std::int64_t>(down, 1); blocks % down != 0;) --down;
        const std::int64_t m = 256 * down, n = 128 * (blocks / down);
        Operands operands(kernels_, arena_);
        const TensorView x = operands.random({m, k}, type);
        const TensorView weight = operands.random({k, n}, type);
        const TensorView y = operands.empty({m, n}, type);
        models::Gemm gemm{1, m, n, k, {}, static_cast<int>(size_of(type))};
        add({"product", {}, gemm},
            [&] { kernels_.linear_forward(WeightLayout::InputsOutputs, x, weight, {}, y); });
    }

    void attention(std::int64_t length, bool backward) {
        const std::int64_t blocks_of_sample = kHeads * (length / kBlock);
        const std::int64_t samples =
            (kWaves * facts_.multiprocessors + blocks_of_sample - 1) / blocks_of_sample;
        const Shape shape{samples, length, kHeads, kHeadDim};
        const Attention how{true, 0, 1 / std::sqrt(static_cast<double>(kHeadDim)), {}};
        Operands operands(kernels_, arena_);
        const TensorView q = operands.random(shape, narrow_), k = operands.random(shape, narrow_);
        const TensorView v = operands.random(shape, narrow_), out = operands.empty(shape, narrow_);
        const TensorView log_sum = operands.empty({samples, kHeads, length}, DataType::Fp32);
        models::FlashAttention flash{samples, kHeads,   kHeads,
                                     length,  length,   kHeadDim,
                                     true,    backward, static_cast<int>(size_of(narrow_))};
        const auto forward = [&] { kernels_.attention_forward(how, q, k, v, out, log_sum); };
        if (!backward) return add({"attention", {}, flash}, forward);
        forward();
        const TensorView dout = operands.random(shape, narrow_);
        const TensorView dq = operands.empty(shape, narrow_), dk = operands.empty(shape, narrow_);
        const TensorView dv = operands.empty(shape, narrow_);
        kernels_.fill_zero(dk);
        kernels_.fill_zero(dv);
        add({"attention", {}, flash}, [&] {
            kernels_.attention_backward_input(how, dout, q, k, v, out, log_sum, dq, dk, dv);
        });
    }

    void elementwise(std::int64_t n) {
        const Shape shape{n / kHidden, kHidden};
        Operands operands(kernels_, arena_);
        const TensorView x = operands.random(shape, narrow_);
        const TensorView branch = operands.random(shape, narrow_);
        const TensorView y = operands.empty(shape, narrow_);
        const TensorView weight = operands.random({kHidden}, narrow_);
        const TensorView statistics = operands.empty({shape[0], 2}, DataType::Fp32);
        const Bytes bytes{x.bytes()};
        add({"sum", {}, models::Traffic{2 * bytes, bytes}},
            [&] { kernels_.residual_forward(x, branch, y); });
        add({"gelu", {}, models::Traffic{bytes, bytes}},
            [&] { kernels_.activation_forward(Nonlinearity::GeluTanh, x, y); });
        add({"norm", {}, models::Traffic{bytes, bytes}},
            [&] { kernels_.layer_norm_forward(1e-5, x, weight, weight, y, statistics); });
    }

    const DeviceFacts& facts_;
    Kernels& kernels_;
    Arena& arena_;
    const SweepLimits& limits_;
    std::int64_t room_;
    DataType narrow_;
    double last_ = 0;  ///< seconds of the last shape
    std::vector<KernelTiming> timings_;
};

}  // namespace

std::vector<KernelTiming> sweep_device(const DeviceFacts& facts, Kernels& kernels, Arena& arena,
                                       const SweepLimits& limits) {
    return Sweep(facts, kernels, arena, limits).run();
}

HostCopyRates host_copy_rates(DeviceLanes& lanes, Arena& arena, const SweepLimits& limits) {
    const std::int64_t elements = std::min<std::int64_t>(limits.most_elements, kMostCopied);
    const ArenaTensor tensor =
        arena.allocate({elements}, DataType::Fp32, MemoryClass::Workspace, "sweep");
    std::byte* const on_device = tensor.view().data;
    const Bytes size{4 * elements};
    PinnedPool pool(lanes);
    const PinnedPool::Block block = pool.take(size);
    std::ranges::fill_n(block.data(), size.count, std::byte{1});  // writes the pages
    const auto rate = [&](const std::byte* from, std::byte* to) {
        std::vector<double> seconds;
        for (int i = 0; i <= kRounds; ++i) {
            lanes.begin_step();
            const Mark begin = lanes.mark(kCopyLane);
            lanes.copy(kCopyLane, from, to, size);
            const Mark end = lanes.mark(kCopyLane);
            lanes.finish();
            const std::chrono::duration<double> took = lanes.time_of(end) - lanes.time_of(begin);
            if (i > 0) seconds.push_back(std::max(took.count(), kTick));
        }
        return BytesPerSecond{static_cast<double>(size.count) / median(std::move(seconds))};
    };
    const BytesPerSecond to_device = rate(block.data(), on_device);
    return {to_device, rate(on_device, block.data())};
}

}  // namespace debubble::exec
