#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/predict.h"
#include "trace/statistics.h"

/// The figures of a plan in words.
namespace debubble::gui {

/// "step -7.3 %, bubble 33.1 -> 17.0 %, peak 88.0 -> 80.1 GiB, fits". Equal plans: "no change".
std::string delta_line(const sim::Prediction& before, const sim::Prediction& now);

/// Of the rank that holds most.
Bytes worst_peak(const sim::Prediction& prediction);

/// A row of the summary. An empty value is a headline.
struct SummaryRow {
    std::string name;
    std::string value;
    bool bad = false;   ///< beyond the limit
    double share = -1;  ///< of the step, 0 to 1, drawn as a bar; below 0: none
};

std::vector<SummaryRow> summary_of(const sim::Prediction& prediction, const Statistics& statistics,
                                   std::optional<Bytes> limit);
/// A figure of two plans beside each other; an empty value where only the other has it.
struct BesideRow {
    std::string name;
    std::string a;
    std::string b;
    bool headline = false;
    bool differs() const { return a != b; }
};
/// In the order of A; what only B has stands where B has it.
std::vector<BesideRow> beside(const std::vector<SummaryRow>& a, const std::vector<SummaryRow>& b);

/// Of a trace that nobody predicted.
std::vector<SummaryRow> summary_of(const Trace& trace, const Statistics& statistics,
                                   std::optional<Bytes> limit);

}  // namespace debubble::gui
