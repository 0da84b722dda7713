#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/compare.h"

/// The result of `debubble compare`.
namespace debubble::sim {

struct CompareReport {
    Compared<std::string> files;
    Compared<TraceHeader> headers;
    Program program;  ///< without ranks if neither trace holds it
    int steps = 1;    ///< steps in the executed trace; the median one is compared
    Comparison comparison;
    std::optional<StepFigures> replayed;  ///< figures of the program with the executed durations
    std::string why_not_replayed;
    bool order_checked = false;      ///< the check needs the program
    std::vector<std::string> order;  ///< deviations of the executed order from the program
    /// For each trace whose ranks shared their cores with others, a sentence; else empty.
    Compared<std::string> busy;
};

/// The names of the two traces: "simulated" and "executed", or "first" and "second" if both are of
/// one kind.
Compared<std::string> names_of(const CompareReport& report);

/// The reason why the traces cannot be compared in this order, if there is one: the executed trace
/// is given first.
std::optional<std::string> swapped_reason(const Trace& simulated, const Trace& executed);

/// `files` names the traces. Precondition: why_not_comparable() returns nothing. Throws InputError
/// if the program in the traces is invalid.
CompareReport compare_report(const Trace& simulated, const Trace& executed,
                             const Compared<std::string>& files);

/// The comparison as a page of at most 100 columns.
std::string to_text(const CompareReport& report);
std::string to_json(const CompareReport& report);

}  // namespace debubble::sim
