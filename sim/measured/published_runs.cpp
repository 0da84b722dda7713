#include "sim/measured/published_runs.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "sim/explain/plan_run.h"
#include "sim/predict.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"
#include "text/wording.h"

namespace debubble::sim {
namespace {

using text::MappingReader;
using text::Mistakes;
using text::Node;
using text::NodePtr;

constexpr int kMostMachines = 1'000'000;

/// Saves that are not described by bytes take the stated pause.
CheckpointTraffic no_bytes() {
    CheckpointTraffic traffic;
    traffic.adapters = traffic.host_link = 1;
    traffic.write_s = 1e-9;
    return traffic;
}

void read_job(MappingReader& in, text::ShippedFiles& shipped, PublishedRun& run) {
    double work = 0;
    int gpus = 0;
    std::optional<double> stops_every;
    int replicas = 1;
    for (const char* key : {"machines", "gpus", "work", "step", "reliability"}) in.demand(key);
    in.whole("machines", run.job.machines, 1, kMostMachines);
    in.whole("gpus", gpus, 1, kMostMachines);
    in.whole("replicas", replicas, 1, kMostMachines);
    in.span("work", work);
    in.span("step", run.job.step);
    if (double every = 0; in.span("stops_every", every)) stops_every = every;
    const NodePtr map = in.value("reliability");
    if (!map || !in.good() || run.job.step <= 0) return;
    run.job.steps = std::max(1.0, work / run.job.step);
    scenarios::Reliability reliability = scenarios::read_reliability(map, shipped, in.mistakes());
    if (!in.good()) return;
    run.draws = reliability.draws;
    const double down = reliability.elastic
                            ? reliability.stall_s
                            : reliability.detect_s + reliability.restart.scheduler_s +
                                  reliability.restart.start_s +
                                  reliability.restart.load_s.value_or(0);
    if (stops_every && *stops_every > down) {
        reliability.failures_per_job_day = 86400 / (*stops_every - down);
        run.job.fails_while_down = false;
    } else if (stops_every) {
        in.complain("stops_every", "a job that stops so often never runs");
    }
    run.job = with_reliability(run.job, reliability, gpus, replicas, no_bytes());
}

/// A shipped scenario, with the tokens and the reliability of the row.
void read_scenario_of(MappingReader& in, PublishedRun& run) {
    std::string name;
    std::string tokens;
    std::string reliability;
    for (const char* key : {"scenario", "tokens", "reliability"}) in.demand(key);
    in.text("scenario", name);
    in.text("tokens", tokens);
    in.text("reliability", reliability);
    in.finish();
    if (!in.good()) return;
    const scenarios::Scenario scenario =
        scenarios::read_scenario(name, {{"training.tokens", tokens}, {"reliability", reliability}});
    Prediction prediction =
        predict(scenario,
                {.keep_trace = false, .explain = false, .play_allocator = false, .plan_run = false})
            .prediction;
    run.job = run_job_of(scenario, prediction);
    run.draws = scenario.reliability->draws;
}

void read_run(MappingReader& row, text::ShippedFiles& shipped, PublishedRun& run) {
    const NodePtr map = row.value("run");
    if (!map) return;
    MappingReader in(map, "run", row.mistakes());
    if (in.has("scenario")) return read_scenario_of(in, run);
    read_job(in, shipped, run);
    in.finish();
}

void read_share(MappingReader& row, PublishedRun& run) {
    MappingReader in(row.value("useful"), "useful", row.mistakes());
    double share = 0;
    if (in.real("share", share, 0, 1)) run.stated = {share, share};
    if (in.real("least", share, 0, 1)) run.stated = {share, 1};
    in.real("from", run.stated.low, 0, 1);
    in.real("to", run.stated.high, 0, 1);
    in.finish();
}

PublishedRun run_of(const NodePtr& line, text::ShippedFiles& shipped, Mistakes& mistakes) {
    PublishedRun run;
    MappingReader in(line, "row", mistakes);
    for (const char* key : {"row", "source", "kind", "run", "useful"}) in.demand(key);
    in.text("row", run.row);
    in.text("source", run.source);
    in.text("kind", run.kind);
    in.text("inputs", run.inputs);
    in.text("why", run.why);
    read_run(in, shipped, run);
    if (in.value("useful")) read_share(in, run);
    in.finish();
    return run;
}

std::string stated_words(const StatedShare& stated) {
    if (stated.low == stated.high) return fmt::format("{:.1f} %", 100 * stated.low);
    if (stated.high >= 1) return fmt::format("> {:.0f} %", 100 * stated.low);
    return fmt::format("{:.0f} to {:.0f} %", 100 * stated.low, 100 * stated.high);
}

}  // namespace

double StatedShare::error_of(double predicted) const {
    return 100 * std::max({0.0, low - predicted, predicted - high});
}

bool has_published_runs(const std::string& text) {
    const std::string line = text.substr(0, text.find('\n'));
    try {
        const NodePtr row = text::parse_json(line, "row");
        return row->is(Node::Kind::Map) && row->get("run") != nullptr;
    } catch (const InputError&) {
        return false;  // which the reader of steps reports
    }
}

std::vector<PublishedRun> predict_published_runs(const std::string& text, const std::string& file) {
    Mistakes mistakes;
    text::ShippedFiles shipped;
    std::vector<PublishedRun> runs;
    std::string_view rest = text;
    for (int number = 1; !rest.empty(); ++number) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        try {
            runs.push_back(
                run_of(text::parse_json_from(number, std::string(line), file), shipped, mistakes));
        } catch (const InputError& error) {
            mistakes.add(error);
        }
    }
    mistakes.throw_if_any();
    for (PublishedRun& run : runs) run.predicted = figures_of(run.job, run.draws, 1);
    return runs;
}

std::vector<double> sorted_errors(const std::vector<PublishedRun>& runs) {
    std::vector<double> errors;
    for (const PublishedRun& run : runs) errors.push_back(run.error());
    std::ranges::sort(errors);
    return errors;
}

double median_error(const std::vector<PublishedRun>& runs) {
    const std::vector<double> errors = sorted_errors(runs);
    if (errors.empty()) return 0;
    const std::size_t half = errors.size() / 2;
    return errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
}

std::string published_runs_text(const std::vector<PublishedRun>& runs) {
    std::string out = fmt::format("{:<58}{:<10}{:>9}{:>11}{:>8}\n", "useful share of the time", "",
                                  "stated", "predicted", "points");
    for (const PublishedRun& run : runs)
        out += fmt::format("{:<58}{:<10}{:>9}{:>9.1f} %{:>8.1f}\n", text::shortened(run.row, 57),
                           run.kind, stated_words(run.stated), 100 * run.predicted.goodput(),
                           run.error());
    out += fmt::format("median error {:.1f} points of {} rows, worst {:.1f}\n", median_error(runs),
                       runs.size(), sorted_errors(runs).back());
    for (const PublishedRun& run : runs) {
        out += '\n';
        for (const std::string& part : text::wrapped(
                 fmt::format("{} ({}): given {}. {}", run.row, run.source, run.inputs, run.why),
                 text::kReportColumns, 2))
            out += part + '\n';
    }
    return out;
}

}  // namespace debubble::sim
