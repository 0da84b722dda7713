#include <algorithm>

#include <fmt/format.h>

#include "sim/report/traces/compare_report.h"
#include "text/wording.h"

namespace debubble::sim {
namespace {

constexpr std::array<int, kMemoryClasses> kClassColumns{11, 11, 11, 13, 9, 11};

/// A unit in which the shorter times of a table remain readable.
text::TimeUnit fine_unit(Duration longest) {
    constexpr double kShorter = 0.01;
    return text::unit_of(kShorter * seconds(longest));
}

/// The text of an error; from ten times on, as a factor.
std::string error_text(const std::optional<double>& error) {
    if (!error) return "-";
    return *error < 9 ? fmt::format("{:+.1f} %", 100 * *error)
                      : fmt::format("x {:.3g}", 1 + *error);
}

std::string points_text(double simulated, double executed) {
    return fmt::format("{:+.1f} pt", 100 * (simulated - executed));
}

class CompareText {
public:
    explicit CompareText(const CompareReport& report)
        : report_(report), c_(report.comparison), names_(names_of(report)) {
        if (of_a_kind()) short_ = {"1st", "2nd"};
    }

    std::string text() {
        what();
        step();
        idle();
        ranks();
        memory();
        errors("kind", c_.kinds);
        errors("stage", c_.stages);
        worst();
        order();
        return std::move(out_);
    }

private:
    template <class... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        std::string row = fmt::format(format, std::forward<Args>(args)...);
        row.erase(row.find_last_not_of(' ') + 1);
        out_ += text::shortened(row, text::kReportColumns) + '\n';
    }
    void paragraph(const std::string& words) {
        for (const std::string& part : text::wrapped(words, text::kReportColumns, 2))
            out_ += part + '\n';
    }

    void what() {
        const TraceHeader& run = report_.headers.executed;
        paragraph(fmt::format("{}: {} compared with {}, program {}", run.scenario, names_.simulated,
                              names_.executed, run.program_hash.substr(0, 12)));
        const auto named = [](const std::string& name, const std::string& file,
                              const TraceHeader& header) {
            const std::string source = header.source_name() == name || !header.source
                                           ? ""
                                           : fmt::format(" ({})", header.source_name());
            return fmt::format("  {}: {}{}", name, file, source);
        };
        paragraph(named(names_.simulated, report_.files.simulated, report_.headers.simulated));
        std::string executed = named(names_.executed, report_.files.executed, run);
        if (report_.steps > 1) executed += fmt::format(", the median of {} steps", report_.steps);
        if (!run.folded) executed += ", the replica of each rank that idles least";
        paragraph(executed);
        busy(names_.simulated, report_.busy.simulated);
        busy(names_.executed, report_.busy.executed);
        out_ += '\n';
    }

    void busy(const std::string& name, const std::string& sentence) {
        if (!sentence.empty()) paragraph(fmt::format("busy machine, {}: {}", name, sentence));
    }

    void step() {
        const StepFigures& a = c_.step.simulated;
        const StepFigures& b = c_.step.executed;
        const text::TimeUnit unit = text::unit_of(seconds(std::max(a.step_time, b.step_time)));
        line("{:<14}{:>14}{:>14}{:>14}{:>14}{:>14}", "", names_.simulated, "replayed",
             names_.executed, names_.simulated, "replayed");
        line("{:<14}{:>14}{:>14}{:>14}{:>14}{:>14}", "", "", "", "", "error", "error");
        const auto time = [&](const char* name, Duration StepFigures::*of) {
            const auto cell = [&](Duration d) { return text::time_text(seconds(d), unit); };
            const StepFigures* r = report_.replayed ? &*report_.replayed : nullptr;
            line("{:<14}{:>14}{:>14}{:>14}{:>14}{:>14}", name, cell(a.*of), r ? cell(r->*of) : "-",
                 cell(b.*of), error_text(relative_error({a.*of, b.*of})),
                 r ? error_text(relative_error({r->*of, b.*of})) : "-");
        };
        const auto share = [&](const char* name, double StepFigures::*of) {
            const StepFigures* r = report_.replayed ? &*report_.replayed : nullptr;
            line("{:<14}{:>14}{:>14}{:>14}{:>14}{:>14}", name, text::percent(a.*of),
                 r ? text::percent(r->*of) : "-", text::percent(b.*of), points_text(a.*of, b.*of),
                 r ? points_text(r->*of, b.*of) : "-");
        };
        time("step time", &StepFigures::step_time);
        time("makespan", &StepFigures::makespan);
        share("bubble", &StepFigures::bubble);
        share("span bubble", &StepFigures::span_bubble);
        if (report_.replayed)
            paragraph(fmt::format(
                "replayed: the program played with the {} durations. Its error is of order, "
                "overlap and gaps between actions; what the {} one has beyond it is of "
                "the prices.",
                names_.executed, names_.simulated));
        else
            paragraph("not replayed: " + report_.why_not_replayed);
        out_ += '\n';
    }

