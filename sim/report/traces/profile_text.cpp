#include <algorithm>

#include <fmt/format.h>

#include "sim/report/traces/profile_report.h"
#include "text/wording.h"
#include "trace/steps.h"

namespace debubble::sim {
namespace {

using profile::Evidence;
using profile::KernelClass;
using profile::kKernelClasses;
using profile::RankFacts;

class ProfileText {
public:
    explicit ProfileText(const ProfileReport& report) : report_(report), run_(report.run) {}

    std::string text() {
        headline();
        if (!report_.step.spans.empty()) {
            figures();
            ranks();
            idle();
            memory();
        }
        exchanges();
        devices();
        kernels();
        what_if();
        notes();
        beside();
        return std::move(out_);
    }

private:
    template <class... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        std::string row = fmt::format(format, std::forward<Args>(args)...);
        row.erase(row.find_last_not_of(' ') + 1);
        out_ += text::shortened(row, text::kReportColumns) + '\n';
    }
    void paragraph(const std::string& words, std::size_t indent = 2) {
        for (const std::string& part : text::wrapped(words, text::kReportColumns, indent))
            out_ += part + '\n';
    }

    void headline() {
        const RankFacts& first = run_.ranks.front();
        std::string what = fmt::format("{}: {} rank{}", first.format, run_.ranks.size(),
                                       run_.ranks.size() == 1 ? "" : "s");
        if (!first.device.empty()) what += fmt::format(" on {}", first.device);
        std::uint64_t events = 0;
        for (const RankFacts& rank : run_.ranks) events += rank.events;
        paragraph(fmt::format("{}, {} events", what, events));
        paragraph("  " + evidence_words(run_));
        if (run_.ranks.size() > 1 && !report_.step.spans.empty()) clocks();
        out_ += '\n';
    }

    void clocks() {
        if (run_.clocks.shared)
            return paragraph("  clocks: as they are; no message arrives before it is sent");
        std::string words;
        for (const RankFacts& rank : run_.ranks)
            words += fmt::format("{}{:+.1f}", words.empty() ? "" : ", ",
                                 static_cast<double>(rank.clock_ahead) / 1e3);
        paragraph(
            fmt::format("  clocks: {} us ahead of the first, by both ends of {} messages and "
                        "norms, of which 95 % then lie within {}",
                        words, run_.clocks.matched, text::time_text(run_.clocks.error)));
        if (run_.clocks.drift) drift();
    }

    void drift() {
        std::string words;
        for (const RankFacts& rank : run_.ranks)
            words += fmt::format("{}{:+.2f}", words.empty() ? "" : ", ", 1e6 * rank.clock_drift);
        paragraph(
            fmt::format("  they drift: {} us a second from the first, and are moved by that "
                        "too",
                        words));
    }

    void figures() {
        const Statistics& s = report_.statistics;
        const Duration step = report_.step.header.step_time.value_or(s.step);
        line("  {:<12}{:<22}{}", "step time", text::time_text(seconds(step)),
             report_.steps > 1 ? fmt::format("the median of {} steps", report_.steps) : "one step");
        line("  {:<12}{:<22}{:<26}{}", "bubble", text::percent(s.bubble),
             fmt::format("span bubble {}", text::percent(s.span_bubble)),
             fmt::format("makespan {}", text::time_text(seconds(s.makespan))));
        out_ += '\n';
    }

    void ranks() {
        const text::TimeUnit unit = text::unit_of(seconds(report_.statistics.step));
        const auto cell = [&](Duration d) { return text::number_text(seconds(d), unit); };
        line("{:>4}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}", text::name_of(unit), "busy", "exposed",
             "optimizer", "idle", "span bubble", "global rank");
        for (std::size_t i = 0; i < report_.statistics.ranks.size() && i < text::kTableRows; ++i) {
            const RankStatistics& r = report_.statistics.ranks[i];
            line("{:>4}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}", r.rank.index, cell(r.busy),
                 cell(r.exposed), cell(r.optimizer), cell(r.idle), text::percent(r.span_bubble),
                 global_rank(r));
        }
        more(report_.statistics.ranks.size());
        out_ += '\n';
    }

