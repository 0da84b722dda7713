#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/picture/document/track.h"

namespace debubble::picture {

/// The kinds of work in a lane of bars, from the bottom of a bar to its top.
enum class WorkKind : std::uint8_t {
    Exposed,  ///< communication that nothing hides
    Weight,
    Backward,
    Forward,  ///< recomputed ones too
    Optimizer,
};
inline constexpr std::size_t kWorkKinds = 5;

/// Nanoseconds by WorkKind.
using WorkArea = std::array<std::int64_t, kWorkKinds>;

/// The kinds of work of a bar, spread evenly over it: a part of its length is exposed, and the rest
/// belongs to one kind or half to each of two.
class BarWork {
public:
    BarWork() = default;
    /// Precondition: 0 <= exposed <= length.
    BarWork(Duration exposed, Duration length, WorkKind first, WorkKind second);

    /// Its kinds, which add up to the length.
    WorkArea of(Duration length) const;
    /// Adds the part of them that is done once this share of the length is over.
    void add_part(WorkArea& work, Duration length, double share) const;

private:
    /// Share of the length, of 2^32 - 1: a length of less than 4 s gives its nanoseconds back.
    std::uint32_t exposed_ = 0;
    WorkKind first_{};
    WorkKind second_{};
};

/// A lane's work summed from its start, so that the shares of the kinds in any window are the
/// difference of two look-ups, whatever the number of bars in it.
class WorkSums {
public:
    WorkSums() = default;
    WorkSums(WorkSums&&) = default;
    WorkSums& operator=(WorkSums&&) = default;
    /// `work` has one value per bar. The bars must outlive the sums.
    WorkSums(std::span<const Bar> bars, std::vector<BarWork> work);
    /// Adds what lies between the bars, which is exposed as a whole. Called once at most; these
    /// bars must outlive the sums too.
    void put_between(std::span<const Bar> between);

    std::int64_t all(WorkKind kind) const { return all_[static_cast<std::size_t>(kind)]; }
    WorkArea over(TimeRange window) const;

    /// A walk to the right: the instants asked for must not descend.
    class Walk {
    public:
        explicit Walk(const WorkSums& sums) : sums_(&sums) {}
        /// The work from the lane's start on.
        WorkArea until(Instant at);

    private:
        const WorkSums* sums_;
        std::size_t next_ = 0;  ///< the first bar that ends after the last instant asked for
        std::size_t next_between_ = 0;
    };

private:
    static constexpr std::size_t kBlock = 8;  ///< bars
    void add_bars(WorkArea& work, std::size_t next, Instant at) const;
    void add_between(WorkArea& work, std::size_t next, Instant at) const;

    std::span<const Bar> bars_;
    std::vector<BarWork> work_;  ///< by bar
    std::span<const Bar> between_;
    std::vector<WorkArea> before_;              ///< the work to the left of every kBlock bars
    std::vector<std::int64_t> between_before_;  ///< and of each of `between_`, which is exposed
    WorkArea all_{};
};

}  // namespace debubble::picture
