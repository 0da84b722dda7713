#include "sim/measured/measured_table.h"

#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "text/document_readers.h"
#include "text/mapping_reader.h"

namespace debubble::sim {
namespace {

using text::MappingReader;
using text::Mistakes;
using text::Node;
using text::NodePtr;

constexpr std::size_t kMostSteps = 100'000;
constexpr double kMostOfAnything = 1e12;

bool says(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

/// Tables specify their peak in words: "reserved, max over ranks", "allocated, last rank".
MeasuredPeak peak_of(double gib, std::string_view words) {
    MeasuredPeak peak{gib};
    const bool allocated = says(words, "allocated");
    const bool reserved = says(words, "reserved");
    if (allocated != reserved)
        peak.kind = allocated ? MeasuredPeak::Kind::Allocated : MeasuredPeak::Kind::Reserved;
    peak.first_step = says(words, "after iteration 1");
    // A peak that ended in an out-of-memory error is not a peak, except that of an iteration
    // before.
    if (says(words, "out of memory") && !peak.first_step) peak.kind = MeasuredPeak::Kind::Unknown;
    if (says(words, "rank 0"))
        peak.of = MeasuredPeak::Of::FirstRank;
    else if (says(words, "last rank"))
        peak.of = MeasuredPeak::Of::LastRank;
    return peak;
}

std::optional<double> figure(MappingReader& in, std::string_view key) {
    double value = 0;
    if (!in.real(key, value, 1e-12, kMostOfAnything)) return std::nullopt;
    return value;
}

void read_figures(const NodePtr& map, MeasuredStep& step, Mistakes& mistakes) {
    MappingReader in(map, "measured", mistakes);
    step.step_s = figure(in, "step_s");
    step.tokens_per_s_per_gpu = figure(in, "tokens_per_s_per_gpu");
    step.tflops_per_gpu = figure(in, "tflops_per_gpu");
    const auto gib = figure(in, "peak_gib");
    std::string kind;
    in.text("peak_gib_kind", kind);
    if (gib) step.peak = peak_of(*gib, kind);
    step.held_gib = figure(in, "held_gib");
    step.activations_gib = figure(in, "activations_gib");
    step.time_s = figure(in, "time_s");
    step.busbw_gb_per_s = figure(in, "busbw_gb_per_s");
    in.finish();
    if (!in.good()) return;
    const bool of_step = step.step_s || step.tokens_per_s_per_gpu || step.tflops_per_gpu ||
                         step.peak || step.held_gib || step.activations_gib;
    const bool of_part = step.time_s || step.busbw_gb_per_s;
    if (!of_step && !of_part)
        mistakes.add(map->place, "the row has no measured figure");
    else if (step.is_kernel() && !step.time_s)
        mistakes.add(map->place, "a kernel is measured by time_s");
    else if (step.is_part() ? of_step : of_part)
        mistakes.add(map->place, step.is_part()
                                     ? "a collective is measured by time_s or busbw_gb_per_s"
                                     : "time_s and busbw_gb_per_s measure a collective, and the "
                                       "scenario is a step");
}

MeasuredStep step_of(const NodePtr& line, Mistakes& mistakes) {
    MeasuredStep step;
    MappingReader in(line, "row", mistakes);
    in.text("row", step.row);
    in.text("source", step.source);
    in.text("notes", step.notes);
    in.texts("not_stated", step.not_stated);
    step.scenario = in.value("scenario");
    const NodePtr measured = in.value("measured");
    for (const char* key : {"row", "scenario", "measured"}) in.demand(key);
    if (step.scenario && !step.scenario->is(Node::Kind::Map))
        in.complain("scenario", "a scenario is a map");
    in.finish();
    if (measured) read_figures(measured, step, mistakes);
    return step;
}

bool is_empty(std::string_view line) {
    return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

bool MeasuredStep::is_collective() const {
    return text::at(scenario, "collective") != nullptr;
}

bool MeasuredStep::is_kernel() const {
    return text::at(scenario, "kernel") != nullptr;
}

void read_measured(const std::string& text, const std::string& file,
                   std::vector<MeasuredStep>& steps) {
    Mistakes mistakes;
    const std::string table = std::filesystem::path(file).stem().string();
    const std::size_t before = steps.size();
    std::string_view rest = text;
    for (int number = 1; !rest.empty(); ++number) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (is_empty(line)) continue;
        if (steps.size() - before == kMostSteps)
            throw InputError({{{file, number, 1},
                               fmt::format("the table has more than {} rows", kMostSteps),
                               {}}});
        try {
            MeasuredStep step =
                step_of(text::parse_json_from(number, std::string(line), file), mistakes);
            step.table = table;
            step.line = number;
            steps.push_back(std::move(step));
        } catch (const InputError& error) {
            mistakes.add(error);
        }
    }
    if (steps.size() == before && mistakes.empty())
        throw InputError({{{file, 0, 0}, "the table has no rows", {}}});
    mistakes.throw_if_any();
}

}  // namespace debubble::sim
