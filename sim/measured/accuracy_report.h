#pragma once

#include <string>
#include <vector>

#include "sim/measured/compare_measured.h"

/// Errors of predictions over many rows of measurements, in words, as JSON and as a picture. Errors
/// are shares here and in percent in the outputs.
namespace debubble::sim {

/// A summary of absolute relative errors, except for the bias, which keeps the sign. Shares.
struct ErrorSummary {
    std::size_t rows = 0;
    double mean = 0;
    double median = 0;
    double worst = 0;
    double bias = 0;
};
/// All zero without any error.
ErrorSummary summarize(std::vector<double> relative_errors);

/// The errors of some rows: those of times, of both null models, and of memory.
struct AccuracySummary {
    std::size_t rows = 0;
    std::size_t said = 0;         ///< rows that debubble can predict
    std::size_t time_rows = 0;    ///< rows whose step was measured
    std::size_t memory_rows = 0;  ///< rows whose peak was measured and whose kind is stated
    ErrorSummary time;
    ErrorSummary null_model;
    ErrorSummary null_of_others;
    ErrorSummary memory;
    ErrorSummary held;         ///< of the memory held between two steps
    ErrorSummary activations;  ///< of the memory that the forward adds to it
};
AccuracySummary summarize(const std::vector<const MeasuredComparison*>& rows);

/// Rows that have one value of a key.
struct AccuracyOf {
    std::string value;
    AccuracySummary summary;
};
/// By the values of a dotted key of the scenario ("parallel.tensor"), or of `table` or `gpu`, in
/// order of appearance.
std::vector<AccuracyOf> accuracy_by(const std::vector<MeasuredComparison>& rows,
                                    const std::string& key);

/// One job that was measured with several partitions: rows equal in model, cluster, GPUs, batch,
/// sequence, precision, and the framework and its release.
struct CutGroup {
    std::vector<const MeasuredComparison*> rows;
    const MeasuredComparison* chosen = nullptr;  ///< the row with the fastest prediction
    const MeasuredComparison* best = nullptr;    ///< the row with the fastest measurement
    /// How much slower the chosen partition was measured than the best.
    double regret() const { return chosen->time->measured / best->time->measured - 1; }
};
std::vector<CutGroup> cut_groups(const std::vector<MeasuredComparison>& rows);

struct AccuracyReport {
    std::vector<std::string> tables;
    std::vector<MeasuredComparison> rows;
    std::vector<std::string> by;  ///< keys by whose values the errors are listed, too
};

std::string to_text(const AccuracyReport& report);
std::string to_json(const AccuracyReport& report);

/// Predicted over measured times as a self-contained picture: a mark per row on logarithmic axes,
/// coloured by table, which names its row on hover; the diagonal of no error, and the band of 10 %.
/// Steps and collectives have a panel each, where there are any.
std::string to_svg(const AccuracyReport& report);

}  // namespace debubble::sim
