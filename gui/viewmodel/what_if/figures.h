#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/network/architecture.h"
#include "sim/predict.h"
#include "trace/statistics.h"

/// The figures of a plan in words.
namespace debubble::gui {

/// The change from one plan to another, such as "step -7.3 %, bubble 33.1 -> 17.0 %, peak 88.0 ->
/// 80.1 GiB, fits". For equal plans it is "no change".
std::string delta_line(const sim::Prediction& before, const sim::Prediction& now);

/// The greatest memory peak of all ranks.
Bytes worst_peak(const sim::Prediction& prediction);

/// A row of the summary. An empty value is a headline.
struct SummaryRow {
    std::string name;
    std::string value;
    bool bad = false;                  ///< whether it exceeds the limit
    std::optional<double> share = {};  ///< share of the step, 0 to 1, drawn as a bar
    std::string more = {};             ///< the value with where it comes from, for who asks
};

/// The network of a plan: its parameters, those of one token, and its kinds of layers.
std::vector<SummaryRow> network_rows(const models::Architecture& architecture);
/// The summary of a plan. `exposed` has the purposes of all ranks' exposed communication, if known.
std::vector<SummaryRow> summary_of(const sim::Prediction& prediction, const Statistics& statistics,
                                   std::optional<Bytes> limit, const DurationByKind& exposed = {});
/// A figure of two plans; a value is empty if only the other plan has the figure.
struct ComparedRow {
    std::string name;
    std::string a;
    std::string b;
    bool headline = false;
    bool differs() const { return a != b; }
};
/// The figures of two plans in the order of A; figures of B alone keep their position in B.
std::vector<ComparedRow> compared(const std::vector<SummaryRow>& a,
                                  const std::vector<SummaryRow>& b);

/// The figures of a trace that was not predicted.
std::vector<SummaryRow> summary_of(const Trace& trace, const Statistics& statistics,
                                   std::optional<Bytes> limit, const DurationByKind& exposed = {});

}  // namespace debubble::gui