    void idle() {
        const auto& a = c_.step.simulated.idle_by_cause;
        const auto& b = c_.step.executed.idle_by_cause;
        const auto ranks = static_cast<double>(std::max<std::size_t>(1, c_.ranks.size()));
        const text::TimeUnit unit =
            text::unit_of(seconds(std::max(std::ranges::max(a), std::ranges::max(b))) / ranks);
        line("{:<20}{:>14}{:>14}{:>14}", "idle, mean per rank", names_.simulated, names_.executed,
             "error");
        for (std::size_t k = 0; k < kBubbleCauses; ++k) {
            if (a[k] == Duration{} && b[k] == Duration{}) continue;
            line("  {:<18}{:>14}{:>14}{:>14}", wording_of(static_cast<BubbleCause>(k)),
                 text::time_text(seconds(a[k]) / ranks, unit),
                 text::time_text(seconds(b[k]) / ranks, unit),
                 error_text(relative_error({a[k], b[k]})));
        }
        out_ += '\n';
    }

    void ranks() {
        Duration longest{};
        for (const RankComparison& rank : c_.ranks)
            longest = std::max({longest, rank.figures.simulated.busy, rank.figures.executed.busy});
        const text::TimeUnit unit = text::unit_of(seconds(longest));
        const auto cell = [&](Duration d) { return text::number_text(seconds(d), unit); };
        line("{:>4}{:>20}{:>9}{:>20}{:>20}{:>20}{:>7}", fmt::format("{}", text::name_of(unit)),
             "busy", "", "exposed", "optimizer", "idle", "place");
        line("{:>4}{:>10}{:>10}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>7}", "rank",
             short_.simulated, short_.executed, "error", short_.simulated, short_.executed,
             short_.simulated, short_.executed, short_.simulated, short_.executed,
             of_a_kind() ? "1. 2." : "s. e.");
        for (std::size_t i = 0; i < c_.ranks.size() && i < text::kTableRows; ++i) {
            const RankFigures& a = c_.ranks[i].figures.simulated;
            const RankFigures& b = c_.ranks[i].figures.executed;
            line("{:>4}{:>10}{:>10}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>7}",
                 c_.ranks[i].rank.index, cell(a.busy), cell(b.busy),
                 error_text(relative_error({a.busy, b.busy})), cell(a.exposed), cell(b.exposed),
                 cell(a.optimizer), cell(b.optimizer), cell(a.idle), cell(b.idle),
                 fmt::format("{:>2} {:>2}", a.place, b.place));
        }
        more(c_.ranks.size());
        line("place 1 is the busiest rank");
        out_ += '\n';
    }

    void memory() {
        const auto known = [](const RankComparison& rank) {
            return rank.figures.simulated.peak && rank.figures.executed.peak;
        };
        if (!std::ranges::any_of(c_.ranks, known)) return;
        line("{:>4}{:>20}{:>8}{:>66}", "", "peak GiB", "",
             fmt::format("of it, {} less {}, MiB", names_.simulated, names_.executed));
        std::string head = fmt::format("{:>4}{:>10}{:>10}{:>8}", "rank", short_.simulated,
                                       short_.executed, "error");
        for (std::size_t k = 0; k < kMemoryClasses; ++k)
            head += fmt::format("{:>{}}", name_of(static_cast<MemoryClass>(k)), kClassColumns[k]);
        line("{}", head);
        for (std::size_t i = 0; i < c_.ranks.size() && i < text::kTableRows; ++i) {
            if (!known(c_.ranks[i])) continue;
            const MemoryByClass& a = *c_.ranks[i].figures.simulated.peak;
            const MemoryByClass& b = *c_.ranks[i].figures.executed.peak;
            const auto error = total(b).count == 0
                                   ? std::nullopt
                                   : std::optional(gib(total(a)) / gib(total(b)) - 1);
            std::string row =
                fmt::format("{:>4}{:>10}{:>10}{:>8}", c_.ranks[i].rank.index,
                            text::gib_text(total(a)), text::gib_text(total(b)), error_text(error));
            for (std::size_t k = 0; k < kMemoryClasses; ++k)
                row += fmt::format("{:>+{}.1f}", 1024 * gib(a[k] - b[k]) + 0.0, kClassColumns[k]);
            line("{}", row);
        }
        more(c_.ranks.size());
        out_ += '\n';
    }