    std::string global_rank(const RankStatistics& of) const {
        for (const RankFacts& rank : run_.ranks)
            if (rank.rank == of.rank && rank.replica == of.replica)
                return fmt::format("{}", rank.global_rank);
        return "-";
    }

    void more(std::size_t rows) {
        if (rows > text::kTableRows)
            line("... {} more; --json has all of them", rows - text::kTableRows);
    }

    void idle() {
        const auto causes = idle_by_cause(report_.statistics);
        const auto count = static_cast<double>(report_.statistics.ranks.size());
        const text::TimeUnit unit = text::unit_of(seconds(std::ranges::max(causes)) / count);
        line("idle, mean per rank");
        for (std::size_t c = 0; c < kBubbleCauses; ++c)
            if (causes[c] > Duration{})
                line("  {:<22}{:>14}", wording_of(static_cast<BubbleCause>(c)),
                     text::time_text(seconds(causes[c]) / count, unit));
        out_ += '\n';
    }

    void memory() {
        const std::vector<RankMemory> ranks = memory_of_ranks(run_.trace);
        if (ranks.empty()) return;
        line("memory over the whole trace, from its first action");
        line("{:>4}{:>14}{:>16}  {}", "rank", "peak", "reached at", "during");
        for (std::size_t i = 0; i < ranks.size() && i < text::kTableRows; ++i) {
            const RankMemory& r = ranks[i];
            line("{:>4}{:>14}{:>16}  {}", r.rank.index, text::size_text(r.peak),
                 text::time_text(seconds(r.at.time_since_epoch())),
                 r.action.empty() ? "no action" : r.action);
        }
        more(ranks.size());
        out_ += '\n';
    }

    void exchanges() {
        Duration longest{};
        for (const RankFacts& rank : run_.ranks) longest = std::max(longest, rank.exchanges.total);
        if (longest == Duration{}) return;
        const text::TimeUnit unit = text::unit_of(seconds(longest));
        const auto cell = [&](Duration d) { return text::number_text(seconds(d), unit); };
        line("transfers of all steps, {}", text::name_of(unit));
        line("{:>4}{:>12}{:>12}{:>12}{:>12}", "rank", "count", "total", "transfer", "wait");
        for (std::size_t i = 0; i < run_.ranks.size() && i < text::kTableRows; ++i) {
            const profile::ExchangeTimes& e = run_.ranks[i].exchanges;
            line("{:>4}{:>12}{:>12}{:>12}{:>12}", run_.ranks[i].rank.index, e.kernels,
                 cell(e.total), cell(e.transfer), cell(e.wait));
        }
        more(run_.ranks.size());
        out_ += '\n';
    }

    void devices() {
        Duration longest{};
        for (const RankFacts& rank : run_.ranks) longest = std::max(longest, rank.account.span);
        if (longest == Duration{}) return;
        const text::TimeUnit unit = text::unit_of(seconds(longest));
        const auto cell = [&](Duration d) { return text::number_text(seconds(d), unit); };
        line("device, {}, unions over its streams; waits are of its idle time",
             text::name_of(unit));
        line("{:>4}{:>8}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}", "rank", "kernels",
             "span", "busy", "compute", "comm", "exposed", "idle", "host", "launch");
        for (std::size_t i = 0; i < run_.ranks.size() && i < text::kTableRows; ++i) {
            const profile::DeviceAccount& a = run_.ranks[i].account;
            line("{:>4}{:>8}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}",
                 run_.ranks[i].global_rank, a.kernels, cell(a.span), cell(a.busy), cell(a.compute),
                 cell(a.communication), cell(a.exposed), cell(a.idle), cell(a.host_wait),
                 cell(a.kernel_wait));
        }
        more(run_.ranks.size());
        out_ += '\n';
    }

