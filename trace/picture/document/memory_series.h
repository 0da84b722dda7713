#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/picture/document/time_axis.h"
#include "trace/trace.h"

namespace debubble::picture {

/// The classes from the bottom of a lane of memory to its top: what lasts longest first.
inline constexpr std::array kStacked{MemoryClass::Parameters,  MemoryClass::Gradients,
                                     MemoryClass::Optimizer,   MemoryClass::Buffers,
                                     MemoryClass::Activations, MemoryClass::Workspace};
static_assert(kStacked.size() == kMemoryClasses);

/// The memory of one device over time: a step function, with its least and greatest value over any
/// window in logarithmic time.
class MemorySeries {
public:
    MemorySeries() = default;
    /// `samples` belong to one rank and are sorted by time.
    explicit MemorySeries(std::span<const MemorySample> samples);

    bool empty() const { return steps_.empty(); }
    Bytes held_at(Instant at) const;  ///< 0 before the first sample
    /// By class, to 24 binary digits, which a picture does not show.
    MemoryByClass held_by_class(Instant at) const;
    Bytes greatest() const;

    using ClassBytes = std::array<float, kMemoryClasses>;
    struct Extent {
        Bytes least;
        Bytes greatest;
        Bytes lasting;  ///< greatest of what outlives the step's actions: parameters, gradients,
                        ///< optimizer state, buffers
        ClassBytes by_class{};  ///< at the instant of the greatest value
    };
    /// The extent over a window that is not empty.
    Extent over(TimeRange window) const;

    /// A walk to the right: no window starts earlier than the one before.
    class Walk {
    public:
        explicit Walk(const MemorySeries& series) : series_(&series) {}
        Extent over(TimeRange window);

    private:
        const MemorySeries* series_;
        std::size_t next_ = 0;  ///< the first step after the window's start
    };

private:
    struct Step {
        Instant at;
        Bytes held;
        Bytes lasting;
        ClassBytes by_class{};
    };
    static Extent joined(const Extent& a, const Extent& b);
    /// The extent of the steps in force in a window; `next` is the first step after its start.
    Extent from(std::size_t next, Instant end) const;
    /// The first step from `first` on that is not before `at`; fast if it is near.
    std::size_t first_from(std::size_t first, Instant at) const;
    /// The extent of steps [first, last), which are not empty.
    Extent extent(std::size_t first, std::size_t last) const;

    std::vector<Step> steps_;
    /// Level k holds the extents of blocks of kFan^(k+1) steps.
    std::vector<std::vector<Extent>> levels_;
};

}  // namespace debubble::picture
