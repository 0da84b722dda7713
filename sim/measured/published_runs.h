#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/run_plan/run_figures.h"

/// The share of useful time that published trainings report, with its prediction. Rates of
/// failures, times to notice and to restart, and pauses of saves are inputs where a source states
/// them; the useful share never is.
namespace debubble::sim {

/// A stated share, or its range; up to 1 where the source says "more than".
struct StatedShare {
    double low = 0;
    double high = 1;
    /// Percentage points between the stated and the predicted share; 0 inside a range.
    double error_of(double predicted) const;
};

struct PublishedRun {
    std::string row;
    std::string source;
    std::string kind;    ///< "measured", "claim", "model", "derived"
    std::string inputs;  ///< inputs of the prediction, and their publishers
    std::string why;     ///< the reason of the difference
    RunJob job;
    int draws = 1;
    StatedShare stated;
    RunFigures predicted = {};
    double error() const { return stated.error_of(predicted.goodput()); }
};

/// True for a table of such rows, whose first row has a key `run`.
bool has_published_runs(const std::string& text);

/// Reads and predicts the rows of a table, one JSON object per line: `run` is {scenario, tokens,
/// reliability}, words all three, or {machines, gpus, work, step, reliability}, with `stops_every`
/// where stops were counted by the wall clock, of a job that does not stop while it is down. Throws
/// InputError with every bad line.
std::vector<PublishedRun> predict_published_runs(const std::string& text, const std::string& file);

/// The errors in percentage points, least first.
std::vector<double> sorted_errors(const std::vector<PublishedRun>& runs);
double median_error(const std::vector<PublishedRun>& runs);

/// A table of at most 100 columns, followed by the reasons.
std::string published_runs_text(const std::vector<PublishedRun>& runs);

}  // namespace debubble::sim
