#include "sim/grid.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/plan.h"
#include "sim/unvalidated.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kMostPoints = 10'000'000;

std::string text_of(double value) {
    return fmt::format("{}", value);  // the shortest that reads back the same
}
std::string text_of(const std::optional<double>& value) {
    return value ? text_of(*value) : std::string();
}

std::string text_of(Bytes bytes) {
    return fmt::format("{}", bytes.count);
}

Bytes worst(const Prediction& p, Bytes RankPrediction::*held) {
    Bytes worst;
    for (const RankPrediction& rank : p.ranks) worst = std::max(worst, rank.*held);
    return worst;
}

std::string mean(const Prediction& p, double RankPrediction::*seconds) {
    double sum = 0;
    for (const RankPrediction& rank : p.ranks) sum += rank.*seconds;
    return text_of(sum / static_cast<double>(p.ranks.size()));
}

std::string reserved(const Prediction& p) {
    const Bytes most = worst(p, &RankPrediction::reserved);
    return most.count > 0 ? text_of(most) : std::string();
}

struct Figure {
    std::string_view name;
    std::string (*text)(const Prediction&);
};

constexpr std::array kFigures{
    Figure{"step_time_s", [](const Prediction& p) { return text_of(p.step_time_s); }},
    Figure{"tokens_per_s", [](const Prediction& p) { return text_of(p.tokens_per_s); }},
    Figure{"samples_per_s", [](const Prediction& p) { return text_of(p.samples_per_s); }},
    Figure{"mfu", [](const Prediction& p) { return text_of(p.mfu); }},
    Figure{"hfu", [](const Prediction& p) { return text_of(p.hfu); }},
    Figure{"tflops_per_gpu", [](const Prediction& p) { return text_of(p.tflops_per_gpu); }},
    Figure{"bubble", [](const Prediction& p) { return text_of(p.bubble); }},
    Figure{"span_bubble", [](const Prediction& p) { return text_of(p.span_bubble); }},
    Figure{"makespan_s", [](const Prediction& p) { return text_of(p.makespan_s); }},
    Figure{"parameters", [](const Prediction& p) { return fmt::format("{}", p.parameters); }},
    Figure{"replicas", [](const Prediction& p) { return fmt::format("{}", p.replicas); }},
    Figure{"peak_memory_bytes",
           [](const Prediction& p) { return text_of(worst(p, &RankPrediction::peak_memory)); }},
    Figure{"reserved_memory_bytes", reserved},
    Figure{"memory_left_bytes", [](const Prediction& p) { return text_of(p.memory_left); }},
    Figure{"tight", [](const Prediction& p) { return std::string(p.tight ? "true" : "false"); }},
    Figure{"exposed_comm_s",
           [](const Prediction& p) { return mean(p, &RankPrediction::exposed_comm_s); }},
    Figure{"optimizer_s",
           [](const Prediction& p) { return mean(p, &RankPrediction::optimizer_s); }},
    Figure{"idle_s", [](const Prediction& p) { return mean(p, &RankPrediction::idle_s); }},
    Figure{"scenario", [](const Prediction& p) { return p.scenario; }},
    Figure{"schedule_hash", [](const Prediction& p) { return p.schedule_hash; }},
};

std::string one_line(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    std::ranges::replace(text, '\n', ' ');
    return text;
}

/// The mistakes of one point in one line.
std::string reason_of(const InputError& error) {
    std::string reason;
    for (const Diagnostic& d : error.diagnostics())
        reason += (reason.empty() ? "" : "; ") + d.message;
    return one_line(std::move(reason));
}

/// What stands beside a row's keys and figures, in this order.
constexpr std::array<std::string SweepRow::*, 2> kWords{&SweepRow::twin_of, &SweepRow::unvalidated};
constexpr std::array<std::string_view, 5> kBesideFigures{"twin_of", "unvalidated", "fits", "pareto",
                                                         "reason"};

std::vector<std::string> values_of(const std::vector<scenarios::Override>& point) {
    std::vector<std::string> values;
    for (const auto& [key, value] : point) values.push_back(value);
    return values;
}

/// "unknown key 'tensr' of 'parallel'" of the swept key parallel.tensr; a key within a
/// swept value is the value's mistake.
bool is_about_key(const Diagnostic& mistake, std::string_view swept) {
    for (std::size_t from = 0; from <= swept.size();) {
        const std::size_t dot = std::min(swept.find('.', from), swept.size());
        const std::string_view part = swept.substr(from, dot - from);
        if (mistake.message.starts_with(fmt::format("unknown key '{}'", part))) return true;
        from = dot + 1;
    }
    return false;
}

