#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/run_plan/run_figures.h"

/// The share of time that published trainings say was useful, beside its prediction. Rates of
/// failures, times to notice and to restart, and pauses of saves are inputs where a source states
/// them; the useful share never is.
namespace debubble::sim {

/// What a source states: a share, or the range in which it lies; up to 1 where it says "more than".
struct StatedShare {
    double low = 0;
    double high = 1;
    /// Points between what was stated and what is predicted; 0 inside of a range.
    double error_of(double predicted) const;
};

struct PublishedRun {
    std::string row;
    std::string source;
    std::string kind;    ///< "measured", "claim", "model", "derived"
    std::string inputs;  ///< what the prediction was given, and by whom it was published
    std::string why;     ///< the reason of the difference
    RunJob job;
    int draws = 1;
    StatedShare stated;
    RunFigures predicted = {};
    double error() const { return stated.error_of(predicted.goodput()); }
};

/// True for a table of such rows: its first one has a key `run`.
bool has_published_runs(const std::string& text);

/// Reads and predicts the rows of a table, one JSON object per line: `run` is {scenario, tokens,
/// reliability}, words all three, or {machines, gpus, work, step, reliability}, and `stops_every`
/// there are stops that were counted by the wall clock, of a job that does not stop while it is
/// down. Throws InputError with every bad line.
std::vector<PublishedRun> predict_published_runs(const std::string& text, const std::string& file);

/// The errors in points, least first.
std::vector<double> sorted_errors(const std::vector<PublishedRun>& runs);
double median_error(const std::vector<PublishedRun>& runs);

/// A table of at most 100 columns, and the reasons below it.
std::string published_runs_text(const std::vector<PublishedRun>& runs);

}  // namespace debubble::sim
