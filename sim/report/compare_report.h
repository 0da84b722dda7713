#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/compare.h"

/// What `debubble compare` answers.
namespace debubble::sim {

struct CompareReport {
    Beside<std::string> files;
    Beside<TraceHeader> headers;
    Program program;  ///< without ranks if neither trace holds it
    int steps = 1;    ///< that the executed trace holds; the median one is compared
    Comparison comparison;
    std::optional<StepFigures> replayed;  ///< the program with the executed durations
    std::string why_not_replayed;
    bool order_checked = false;      ///< can only be with the program
    std::vector<std::string> order;  ///< what in the executed order is not the program's
};

/// What the two traces are called: "simulated" and "executed", or "first" and "second" if both say
/// that they are of one kind.
Beside<std::string> names_of(const CompareReport& report);

/// Why the traces cannot be compared in this order, if they cannot: the executed one stands first.
std::optional<std::string> swapped_reason(const Trace& simulated, const Trace& executed);

/// `files` names the traces. Precondition: why_not_comparable() has nothing to say.
/// Throws InputError if the program in the traces is invalid.
CompareReport compare_report(const Trace& simulated, const Trace& executed,
                             const Beside<std::string>& files);

/// A page of at most 100 columns.
std::string to_text(const CompareReport& report);
std::string to_json(const CompareReport& report);

}  // namespace debubble::sim
