#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/picture/document/time_axis.h"

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

/// A lane's work summed from its start, so that the shares of the kinds in any window are the
/// difference of two look-ups, whatever the number of bars in it.
class WorkSums {
public:
    /// A stretch of the lane with its work, whose kinds add up to its length and are spread evenly
    /// over it.
    struct Piece {
        TimeRange range;
        WorkArea work{};
    };

    WorkSums() = default;
    /// Precondition: the pieces ascend and do not overlap.
    explicit WorkSums(const std::vector<Piece>& pieces);

    std::int64_t all(WorkKind kind) const {
        return entries_.empty() ? 0 : entries_.back().before[static_cast<std::size_t>(kind)];
    }
    WorkArea over(TimeRange window) const;

    /// A walk to the right: the instants asked for must not descend.
    class Walk {
    public:
        explicit Walk(const WorkSums& sums) : sums_(&sums) {}
        /// The work from the lane's start on.
        WorkArea until(Instant at);

    private:
        const WorkSums* sums_;
        std::size_t next_ = 0;  ///< the first piece that ends after the last instant asked for
    };

private:
    struct Entry {
        Instant begin;
        Instant end;
        WorkArea before{};  ///< the work of all pieces to the left
    };
    WorkArea at_piece(std::size_t next, Instant at) const;

    std::vector<Entry> entries_;  ///< and one after the last piece
};

}  // namespace debubble::picture