/// A mistake in a swept key or value, which a point sets like `--set`, at its place in the grid.
Diagnostic placed_in_grid(Diagnostic mistake, const scenarios::Sweep& sweep) {
    for (const scenarios::SweepKey& key : sweep.keys)
        for (std::size_t i = 0; i < key.values.size(); ++i) {
            if (mistake.source_line != key.key + '=' + key.values[i]) continue;
            const Diagnostic& place = is_about_key(mistake, key.key) ? key.place : key.places[i];
            mistake.where = place.where;
            mistake.source_line = place.source_line;
            return mistake;
        }
    return mistake;
}

/// A misspelt key or name is a mistake in the grid, not an impossible plan. Every
/// value is tried once, beside the first values of the other keys.
void check_spelling(const Grid& grid) {
    std::vector<Diagnostic> mistakes;
    const auto try_point = [&](std::size_t index) {
        try {
            (void)grid.instantiate(index);
        } catch (const InputError& error) {
            for (const Diagnostic& found : error.diagnostics()) {
                if (!found.message.starts_with("unknown ")) continue;
                const Diagnostic d = placed_in_grid(found, grid.sweep);
                if (std::ranges::find(mistakes, d) == mistakes.end()) mistakes.push_back(d);
            }
        }
    };
    std::size_t stride = 1;
    for (auto key = grid.sweep.keys.rbegin(); key != grid.sweep.keys.rend(); ++key) {
        for (std::size_t i = 0; i < key->values.size(); ++i) try_point(i * stride);
        stride *= key->values.size();
    }
    if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

/// Flash attention keeps no scores, so that there is nothing to recompute selectively: the
/// point is the same plan as another one of the grid, if that asks for no recomputation.
std::string twin_reason(const Grid& grid, std::size_t index, const scenarios::Scenario& scenario) {
    constexpr std::string_view kKey = "training.recompute";
    if (scenario.training.recompute != models::Recompute::Selective ||
        scenario.training.attention != models::AttentionKernel::Flash)
        return {};
    std::size_t stride = 1;
    for (auto key = grid.sweep.keys.rbegin(); key != grid.sweep.keys.rend(); ++key) {
        const std::size_t value = index / stride % key->values.size();
        const auto none = std::ranges::find(key->values, "none") - key->values.begin();
        const std::size_t twin = index + stride * (static_cast<std::size_t>(none) - value);
        if (key->key == kKey && none < std::ssize(key->values) &&
            std::ranges::binary_search(grid.points, twin))
            return fmt::format("the same plan as {}=none: flash attention keeps no scores", kKey);
        stride *= key->values.size();
    }
    return {};
}

/// A value that is listed twice makes the same point twice; one is enough.
scenarios::Sweep without_repetition(scenarios::Sweep sweep) {
    for (scenarios::SweepKey& key : sweep.keys) {
        scenarios::SweepKey once{key.key, {}, {}, key.place};
        for (std::size_t i = 0; i < key.values.size(); ++i) {
            if (std::ranges::find(once.values, key.values[i]) != once.values.end()) continue;
            once.values.push_back(std::move(key.values[i]));
            once.places.push_back(std::move(key.places[i]));
        }
        key = std::move(once);
    }
    return sweep;
}

}  // namespace

Grid::Grid(const std::string& name_or_path, std::vector<scenarios::Override> pinned_keys)
    : scenario(name_or_path),
      sweep(without_repetition(scenarios::read_sweep(name_or_path))),
      pinned(std::move(pinned_keys)) {
    choose_points(name_or_path);
}

Grid::Grid(const std::string& text, const std::string& file,
           std::vector<scenarios::Override> pinned_keys)
    : scenario(text, file),
      sweep(without_repetition(scenarios::parse_sweep(text, file))),
      pinned(std::move(pinned_keys)) {
    choose_points(file);
}

void Grid::choose_points(const std::string& name) {
    if (sweep.keys.empty())
        throw InputError(
            fmt::format("'{}' has no grid: a 'sweep:' map of keys and their values", name));
    double count = 1;
    for (const scenarios::SweepKey& key : sweep.keys) {
        count *= static_cast<double>(key.values.size());
        for (const auto& [pinned_key, value] : pinned)
            if (pinned_key == key.key)
                throw InputError(fmt::format("--set {}: the grid sweeps this key", pinned_key));
    }
    if (count > static_cast<double>(kMostPoints))
        throw InputError(fmt::format("the grid of '{}' has {:.3g} points, the limit is {}", name,
                                     count, kMostPoints));
    check_spelling(*this);
    for (std::size_t i = 0; i < sweep.points(); ++i)
        if (sweep.admits(i)) points.push_back(i);
    if (points.empty())
        throw InputError(fmt::format("no point of the grid of '{}' meets its conditions", name));
}

