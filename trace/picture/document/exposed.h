#pragma once

#include <string>

#include "trace/picture/document/document.h"

/// The exposed communication of a whole document.
namespace debubble::picture {

/// Sums over all ranks, which statistics are of.
struct ExposedSums {
    Duration exposed{};
    DurationByKind by_kind{};  ///< as far as it is known
    double whole_s = 0;        ///< the step of all ranks
};
ExposedSums exposed_sums(const TimelineDocument& document);

/// The parts of exposed communication in words, the greatest first, as shares of `whole_s`: "EP
/// 40.2 %, TP 8.6 %"; empty where nobody knows them.
std::string shares_by_kind(const DurationByKind& parts, double whole_s);

}  // namespace debubble::picture
