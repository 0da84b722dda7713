#include "sim/memory/pass_memory.h"

#include <span>
#include <vector>

namespace debubble::sim {
namespace {

using models::Step;

MemoryByClass plus(const MemoryByClass& a, const MemoryByClass& b, std::int64_t times = 1) {
    MemoryByClass sum = a;
    for (std::size_t c = 0; c < kMemoryClasses; ++c) sum[c] += times * b[c];
    return sum;
}

/// A run of steps: its change, and the peak in it above its start.
struct Segment {
    MemoryByClass change{};
    MemoryByClass peak{};
    MemoryByClass unsharded{};  ///< part of the peak that is gathered or not reduced yet
    Bytes peak_sum;
    std::size_t peak_step = 0;  ///< 0 and no bytes if it only frees
};

Segment play_segment(const models::StageGraph& graph, const std::vector<Bytes>* sizes,
                     std::span<const Step> steps, std::size_t begin, std::size_t end, bool again,
                     const HeldAtSteps& other) {
    Segment segment;
    Bytes sum;
    for (std::size_t i = begin; i < end; ++i) {
        const Step::Kind kind = steps[i].kind;
        if (kind != Step::Kind::Run) {
            const models::Tensor& tensor = graph.tensors[steps[i].index];
            const Bytes bytes = sizes != nullptr ? (*sizes)[steps[i].index] : tensor.bytes;
            const Bytes change = kind == Step::Kind::Allocate
                                     ? added_by(graph, tensor, bytes, again)
                                     : Bytes{-bytes.count};
            segment.change[tensor.held_as] += change;
            sum += change;
        }
        if (kind == Step::Kind::Free)
            continue;  // memory of the next place; the step belongs to the next kernel
        const MemoryByClass& more = other.at(i);
        if (sum + total(more) <= segment.peak_sum) continue;
        segment.peak_sum = sum + total(more);
        segment.peak = plus(segment.change, more);
        segment.unsharded = more;
        segment.peak_step = i;
    }
    return segment;
}

/// The folded layer's steps: from after the last kernel of the layer that runs before it to after
/// its own last kernel. The memory that a layer frees at its end thus counts to the next one, for
/// each layer alike.
struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
};
Range range_of(const models::PassSteps& pass, int layer) {
    Range range;
    bool seen = false;
    for (std::size_t i = 0; i < pass.steps.size(); ++i) {
        if (pass.steps[i].kind != Step::Kind::Run) continue;
        if (pass.kernels[pass.steps[i].index].layer == layer) {
            seen = true;
            range.end = i + 1;
        } else if (!seen) {
            range.begin = i + 1;
        }
    }
    return seen ? range : Range{};
}

std::string op_for(const models::PassSteps& pass, std::size_t step) {
    for (std::size_t i = step; i < pass.steps.size(); ++i)
        if (pass.steps[i].kind == Step::Kind::Run) return pass.kernels[pass.steps[i].index].name;
    return {};
}

}  // namespace

PassMemory play(const models::StageGraph& graph, const models::PassSteps& pass, LayerFold fold,
                bool again, const HeldByPlace& held, const std::vector<Bytes>* bytes) {
    const HeldAtSteps other(pass, held);
    const Range folded = fold.times > 1 ? range_of(pass, fold.layer) : Range{};
    PassMemory memory;
    MemoryByClass level{};
    const auto raise = [&](const MemoryByClass& base, const Segment& segment) {
        const Bytes sum = total(base) + segment.peak_sum;
        if (segment.peak_sum.count <= 0 || sum <= memory.peak_above) return;
        memory.peak_above = sum;
        memory.at_peak = plus(base, segment.peak);
        memory.unsharded = segment.unsharded;
        memory.op_at_peak = op_for(pass, segment.peak_step);
    };
    const auto run = [&](std::size_t begin, std::size_t end, int times) {
        const Segment segment = play_segment(graph, bytes, pass.steps, begin, end, again, other);
        raise(level, segment);
        raise(plus(level, segment.change, times - 1), segment);
        level = plus(level, segment.change, times);
    };
    run(0, folded.begin, 1);
    if (folded.end > folded.begin) run(folded.begin, folded.end, fold.times);
    run(folded.end, pass.steps.size(), 1);
    memory.held_after = total(level);
    return memory;
}

Bytes added_by(const models::StageGraph& graph, const models::Tensor& tensor, Bytes bytes,
               bool again) {
    const models::Execution& how = graph.execution;
    switch (tensor.slices) {
        case models::Across::None: return bytes;
        case models::Across::Seen: return again ? Bytes{} : bytes;
        case models::Across::Summed: break;
    }
    return how.slice + 1 == how.slices ? how.slices * bytes : Bytes{};
}

namespace {

/// The part that both passes of an overlap have gathered, which is there once.
const MemoryByClass& unsharded_by_both(const PassMemory& first, const PassMemory& second) {
    return total(first.unsharded) < total(second.unsharded) ? first.unsharded : second.unsharded;
}

}  // namespace

Bytes peak_at_once(const PassMemory& first, const PassMemory& second) {
    return first.peak_above + second.peak_above - total(unsharded_by_both(first, second));
}

PassMemory at_once(const PassMemory& first, const PassMemory& second) {
    const MemoryByClass& less = unsharded_by_both(first, second);
    PassMemory both;
    both.held_after = first.held_after + second.held_after;
    both.peak_above = peak_at_once(first, second);
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        both.at_peak[c] = first.at_peak[c] + second.at_peak[c] - less[c];
    both.op_at_peak = first.peak_above > second.peak_above ? first.op_at_peak : second.op_at_peak;
    return both;
}

}  // namespace debubble::sim