scenarios::Scenario Grid::instantiate(std::size_t index) const {
    std::vector<scenarios::Override> overrides = pinned;
    for (scenarios::Override& o : sweep.point(index)) overrides.push_back(std::move(o));
    return scenario.instantiate(overrides);
}

std::vector<std::string> Grid::keys() const {
    std::vector<std::string> names;
    for (const scenarios::SweepKey& key : sweep.keys) names.push_back(key.key);
    return names;
}

namespace {

const std::string& figure_text(const SweepRow& row, std::string_view name) {
    const auto at = std::ranges::find(kFigures, name, &Figure::name) - kFigures.begin();
    return row.figures[static_cast<std::size_t>(at)];
}

}  // namespace

bool SweepRow::is_tight() const {
    return fits && figure_text(*this, "tight") == "true";
}

double SweepRow::figure(std::string_view name) const {
    const std::string& text = figure_text(*this, name);
    double value = std::numeric_limits<double>::quiet_NaN();
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::vector<std::string> figure_names() {
    std::vector<std::string> names;
    for (const Figure& figure : kFigures) names.emplace_back(figure.name);
    return names;
}

std::vector<std::string> csv_columns(std::span<const std::string> keys) {
    std::vector<std::string> columns(keys.begin(), keys.end());
    for (std::string& name : figure_names()) columns.push_back(std::move(name));
    columns.insert(columns.end(), kBesideFigures.begin(), kBesideFigures.end());
    return columns;
}

std::vector<std::string> csv_fields(const SweepRow& row) {
    std::vector<std::string> fields = row.values;
    fields.insert(fields.end(), row.figures.begin(), row.figures.end());
    for (const auto word : kWords) fields.push_back(row.*word);
    fields.insert(fields.end(), {row.fits ? "true" : "false", row.pareto, row.reason});
    return fields;
}

SweepRow row_of_csv(const std::vector<std::string>& fields, std::size_t keys) {
    SweepRow row;
    const auto figures = fields.begin() + static_cast<std::ptrdiff_t>(keys);
    auto at = fields.end() - static_cast<std::ptrdiff_t>(kBesideFigures.size());
    row.values.assign(fields.begin(), figures);
    row.figures.assign(figures, at);
    for (const auto word : kWords) row.*word = *at++;
    row.fits = *at++ == "true";
    row.pareto = *at++;
    row.reason = *at;
    return row;
}

SweepRow evaluate(const Grid& grid, std::size_t index) {
    SweepRow row{index, values_of(grid.sweep.point(index)), {}, false, {}, {}, {}, {}};
    row.figures.resize(kFigures.size());
    try {
        const scenarios::Scenario scenario = grid.instantiate(index);
        const Prediction p =
            predict(scenario, {.keep_trace = false, .only_where_it_decides = true}).prediction;
        for (std::size_t i = 0; i < kFigures.size(); ++i) row.figures[i] = kFigures[i].text(p);
        row.fits = p.fits;
        row.unvalidated = fmt::format("{}", fmt::join(unvalidated_features(scenario), "; "));
        row.reason = p.reason.empty() ? twin_reason(grid, index, scenario) : p.reason;
    } catch (const InputError& error) {
        row.reason = reason_of(error);
    } catch (const scenarios::InvalidSchedule& error) {
        row.reason = one_line(error.what());
    }
    return row;
}

void mark_pareto(std::vector<SweepRow>& rows) {
    struct Candidate {
        double tokens_per_s;
        double peak;
        SweepRow* row;
    };
    std::vector<Candidate> candidates;
    for (SweepRow& row : rows) {
        row.pareto = "false";
        if (row.fits && row.twin_of.empty())
            candidates.push_back(
                {row.figure("tokens_per_s"), row.figure("peak_memory_bytes"), &row});
    }
    // Fastest first; a row is beaten if a faster one, or an equally fast one
    // before it, holds less.
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
        return a.tokens_per_s != b.tokens_per_s ? a.tokens_per_s > b.tokens_per_s : a.peak < b.peak;
    });
    double least = std::numeric_limits<double>::infinity();
    double fastest_with_least = 0;
    for (const Candidate& c : candidates) {
        const bool twin = c.peak == least && c.tokens_per_s == fastest_with_least;
        if (c.peak >= least && !twin) continue;
        least = c.peak;
        fastest_with_least = c.tokens_per_s;
        c.row->pareto = "true";
    }
}

}  // namespace debubble::sim