    void kernels() {
        std::array<Duration, kKernelClasses> time{};
        std::array<std::size_t, kKernelClasses> count{};
        Duration all{};
        for (const RankFacts& rank : run_.ranks)
            for (std::size_t c = 0; c < kKernelClasses; ++c) {
                time[c] += rank.account.by_class[c];
                count[c] += rank.account.count[c];
                all += rank.account.by_class[c];
            }
        if (all == Duration{}) return;
        line("{:<24}{:>10}{:>16}{:>10}", "kernels of all ranks", "count", "time", "share");
        for (std::size_t c = 0; c < kKernelClasses; ++c)
            if (count[c] > 0)
                line("  {:<22}{:>10}{:>16}{:>10}", profile::name_of(static_cast<KernelClass>(c)),
                     count[c], text::time_text(seconds(time[c])),
                     text::percent(seconds(time[c]) / seconds(all)));
        for (const RankFacts& rank : run_.ranks)
            if (!rank.unknown.empty()) {
                line("  no rule knows {}", text::shortened(rank.unknown.front(), 80));
                break;
            }
        out_ += '\n';
    }

    void notes() {
        for (const std::string& note : run_.notes) paragraph("note: " + note);
        constexpr std::size_t kMostNotes = 12;
        std::size_t shown = 0;
        for (const RankFacts& rank : run_.ranks)
            for (const std::string& note : rank.notes)
                if (shown++ < kMostNotes)
                    paragraph(fmt::format("note: rank {}: {}", rank.global_rank, note));
        if (shown > kMostNotes) line("note: {} more; --json has all of them", shown - kMostNotes);
        for (const RankFacts& rank : run_.ranks)
            if (rank.peak_allocated && run_.trace.memory.empty())
                line("memory: rank {} allocated at most {}", rank.global_rank,
                     text::size_text(Bytes{*rank.peak_allocated}));
    }

    void what_if() {
        if (!report_.what_if) return;
        const AsFastAsOthers& w = *report_.what_if;
        std::string ranks;
        for (const Rank rank : w.ranks)
            ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank.index);
        const text::TimeUnit unit = text::unit_of(seconds(w.as_measured.step_time));
        const auto cell = [&](Duration d) { return text::time_text(seconds(d), unit); };
        line("if rank {} were as fast as the others", ranks);
        line("  {:<12}{:>16}{:>16}", "", "replayed", "as fast");
        line("  {:<12}{:>16}{:>16}", "step time", cell(w.as_measured.step_time),
             cell(w.levelled.step_time));
        line("  {:<12}{:>16}{:>16}", "bubble", text::percent(w.as_measured.bubble),
             text::percent(w.levelled.bubble));
        out_ += '\n';
    }

    void beside() {
        if (!report_.beside) return;
        for (const std::string& words : report_.beside_left_out) paragraph("note: " + words);
        out_ += '\n' + sim::to_text(*report_.beside);
    }

    const ProfileReport& report_;
    const profile::ProfiledRun& run_;
    std::string out_;
};

}  // namespace

ProfileReport profile_report(profile::ProfiledRun run) {
    ProfileReport report;
    report.run = std::move(run);
    report.steps = steps_in(report.run.trace);
    report.step = median_step(report.run.trace);
    report.statistics = statistics(report.step);
    return report;
}

std::string evidence_words(const profile::ProfiledRun& run) {
    const auto has = [&](Evidence evidence) {
        return std::ranges::any_of(run.ranks,
                                   [&](const RankFacts& r) { return r.evidence == evidence; });
    };
    std::size_t fitting = 0;
    std::size_t anchors = 0;
    int layers = 0;
    for (const RankFacts& rank : run.ranks) {
        fitting += rank.fitting;
        anchors += rank.anchors;
        layers = std::max(layers, rank.layers);
    }
    if (has(Evidence::Anchors))
        return fmt::format(
            "passes: by anchors: attention of {} layers a pass, and transfers; {} of {} fit{} "
            "(confidence {})",
            layers, fitting, anchors, run.order ? fmt::format(" {}", *run.order) : "",
            text::percent(run.confidence()));
    if (has(Evidence::Named))
        return fmt::format("passes: named by the framework; {} of {} hold work (confidence {})",
                           fitting, anchors, text::percent(run.confidence()));
    return "passes: none found: no range names one, and no attention kernel shows one";
}

std::string to_text(const ProfileReport& report) {
    return ProfileText(report).text();
}

}  // namespace debubble::sim
