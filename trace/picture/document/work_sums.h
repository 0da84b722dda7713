#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "trace/picture/document/track.h"

namespace debubble::picture {

/// The kinds of work in a lane of bars, from the bottom of a bar to its top.
enum class WorkKind : std::uint8_t {
    Exposed,  ///< exposed communication
    Weight,
    Backward,
    Forward,  ///< including recomputed ones
    Optimizer,
};
inline constexpr std::size_t kWorkKinds = 5;

/// Nanoseconds of each kind.
using WorkArea = ArrayBy<WorkKind, std::int64_t, kWorkKinds>;

/// The kinds of work of a bar, spread evenly over it: an exposed part, and the rest of one kind or
/// half of each of two.
class BarWork {
public:
    BarWork() = default;
    /// Precondition: 0 <= exposed <= length.
    BarWork(Duration exposed, Duration length, WorkKind first, WorkKind second);

    /// The time of each kind. The times add up to the length.
    WorkArea of(Duration length) const;
    /// Adds the work in the first `share` of the length.
    void add_part(WorkArea& work, Duration length, double share) const;

private:
    /// Share of the length, as a fraction of 2^32 - 1, which is exact to the nanosecond for lengths
    /// below 4 s.
    std::uint32_t exposed_ = 0;
    WorkKind first_{};
    WorkKind second_{};
};

/// The prefix sums of a lane's work. The shares of the kinds in any window are the difference of
/// two look-ups, for any number of bars.
class WorkSums {
public:
    WorkSums() = default;
    WorkSums(WorkSums&&) = default;
    WorkSums& operator=(WorkSums&&) = default;
    /// `work` has one value per bar. The bars must outlive the sums.
    WorkSums(std::span<const Bar> bars, std::vector<BarWork> work);
    /// Adds the communication between the bars, all of it exposed. Called once at most; these bars
    /// must outlive the sums too.
    void put_between(std::span<const Bar> between);

    std::int64_t all(WorkKind kind) const { return all_[kind]; }
    WorkArea over(TimeRange window) const;

    /// A walk to the right. Precondition: the instants do not descend.
    class Walk {
    public:
        explicit Walk(const WorkSums& sums) : sums_(&sums) {}
        /// The work from the lane's start on.
        WorkArea until(Instant at);

    private:
        const WorkSums* sums_;
        std::size_t next_ = 0;    ///< the first bar that ends after the last instant
        std::size_t summed_ = 0;  ///< bars whose work is in before_
        WorkArea before_{};
        std::size_t next_between_ = 0;
    };

private:
    static constexpr std::size_t kBlock = 8;  ///< bars
    void add_start(WorkArea& work, std::size_t bar, Instant at) const;
    void add_between(WorkArea& work, std::size_t next, Instant at) const;

    std::span<const Bar> bars_;
    std::vector<BarWork> work_;  ///< by bar
    std::span<const Bar> between_;
    std::vector<WorkArea> before_;              ///< the work to the left of every kBlock bars
    std::vector<std::int64_t> between_before_;  ///< exposed work before each of `between_`
    WorkArea all_{};
};

}  // namespace debubble::picture
