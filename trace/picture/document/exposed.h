#pragma once

#include <string>

#include "trace/picture/document/document.h"

/// The exposed communication of a whole document.
namespace debubble::picture {

/// Sums over all ranks with statistics.
struct ExposedSums {
    Duration exposed{};
    DurationByKind by_kind{};  ///< known parts of `exposed`
    double whole_s = 0;        ///< length of the step, summed over the ranks
};
ExposedSums exposed_sums(const TimelineDocument& document);

/// The parts of exposed communication as shares of `whole_s`, the greatest first: "EP 40.2 %, TP
/// 8.6 %"; empty if not known.
std::string shares_by_kind(const DurationByKind& parts, double whole_s);

}  // namespace debubble::picture
