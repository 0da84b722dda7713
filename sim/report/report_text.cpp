#include "sim/report/report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "text/wording.h"
#include "trace/statistics.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kBarColumns = 40;

class Report {
public:
    Report(const scenarios::Scenario& scenario, const PredictionWithTrace& answer,
           const ReportOptions& options)
        : scenario_(scenario), answer_(answer), p_(answer.prediction), options_(options) {}

    std::string text() {
        question();
        figures();
        step();
        if (p_.run) run(*p_.run);
        if (answer_.bill) table(bill_table(*answer_.bill));
        table(communication_table(p_));
        table(rank_table(p_, answer_.memory_limit));
        notes();
        if (options_.explain) definitions();
        return std::move(out_);
    }

private:
    enum class Ink { Plain, Bold, Good, Bad, Faint };

    std::string inked(Ink ink, const std::string& words) const {
        constexpr const char* kCodes[] = {"", "\x1b[1m", "\x1b[32m", "\x1b[1;31m", "\x1b[2m"};
        if (!options_.color || ink == Ink::Plain) return words;
        return kCodes[static_cast<int>(ink)] + words + "\x1b[0m";
    }

    void line(const std::string& words = {}) { out_ += words + "\n"; }

    /// Words wrapped at spaces to the width of the page, later lines indented.
    void paragraph(const std::string& words, std::size_t indent, Ink ink = Ink::Plain) {
        for (const std::string& part : text::wrapped(words, text::kReportColumns, indent))
            line(inked(ink, part));
    }

    void question() {
        const auto& model = scenario_.model;
        paragraph(fmt::format("{}: {} ({} parameters) on {} x {} ({})", p_.scenario, model.name,
                              text::count_text(p_.parameters), scenario_.gpus,
                              scenario_.cluster.gpu.name, scenario_.cluster.name),
                  2, Ink::Bold);
        paragraph("  " + plan_of(scenario_), 2);
        paragraph("  " + settings_of(scenario_), 2);
        if (const std::string groups = groups_across_nodes(scenario_); !groups.empty())
            paragraph("  " + groups, 2);
        line();
    }

    void figure(const std::string& name, const std::string& first, const std::string& second = {},
                const std::string& third = {}) {
        std::string row = fmt::format("  {:<12}{:<22}{:<26}{}", name, first, second, third);
        row.erase(row.find_last_not_of(' ') + 1);
        line(row);
    }

    static std::string known(const std::optional<double>& share) {
        return share ? text::percent(*share) : "unknown";
    }

    void figures() {
        figure("step time", text::time_text(p_.step_time_s),
               fmt::format("{} tokens/s", text::rate_text(p_.tokens_per_s)),
               fmt::format("{} samples/s", text::rate_text(p_.samples_per_s)));
        if (p_.recompute) recompute(*p_.recompute);
        if (p_.cut)
            paragraph(fmt::format("  {:<12}{} layers: {}", "stages",
                                  fmt::join(p_.cut->layers_per_stage, ", "), p_.cut->words),
                      14);
        if (p_.uneven) uneven(*p_.uneven);
        if (p_.range)
            paragraph(fmt::format("  {:<12}{}", "range", range_words(*p_.range, p_.step_time_s)),
                      14);
        if (p_.anchored)
            paragraph(fmt::format("  {:<12}{}", "anchored", anchored_words(*p_.anchored)), 14);
        if (p_.mfu)
            figure("MFU", text::percent(*p_.mfu),
                   fmt::format("causal {}, HFU {}", known(p_.mfu_causal), known(p_.hfu)),
                   text::flop_rate_text(p_.tflops_per_gpu * 1e12) + " per GPU");
        else
            figure("MFU", "unknown", "no peak rate known",
                   text::flop_rate_text(p_.tflops_per_gpu * 1e12) + " per GPU");
        figure("bubble", text::percent(p_.bubble),
               fmt::format("span bubble {}", text::percent(p_.span_bubble)),
               fmt::format("makespan {}", text::time_text(p_.makespan_s)));
        pairs();
        if (p_.drawn_memory) drawn_memory(*p_.drawn_memory);
        fits();
        line();
    }

    /// The memory of steps with drawn loads, of which the memory below is the deciding one.
    void drawn_memory(const DrawnMemoryFigures& memory) {
        const std::string decides = fmt::format("P{:.4g}", 100 * memory.quantile);
        paragraph(fmt::format("  {:<12}P50 {}, {} {}, at most {} GiB of {} drawn steps; {} decides "
                              "whether the plan fits",
                              "loads", text::gib_text(memory.p50), decides,
                              text::gib_text(memory.at_quantile), text::gib_text(memory.most),
                              memory.draws, decides),
                  14);
    }