    void more(std::size_t rows) {
        if (rows > text::kTableRows)
            line("... {} more; --json has all of them", rows - text::kTableRows);
    }

    void errors(std::string_view of, const std::vector<ErrorRow>& rows) {
        if (rows.empty()) return;
        Duration longest{};
        for (const ErrorRow& row : rows)
            longest = std::max({longest, row.sum.simulated, row.sum.executed});
        const text::TimeUnit unit = fine_unit(longest);
        line("{:<16}{:>8}{:>16}{:>16}{:>14}{:>10}", of, "count", names_.simulated, names_.executed,
             "mean error", "bias");
        for (std::size_t i = 0; i < rows.size() && i < text::kTableRows; ++i) {
            const ErrorRow& row = rows[i];
            const auto mean = row.mean_error();
            line("{:<16}{:>8}{:>16}{:>16}{:>14}{:>10}", row.name, row.count,
                 text::time_text(seconds(row.sum.simulated), unit),
                 text::time_text(seconds(row.sum.executed), unit),
                 mean ? text::percent(*mean) : "-", error_text(row.bias()));
        }
        more(rows.size());
        out_ += '\n';
    }

    void worst() {
        if (c_.worst.empty()) return;
        Duration longest{};
        for (const ActionDifference& d : c_.worst)
            longest = std::max({longest, d.length.simulated, d.length.executed});
        const text::TimeUnit unit = text::unit_of(seconds(longest));
        line("{:<28}{:>4}{:>14}{:>14}{:>14}{:>12}", "greatest differences", "rank",
             names_.simulated, names_.executed, "difference", "error");
        for (const ActionDifference& d : c_.worst) {
            const double apart = seconds(d.length.simulated) - seconds(d.length.executed);
            line("{:<28}{:>4}{:>14}{:>14}{:>14}{:>12}", text::shortened(to_text(d.action), 27),
                 d.rank.index, text::time_text(seconds(d.length.simulated), unit),
                 text::time_text(seconds(d.length.executed), unit), text::time_text(apart, unit),
                 error_text(relative_error(d.length)));
        }
        out_ += '\n';
    }

    void order() {
        if (c_.unmatched.simulated + c_.unmatched.executed > 0)
            paragraph(fmt::format("{} actions are only in the {} trace, {} only in the {} one",
                                  c_.unmatched.simulated, names_.simulated, c_.unmatched.executed,
                                  names_.executed));
        if (!report_.order_checked)
            return paragraph("order: not checked, neither trace holds the program");
        if (report_.order.empty()) {
            std::size_t actions = 0;
            for (const ActionList& list : report_.program.ranks) actions += list.size();
            return paragraph(fmt::format(
                "order: {} is the program: {} actions on {} ranks, each stream in the order of its "
                "list, every dependency met",
                what_ran(), actions, report_.program.ranks.size()));
        }
        paragraph(fmt::format("order: {} is NOT the program:", what_ran()));
        for (const std::string& sentence : report_.order) paragraph("  " + sentence);
    }

    std::string what_ran() const { return of_a_kind() ? "the second trace" : "what was executed"; }
    bool of_a_kind() const { return names_.executed != "executed"; }

    const CompareReport& report_;
    const Comparison& c_;
    const Compared<std::string> names_;
    Compared<std::string> short_{"sim.", "exec."};
    std::string out_;
};

}  // namespace

std::string to_text(const CompareReport& report) {
    return CompareText(report).text();
}

}  // namespace debubble::sim
