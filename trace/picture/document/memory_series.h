#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/picture/document/time_axis.h"
#include "trace/trace.h"

namespace debubble::picture {

/// The classes from the bottom of a memory lane to its top, the longest-lived first.
inline constexpr std::array kStacked{MemoryClass::Parameters,  MemoryClass::Gradients,
                                     MemoryClass::Optimizer,   MemoryClass::Buffers,
                                     MemoryClass::Activations, MemoryClass::Workspace};
static_assert(kStacked.size() == kMemoryClasses);

/// The memory of one device over time: a step function, with its least and greatest value over any
/// window in logarithmic time. Its steps are the samples; sums over all classes are kept for every
/// few of them.
class MemorySeries {
public:
    MemorySeries() = default;
    /// Precondition: `samples` belong to one rank, are sorted by time and outlive the series.
    explicit MemorySeries(std::span<const MemorySample> samples);

    bool empty() const { return samples_.empty(); }
    Bytes held_at(Instant at) const;  ///< 0 before the first sample
    /// By class, to 24 binary digits, which is more than a picture shows.
    MemoryByClass held_by_class(Instant at) const;
    Bytes greatest() const;

    using ClassBytes = ArrayBy<MemoryClass, float, kMemoryClasses>;
    struct Extent {
        Bytes least;
        Bytes greatest;
        Bytes lasting;          ///< greatest memory that outlives the step's actions: parameters,
                                ///< gradients, optimizer state, buffers
        ClassBytes by_class{};  ///< at the instant of the greatest value
    };
    /// The extent over a window that is not empty.
    Extent over(TimeRange window) const;

private:
    static constexpr std::size_t kFan = 8;
    /// The memory from an instant until the next step. Changes at one instant are one step.
    struct Step {
        Instant at;
        Bytes held;
        Bytes lasting;
        ClassBytes by_class{};
    };
    /// The steps, computed from their samples block by block. The last two blocks are kept: those
    /// at both ends of a window.
    class Steps {
    public:
        explicit Steps(const MemorySeries& series) : series_(&series) {}
        const Step& operator[](std::size_t step);

    private:
        struct Read {
            std::size_t block = SIZE_MAX;
            std::array<Step, kFan> steps;
        };
        const MemorySeries* series_;
        std::array<Read, 2> read_;
        std::size_t latest_ = 0;  ///< index in read_ of the block that was used last
    };

public:
    /// A walk to the right. Precondition: no window starts before the previous one.
    class Walk {
    public:
        explicit Walk(const MemorySeries& series) : series_(&series), steps_(series) {}
        Extent over(TimeRange window);

    private:
        const MemorySeries* series_;
        Steps steps_;
        std::size_t next_ = 0;  ///< the first step after the window's start
    };

private:
    /// kFan steps; the last block may have fewer.
    struct Block {
        std::uint32_t first = 0;  ///< its first sample
        MemoryByClass before;     ///< memory before it
    };
    static Extent joined(const Extent& a, const Extent& b);
    static Extent extent_of(const Step& step);
    std::size_t read(std::size_t block, std::span<Step, kFan> steps) const;
    /// The extent of the steps in force in a window; `next` is the first step after its start.
    Extent from(Steps& steps, std::size_t next, Instant end) const;
    /// The first step from `first` on at `at` or later; fast if it is near.
    std::size_t first_from(Steps& steps, std::size_t first, Instant at) const;
    /// The extent of steps [first, last). Precondition: first < last.
    Extent extent(Steps& steps, std::size_t first, std::size_t last) const;
    /// The step in force at an instant; nothing before the first one.
    std::optional<Step> step_at(Instant at) const;

    std::span<const MemorySample> samples_;
    std::size_t count_ = 0;  ///< steps
    std::vector<Block> blocks_;
    /// Level k holds the extents of blocks of kFan^(k+1) steps.
    std::vector<std::vector<Extent>> levels_;
};

}  // namespace debubble::picture