    /// The overlap of pairs whose layers alternate.
    void pairs() {
        const PairExchange sum = exchange_of_pairs(answer_.trace);
        if (sum.exchange <= Duration{}) return;
        const auto share = [&](Duration of_it) {
            return text::percent(seconds(of_it) / seconds(sum.exchange));
        };
        figure(
            "pairs",
            fmt::format("{} of all-to-all in each, {} of it hidden under computes, {} under GEMMs "
                        "and attention",
                        text::time_text(seconds(sum.exchange) / static_cast<double>(sum.pairs)),
                        share(sum.hidden), share(sum.hidden_under_gemms)));
    }

    void recompute(const ChosenRecompute& chosen) {
        const std::string why =
            chosen.fitting > 0
                ? fmt::format("the shortest step of {} choices that fits", chosen.choices)
                : fmt::format("none of {} choices fits, and this one needs the least memory",
                              chosen.choices);
        paragraph(fmt::format("  {:<12}{}: {}", "recompute", chosen.words, why), 14);
    }

    /// The cost of uneven loads, and each slow rank's part of it.
    void uneven(const UnevenSteps& steps) {
        const text::TimeUnit unit = text::unit_of(p_.step_time_s);
        const auto time = [&](double s) { return text::time_text(s, unit); };
        std::string words = fmt::format("{} if all loads were even", time(steps.even_s));
        const std::string slowest =
            steps.pipelines > 1 ? fmt::format(", each the slowest of {} pipelines", steps.pipelines)
                                : "";
        if (steps.drawn.size() > 1)
            words = fmt::format("P50 {}, P95 {}, mean {} of {} drawn steps{}; {}",
                                time(steps.p50_s), time(steps.p95_s), time(steps.mean_s()),
                                steps.drawn.size(), slowest, words);
        paragraph(fmt::format("  {:<12}{}", "uneven", words), 14);
        if (steps.packed) packed(*steps.packed);
        for (const SlowRank& slow : steps.slow)
            paragraph(fmt::format("  {:<12}rank {} costs {}: it is {:.4g} times as slow, and "
                                  "without that the step takes {}",
                                  "", slow.rank.index, text::percent(slow.cost), slow.factor,
                                  time(slow.without_s)),
                      14);
        if (steps.slow_ranks > steps.slow.size())
            paragraph(fmt::format("  {:<12}{} more ranks are slow, by less", "",
                                  steps.slow_ranks - steps.slow.size()),
                      14);
    }

    /// The groups that documents were packed for, and the time of groups of one size.
    void packed(const PackedFigures& packed) {
        const text::TimeUnit unit = text::unit_of(p_.step_time_s);
        const auto time = [&](double s) { return text::time_text(s, unit); };
        std::string sizes;
        std::string counts;
        for (const auto& [ranks, count] : packed.groups) {
            sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", ranks);
            counts += fmt::format("{}{:.1f}", counts.empty() ? "" : ", ", count);
        }
        const bool one_rank = packed.groups.size() == 1 && packed.groups.begin()->first == 1;
        paragraph(
            fmt::format("  {:<12}{:.1f} microbatches in the mean, of {} groups of {} {}; tokens "
                        "fill {} of the ranks, which wait {} of the time for fuller ones",
                        "packing", packed.micro_batches, counts, sizes, one_rank ? "rank" : "ranks",
                        text::percent(packed.filled), text::percent(packed.waiting)),
            14);
        if (!packed.static_p50_s) return;
        paragraph(
            fmt::format("  {:<12}the same documents in groups of {} alone: P50 {}, P95 {}, in "
                        "the mean {:.3g} times as long",
                        "", scenario_.parallel.context, time(*packed.static_p50_s),
                        time(*packed.static_p95_s), packed.static_times_as_long),
            14);
    }

