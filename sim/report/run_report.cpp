#include "sim/report/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/wording.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kDay = 86400;
constexpr double kHour = 3600;
constexpr double kBarLength = 40;

Json figure_json(const std::optional<double>& figure) {
    return figure ? Json(*figure) : Json(nullptr);
}

std::string money(double amount, const std::string& currency) {
    if (amount >= 1e9) return fmt::format("{:.3g} billion {}", amount / 1e9, currency);
    if (amount >= 1e6) return fmt::format("{:.3g} million {}", amount / 1e6, currency);
    return fmt::format("{} {}", text::rate_text(amount), currency);
}

std::string save_words(const RunPlan& run) {
    const RunJob& job = run.figures.job;
    const double interval = static_cast<double>(job.save_every) * job.step;
    std::string words =
        fmt::format("{:.3g} TB, saved every {}{} ({} step{}), which pauses all ranks for {}",
                    static_cast<double>(run.checkpoint.count) / 1e12, span_words(interval),
                    run.chose_interval ? ", the interval of least loss" : "", job.save_every,
                    job.save_every == 1 ? "" : "s", span_words(job.save.pause));
    if (job.save.persist > 0)
        words += fmt::format("; it is in storage {} later", span_words(job.save.persist));
    if (job.save.in_memory)
        words += fmt::format(", and gets every {}",
                             job.remote_every == 1 ? "one" : fmt::format("{}th", job.remote_every));
    return words;
}

std::string stop_words(const RunPlan& run) {
    const RunFigures& figures = run.figures;
    const RunJob& job = figures.job;
    if (job.failures.sum() <= 0) return "nothing fails";
    std::string words = fmt::format(
        "one every {} (MTTF), {:.0f} stop running steps; each is noticed in {} and "
        "restarted in {}",
        span_words(job.mttf()), figures.failures, span_words(job.stop.detect),
        span_words(job.save.in_memory ? job.stop.restart_from_memory : job.stop.restart));
    if (job.elastic)
        words += fmt::format("; {} replicas go on without the one that is lost",
                             job.elastic->replicas - 1);
    return words;
}

std::string energy_words(const RunPlan& run) {
    std::string words;
    if (run.energy_mwh) words = fmt::format("{} MWh", text::rate_text(*run.energy_mwh));
    if (run.co2_t) words += fmt::format(", {} t of CO2", text::rate_text(*run.co2_t));
    if (run.gpus_mwh)
        words += fmt::format("{}{} MWh of its GPUs alone, at their limit of power",
                             words.empty() ? "" : "; ", text::rate_text(*run.gpus_mwh));
    return words;
}

}  // namespace

std::string span_words(double seconds) {
    if (!std::isfinite(seconds)) return "never";
    if (seconds >= 2 * kDay) return fmt::format("{:.1f} d", seconds / kDay);
    if (seconds >= 2 * kHour) return fmt::format("{:.1f} h", seconds / kHour);
    if (seconds >= 100) return fmt::format("{:.1f} min", seconds / 60);
    if (seconds == 0) return "0 s";
    return fmt::format("{:.3g} s", seconds);
}

std::vector<RunLine> run_lines(const RunPlan& run) {
    const RunFigures& figures = run.figures;
    std::string time = fmt::format("{} for {} tokens in {} steps", span_words(figures.p50_s),
                                   text::count_text(run.tokens), text::count_text(run.steps));
    if (figures.draws > 1)
        time += fmt::format("; P5 {}, P95 {} of {} drawn runs", span_words(figures.p5_s),
                            span_words(figures.p95_s), figures.draws);
    if (figures.hopeless > 0)
        time += fmt::format("; {} of them were given up, as they hardly make progress",
                            figures.hopeless);
    const bool ends = std::isfinite(figures.p50_s);
    if (!ends)
        time = fmt::format(
            "does not end: {} of {} drawn runs were given up, as they hardly make "
            "progress",
            figures.hopeless, figures.draws);
    std::vector<RunLine> lines{{"whole run", std::move(time)}};
    lines.push_back(
        {"goodput", fmt::format("{} of the time is useful; {} without any stop",
                                text::percent(figures.goodput()), span_words(figures.job.work()))});
    lines.push_back({"failures", stop_words(run)});
    if (figures.job.failures.sum() > 0 || run.write_s > 0)
        lines.push_back({"checkpoint", save_words(run)});
    if (!ends) return lines;
    std::string hours = fmt::format("{} GPU hours on {} GPUs", text::rate_text(run.gpu_hours),
                                    text::rate_text(run.gpus));
    if (run.cost) hours = fmt::format("{}: {}", money(*run.cost, run.currency), hours);
    lines.push_back({"cost", std::move(hours)});
    if (run.energy_mwh || run.gpus_mwh) lines.push_back({"energy", energy_words(run)});
    return lines;
}

std::vector<TableLine> run_table(const RunPlan& run) {
    const RunFigures& figures = run.figures;
    if (of(figures.seconds, RunTime::Useful) >= figures.mean_s) return {};
    std::vector<TableLine> lines{{"Where the run goes, mean of the drawn runs"}};
    for (std::size_t c = 0; c < kRunTimes; ++c) {
        const double share = figures.seconds[c] / figures.mean_s;
        if (share <= 0) continue;
        const auto length =
            static_cast<std::size_t>(std::clamp(std::round(share * kBarLength), 0.0, kBarLength));
        lines.push_back({fmt::format("  {:<26}{:>11}{:>9}  {}", words_of(static_cast<RunTime>(c)),
                                     span_words(figures.seconds[c]), text::percent(share),
                                     std::string(length, '#'))});
        while (lines.back().words.ends_with(' ')) lines.back().words.pop_back();
    }
    return lines;
}

Json run_json(const RunPlan& run) {
    const RunFigures& figures = run.figures;
    const RunJob& job = figures.job;
    Json seconds = Json::object();
    for (std::size_t c = 0; c < kRunTimes; ++c)
        seconds[std::string(name_of(static_cast<RunTime>(c)))] = figures.seconds[c];
    const bool fails = job.failures.sum() > 0;
    return {{"tokens", run.tokens},
            {"steps", run.steps},
            {"days",
             {{"p5", figures.p5_s / kDay},
              {"p50", figures.p50_s / kDay},
              {"p95", figures.p95_s / kDay},
              {"mean", figures.mean_s / kDay},
              {"without_stops", job.work() / kDay}}},
            {"draws", figures.draws},
            {"given_up", figures.hopeless},
            {"goodput", figures.goodput()},
            {"seconds", std::move(seconds)},
            {"failures", figures.failures},
            {"planned_stops", figures.planned},
            {"mttf_s", fails ? Json(job.mttf()) : Json(nullptr)},
            {"checkpoint",
             {{"bytes", run.checkpoint.count},
              {"write_s", run.write_s},
              {"load_s", run.load_s},
              {"every_steps", job.save_every},
              {"every_s", static_cast<double>(job.save_every) * job.step},
              {"pause_s", job.save.pause},
              {"saves_for_each_to_storage", job.remote_every}}},
            {"restart_s", job.stop.restart},
            {"gpus", run.gpus},
            {"gpu_hours", run.gpu_hours},
            {"cost", figure_json(run.cost)},
            {"currency", run.currency.empty() ? Json(nullptr) : Json(run.currency)},
            {"energy_mwh", figure_json(run.energy_mwh)},
            {"gpus_energy_mwh", figure_json(run.gpus_mwh)},
            {"co2_t", figure_json(run.co2_t)}};
}

}  // namespace debubble::sim
