#include "sim/grid/grid.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/check/framework_checks.h"
#include "scenarios/plan/packing.h"
#include "scenarios/plan/plan.h"
#include "sim/explain/explain.h"
#include "sim/explain/plan_run.h"
#include "sim/plan/plan_words.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kMostPoints = 10'000'000;
constexpr std::string_view kRecomputeKey = "training.recompute";

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

std::vector<std::string> values_of(const std::vector<scenarios::Override>& point) {
    std::vector<std::string> values;
    for (const auto& [key, value] : point) values.push_back(value);
    return values;
}

/// True if the mistake is in the key of "key=value" and not in the value after it.
bool is_about_key(const Diagnostic& mistake, std::string_view swept) {
    return std::cmp_less_equal(mistake.where.column, swept.size());
}

/// A mistake in a swept key or value, which a point sets like `--set`, located in the grid.
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

/// A misspelt key or name, or a value that is wrong in any plan, is a mistake in the grid, not an
/// impossible plan. Every value is tried once, with the first values of the other keys.
void check_spelling(const Grid& grid) {
    std::vector<Diagnostic> mistakes;
    const auto try_point = [&](std::size_t index) {
        try {
            (void)grid.instantiate(index);
        } catch (const InputError& error) {
            for (const Diagnostic& found : error.diagnostics()) {
                if (found.kind == Diagnostic::Kind::Mistake) continue;
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

scenarios::Sweep with_keys(scenarios::Sweep sweep, const std::vector<scenarios::SweepKey>& more) {
    for (const scenarios::SweepKey& key : more) {
        const auto own = std::ranges::find(sweep.keys, key.key, &scenarios::SweepKey::key);
        if (own == sweep.keys.end())
            sweep.keys.push_back(key);
        else
            *own = key;
    }
    return sweep;
}

/// A value that is listed twice makes the same point twice; one point suffices.
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

Grid::Grid(const std::string& name_or_path, std::vector<scenarios::Override> pinned_keys,
           const std::vector<scenarios::SweepKey>& swept)
    : scenario(name_or_path),
      sweep(without_repetition(with_keys(scenario.sweep(), swept))),
      pinned(std::move(pinned_keys)) {
    choose_points(name_or_path);
    const std::filesystem::path file = scenarios::find_scenario(name_or_path);
    basis = basis_of(read_file(file), file.string(), pinned);
    add_files_read(basis, file);
}

Grid::Grid(const std::string& text, const std::string& file,
           std::vector<scenarios::Override> pinned_keys)
    : scenario(text, file),
      sweep(without_repetition(scenario.sweep())),
      pinned(std::move(pinned_keys)) {
    choose_points(file);
    basis = basis_of(text, file, pinned);
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

bool sweeps_loads(const Grid& grid) {
    return std::ranges::any_of(grid.sweep.keys, [](const scenarios::SweepKey& key) {
        return key.key == "imbalance" || key.key.starts_with("imbalance.");
    });
}

bool draws_steps(const Grid& grid, const scenarios::Scenario& scenario) {
    if (!scenario.imbalance.any()) return false;
    if (sweeps_loads(grid) || scenarios::packs_in_step(scenario)) return true;
    return scenario.imbalance.documents &&
           std::ranges::any_of(grid.sweep.keys, [](const scenarios::SweepKey& key) {
               return key.key == "parallel.dynamic_context_parallel";
           });
}

std::string not_ranked(const Grid& grid, const scenarios::Scenario& scenario) {
    return grid.any_schedule ? std::string() : scenarios::lacking_schedule(scenario);
}

std::optional<std::size_t> without_recompute(const Grid& grid, std::size_t index) {
    std::size_t stride = 1;
    for (auto key = grid.sweep.keys.rbegin(); key != grid.sweep.keys.rend(); ++key) {
        const std::size_t value = index / stride % key->values.size();
        const auto none = std::ranges::find(key->values, "none") - key->values.begin();
        const std::size_t other = index + stride * (none - value);
        if (key->key == kRecomputeKey && none < std::ssize(key->values) && other != index &&
            std::ranges::binary_search(grid.points, other))
            return other;
        stride *= key->values.size();
    }
    return std::nullopt;
}

std::optional<std::size_t> same_without_recompute(const Grid& grid, std::size_t index,
                                                  const scenarios::Scenario& scenario) {
    if (scenario.training.recompute != models::Recompute::Selective ||
        scenario.training.attention != models::AttentionKernel::Flash)
        return std::nullopt;
    return without_recompute(grid, index);
}

namespace {

/// The figures of a known row are those of its duplicate, unless words or a measured step that
/// depend on the keys are among them.
bool has_figures_of(const Grid& grid, const scenarios::Scenario& scenario,
                    const SweepRow& duplicate) {
    return duplicate.possible() && !grid.correction &&
           scenario.parallel.partition != scenarios::Partition::Balanced;
}

void fill_figures(SweepRow& row, const Grid& grid, const scenarios::Scenario& scenario,
                  const ChoicesDone& choosing, const KnownRow& known) {
    const auto duplicate = same_without_recompute(grid, row.index, scenario);
    if (duplicate)
        row.reason =
            fmt::format("the same plan as {}=none: flash attention keeps no scores", kRecomputeKey);
    const auto same = duplicate && known ? known(*duplicate) : std::nullopt;
    if (same && has_figures_of(grid, scenario, *same)) {
        row.figures = same->figures;
        row.fits = same->fits;
        if (!same->reason.empty()) row.reason = same->reason;
        return;
    }
    Prediction p = predict(scenario, {.keep_trace = false,
                                      .draw_loads = draws_steps(grid, scenario),
                                      .explain = false,
                                      .only_where_it_decides = true,
                                      .choosing = choosing})
                       .prediction;
    if (grid.correction) {
        grid.correction->apply(scenario, p);
        plan_run(scenario, p);
    }
    row.figures.emplace(p);
    if (p.cut) *row.plan += "; balanced is " + p.cut->list();
    if (p.recompute) *row.plan += "; auto chose " + p.recompute->words;
    row.fits = p.fits;
    if (!p.reason.empty()) row.reason = p.reason;
}

}  // namespace

SweepRow evaluate(const Grid& grid, std::size_t index, const ChoicesDone& choosing,
                  const KnownRow& known) {
    SweepRow row{index, values_of(grid.sweep.point(index)), {}, false, {}, {}, {}, {}};
    const auto impossible = [&](std::string reason) {
        row.reason = std::move(reason);
        row.plan.reset();
        row.unvalidated.clear();
    };
    try {
        const scenarios::Scenario scenario = grid.instantiate(index);
        row.reason = not_ranked(grid, scenario);
        if (!row.reason.empty()) return row;
        row.plan = whole_plan_of(scenario);
        row.unvalidated = fmt::format("{}", fmt::join(unvalidated_features(scenario), "; "));
        fill_figures(row, grid, scenario, choosing, known);
    } catch (const InputError& error) {
        impossible(reason_of(error));
    } catch (const scenarios::InvalidSchedule& error) {
        impossible(one_line(error.what()));
    }
    return row;
}

}  // namespace debubble::sim