    void fits() {
        if (p_.ranks.empty()) return;
        const RankPrediction& worst = *std::ranges::max_element(
            p_.ranks, {}, [](const RankPrediction& r) { return r.peak_memory; });
        const std::string limit = text::gib_text(answer_.memory_limit);
        if (p_.fits) {
            paragraph(fmt::format("  {:<12}{}: at most {} of {} GiB, on rank {} at {}{}{}",
                                  "memory", fits_text(p_), text::gib_text(worst.peak_memory), limit,
                                  worst.rank.index, worst.peak_op, reserved_and_headroom(),
                                  published_peaks()),
                      14, p_.memory_verdict == MemoryVerdict::Fits ? Ink::Good : Ink::Plain);
            return;
        }
        DEBUBBLE_CHECK(!p_.reason.empty(), "a prediction that does not fit says why");
        paragraph(
            fmt::format("  {:<12}{}: {}{}", "memory", fits_text(p_), p_.reason, published_peaks()),
            14, Ink::Bad);
    }

    /// The range of the peak, where the limit lies within it.
    std::string published_peaks() const {
        if (p_.memory_verdict != MemoryVerdict::CannotBeTold || !p_.memory_range) return "";
        return "; " + memory_range_words(*p_.memory_range);
    }

    /// The words after the peak: the memory that the allocator reserves, and the headroom; empty if
    /// there is neither.
    std::string reserved_and_headroom() const {
        Bytes reserved;
        for (const RankPrediction& rank : p_.ranks)
            reserved = std::max(reserved, rank.reserved.value_or(Bytes{}));
        if (reserved.count == 0 && p_.headroom.count == 0) return {};
        std::string words;
        if (reserved.count > 0)
            words += fmt::format("; the allocator reserves at most {}", text::gib_text(reserved));
        if (p_.headroom.count > 0)
            words += fmt::format("; {} are headroom", text::gib_text(p_.headroom));
        return words + fmt::format("; {} left", text::gib_text(p_.memory_left));
    }

    /// One row of the break-down: its share of the step as a bar.
    void share(const std::string& name, double s) {
        const double part = p_.step_time_s > 0 ? s / p_.step_time_s : 0;
        const auto length = static_cast<std::size_t>(
            std::clamp(std::lround(part * kBarColumns), 0L, static_cast<long>(kBarColumns)));
        std::string row = fmt::format("  {:<26}{:>11}{:>9}  {}", name,
                                      text::time_text(s, text::unit_of(p_.step_time_s)),
                                      text::percent(part), std::string(length, '#'));
        row.erase(row.find_last_not_of(' ') + 1);
        line(row);
    }

    void step() {
        if (p_.ranks.empty()) return;
        double busy = 0;
        double exposed = 0;
        double optimizer = 0;
        double idle = 0;
        for (const RankPrediction& rank : p_.ranks) {
            busy += rank.busy_s;
            exposed += rank.exposed_comm_s;
            optimizer += rank.optimizer_s;
            idle += rank.idle_s;
        }
        const auto ranks = static_cast<double>(p_.ranks.size());
        line(inked(Ink::Bold, "Where the step goes, mean over the ranks"));
        share("compute", busy / ranks);
        share("exposed communication", exposed / ranks);
        share("optimizer", optimizer / ranks);
        idle_shares(idle / ranks);
        line();
    }

    /// The idle time, divided in proportion to its causes in the trace.
    void idle_shares(double idle) {
        const auto causes = idle_by_cause(answer_.statistics);
        Duration all{};
        for (const Duration d : causes) all += d;
        if (all <= Duration{}) return share("idle", idle);
        for (std::size_t c = 0; c < kBubbleCauses; ++c)
            if (causes[c] > Duration{})
                share(fmt::format("idle: {}", wording_of(static_cast<BubbleCause>(c))),
                      idle * (seconds(causes[c]) / seconds(all)));
    }

    void run(const RunPlan& plan) {
        line(inked(Ink::Bold, "The whole run"));
        for (const RunLine& of_run : run_lines(plan))
            paragraph(fmt::format("  {:<12}{}", of_run.name, of_run.words), 14);
        line();
        table(run_table(plan));
    }

    /// The first line of a table, and the other lines.
    void table(const std::vector<TableLine>& lines) {
        for (std::size_t i = 0; i < lines.size(); ++i)
            line(inked(i == 0 ? Ink::Bold : lines[i].bad ? Ink::Bad : Ink::Plain, lines[i].words));
        if (!lines.empty()) line();
    }

    void notes() {
        for (const std::string& note : p_.notes) paragraph("note: " + note, 6);
        if (!p_.notes.empty()) line();
        if (p_.provenance.empty()) return;
        std::map<std::string, int> origins;
        for (const ProvenanceNote& note : p_.provenance) ++origins[note.origin];
        std::string words = "constants:";
        for (const auto& [origin, count] : origins)
            words += fmt::format("{} {} {}", words.back() == ':' ? "" : ",", count, origin);
        paragraph(words + "; --json lists them with their sources", 2);
        line();
    }

