#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schedule/costs.h"
#include "schedule/replay/replay.h"
#include "schedule/schedule.h"

/// The plain numbers of `--costs`, counted exactly. Times inside are whole nanoseconds, so the unit
/// is chosen such that every cost, and its share for one sequence slice, is a whole number: a third
/// stays a third, and a makespan of 24 units is printed as 24.
namespace debubble::sim {

/// A fraction written as "3", "0.25" or "1/3"; not negative. Precondition of the type: denominator
/// > 0.
struct Fraction {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
};

class CostUnits {
public:
    /// `costs` is F,I,W,C of one stage's op (B = I + W, C per link); `overlap` is the cost of an
    /// Overlap, if it differs from the sum. Throws InputError.
    CostUnits(std::string_view costs, std::optional<std::string_view> overlap,
              const PipelineShape& shape);

    const PipelineCosts& costs() const { return costs_; }
    double in_units(Duration duration) const;

private:
    PipelineCosts costs_;
    double nanoseconds_per_unit_ = 1;
};

/// The replayed order as an SVG picture, in which a unit of cost is one millisecond. Precondition:
/// the schedule has computes only. Throws InputError for more ranks than a picture shows.
std::string picture_of(const Schedule& schedule, const Replay& replay, const CostUnits& units);

}  // namespace debubble::sim
