#include <map>

#include <fmt/format.h>

#include "sim/measured/accuracy_report.h"
#include "text/wording.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kRowColumns = 48;

std::vector<const MeasuredComparison*> all_of(const AccuracyReport& report) {
    std::vector<const MeasuredComparison*> rows;
    for (const MeasuredComparison& row : report.rows) rows.push_back(&row);
    return rows;
}

/// Seconds; with enough digits for a microsecond.
std::string time_cell(double s) {
    return fmt::format("{:.{}f}", s, s < 0.1 ? 6 : 3);
}

std::string row_line(const MeasuredComparison& row) {
    const auto error = [](double share) { return fmt::format("{:>+7.1f}%", 100 * share); };
    std::string line =
        fmt::format("{:<{}}", text::shortened(row.step.row, kRowColumns), kRowColumns);
    if (row.time) {
        line += fmt::format(" {:>10} {:>10} {} {}", time_cell(row.time->measured),
                            time_cell(row.time->predicted), error(row.time->error()),
                            error(row.null_s / row.time->measured - 1));
    } else {
        line += fmt::format(" {:>10} {:>10} {:>8} {:>8}", "-", "-", "-", "-");
    }
    if (row.memory)
        line += fmt::format(" {:>8.2f} {}", row.memory->measured, error(row.memory->error()));
    return line + '\n';
}

std::string summary_line(const ErrorSummary& errors) {
    return fmt::format("mean {:.2f} %, median {:.2f} %, worst {:.1f} %, bias {:+.2f} %",
                       100 * errors.mean, 100 * errors.median, 100 * errors.worst,
                       100 * errors.bias);
}

/// The reasons why rows are not predicted, each with the number of its rows and without the list of
/// known words.
std::string unsaid_lines(const AccuracyReport& report) {
    std::map<std::string, int> reasons;
    for (const MeasuredComparison& row : report.rows)
        if (row.unsaid) ++reasons[row.unsaid->substr(0, row.unsaid->find("; known: "))];
    std::string lines;
    for (const auto& [reason, count] : reasons)
        lines += fmt::format("not predicted, {}: {}\n",
                             count == 1 ? std::string("one row") : fmt::format("{} rows", count),
                             reason);
    return lines;
}

std::string by_lines(const AccuracyReport& report, const std::string& key) {
    std::string lines = fmt::format("\n{:<34} {:>5} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}\n", key,
                                    "rows", "said", "mean", "median", "bias", "null", "memory");
    for (const AccuracyOf& part : accuracy_by(report.rows, key)) {
        const AccuracySummary& s = part.summary;
        lines += fmt::format(
            "{:<34} {:>5} {:>5} {:>7.2f}% {:>7.2f}% {:>+7.2f}% {:>7.2f}% {:>8}\n",
            text::shortened(part.value, 34), s.rows, s.said, 100 * s.time.mean, 100 * s.time.median,
            100 * s.time.bias, 100 * s.null_model.mean,
            s.memory.rows == 0 ? std::string("-") : fmt::format("{:.2f}%", 100 * s.memory.mean));
    }
    return lines;
}

std::string regret_lines(const AccuracyReport& report) {
    const std::vector<CutGroup> groups = cut_groups(report.rows);
    if (groups.empty()) return {};
    std::vector<double> regrets;
    for (const CutGroup& group : groups) regrets.push_back(group.regret());
    const ErrorSummary regret = summarize(std::move(regrets));
    return fmt::format(
        "regret of the cut that is predicted fastest: {} jobs, mean {:.2f} %, worst "
        "{:.1f} %\n",
        groups.size(), 100 * regret.mean, 100 * regret.worst);
}

}  // namespace

std::string to_text(const AccuracyReport& report) {
    std::string text =
        fmt::format("{:<{}} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8}\n", "row", kRowColumns,
                    "measured s", "predicted", "error", "null", "GiB", "error");
    for (const MeasuredComparison& row : report.rows)
        if (row.time || row.memory) text += row_line(row);
    text += unsaid_lines(report);
    const AccuracySummary all = summarize(all_of(report));
    text += fmt::format("{} of {} rows are predicted\n", all.said, all.rows);
    if (all.time.rows > 0) {
        text += fmt::format("time, {} rows: {}\n", all.time.rows, summary_line(all.time));
        text += fmt::format("null model, one rate per GPU for these rows: {}\n",
                            summary_line(all.null_model));
    }
    if (all.null_of_others.rows > 0)
        text += fmt::format("null model, that of the other rows of its GPU: {}\n",
                            summary_line(all.null_of_others));
    const auto memory = [&](const char* what, const ErrorSummary& errors) {
        if (errors.rows > 0)
            text += fmt::format("{}, {} rows: {}\n", what, errors.rows, summary_line(errors));
    };
    memory("peak memory", all.memory);
    memory("memory held between steps", all.held);
    memory("activations", all.activations);
    text += regret_lines(report);
    for (const std::string& key : report.by) text += by_lines(report, key);
    return text;
}

}  // namespace debubble::sim