    void definitions() {
        paragraph(
            "bubble: 1 - computes / (ranks x makespan), inner communication and recompute counted "
            "as compute. span bubble: the same over a rank's own first start to last end, worst "
            "rank. busy + exposed + optimizer + idle = step time of each rank. MFU: model FLOPs "
            "without recompute over peak, attention in full; causal without what masks leave out; "
            "HFU "
            "with recompute. 1 GiB = 2^30 bytes.",
            0, Ink::Faint);
    }

    const scenarios::Scenario& scenario_;
    const PredictionWithTrace& answer_;
    const Prediction& p_;
    const ReportOptions& options_;
    std::string out_;
};

}  // namespace

std::string report_text(const scenarios::Scenario& scenario, const PredictionWithTrace& answer,
                        const ReportOptions& options) {
    return Report(scenario, answer, options).text();
}

std::string headline(const Prediction& p) {
    std::string words = fmt::format("{}: step {}, bubble {}", p.scenario,
                                    text::time_text(p.step_time_s), text::percent(p.bubble));
    double exposed = 0;
    for (const RankPrediction& rank : p.ranks) exposed += rank.exposed_comm_s;
    if (const double all = p.step_time_s * static_cast<double>(p.ranks.size()); all > 0)
        words += fmt::format(", exposed {}", text::percent(exposed / all));
    if (p.mfu) words += fmt::format(", MFU {}", text::percent(*p.mfu));
    const bool told = p.memory_verdict != MemoryVerdict::CannotBeTold;
    return fmt::format("{}, {}{}", words, told ? "" : "memory: ", fits_text(p));
}

std::string range_words(const StepRange& range, double step_time_s) {
    const ClassResiduals& from = range.from;
    const char* outside = step_time_s < range.low_s    ? ", which mostly took longer than predicted"
                          : step_time_s > range.high_s ? ", which mostly took less than predicted"
                                                       : "";
    const char* relative = from.of_relative ? ", widened, since none is of this GPU" : "";
    return fmt::format("{} to {}, as {:.0f} % of the {} measured steps most like it ({}{}){}",
                       text::time_text(range.low_s, text::unit_of(range.high_s)),
                       text::time_text(range.high_s), 100 * kResidualShare, from.rows,
                       from.steps.words(), relative, outside);
}

std::string anchored_words(const AnchoredFigures& anchored) {
    std::string words;
    if (anchored.time_ratio)
        words =
            fmt::format("{} ({} to {}), {} tokens/s: ", text::time_text(anchored.step_time_s),
                        text::time_text(anchored.low_s, text::unit_of(anchored.high_s)),
                        text::time_text(anchored.high_s), text::rate_text(anchored.tokens_per_s));
    if (anchored.memory_ratio) words += fmt::format("{:.2f} GiB at most; ", gib(anchored.needs));
    words += "the measured plan took";
    if (anchored.time_ratio)
        words += fmt::format(" {:.3f} times its prediction", *anchored.time_ratio);
    if (anchored.parts)
        words +=
            fmt::format(" (kernels {:.3f}, exposed communication {:.3f}, idle {:.3f})",
                        anchored.parts->compute, anchored.parts->exposed, anchored.parts->idle);
    if (anchored.memory_ratio)
        words += fmt::format("{}{:.3f} times the memory besides its parameters and optimizer state",
                             anchored.time_ratio ? ", and " : " ", *anchored.memory_ratio);
    if (anchored.keys.empty()) return words + "; it is this plan";
    words += fmt::format("; what differs: {}", fmt::join(anchored.keys, ", "));
    if (anchored.carry.pairs == 0)
        return words + ". No published pair of steps differs in this way: the error is unknown";
    return words + fmt::format(". 80 % of {} published pairs that differ in {} lie in that range",
                               anchored.carry.pairs, anchored.carry.differs);
}

std::string memory_range_words(const MemoryRange& range) {
    return fmt::format("{} to {} GiB by {:.0f} % of the {} published peaks most like it ({})",
                       text::gib_text(range.low), text::gib_text(range.high), 100 * kResidualShare,
                       range.from.rows, range.from.words());
}

std::string fits_text(const Prediction& p) {
    return std::string(name_of(p.memory_verdict));
}

}  // namespace debubble::sim
