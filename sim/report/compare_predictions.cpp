#include "sim/report/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/file.h"
#include "sim/report/plan_json.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kRounding = 1e-9;  ///< as a share

struct ComparedFigure {
    std::string_view name;
    FigureUnit unit;
};
constexpr std::array kParts{"busy_s", "exposed_comm_s", "optimizer_s", "idle_s"};
constexpr std::array kCompared{
    ComparedFigure{"tokens_per_s", FigureUnit::Rate}, ComparedFigure{"mfu", FigureUnit::Share},
    ComparedFigure{"hfu", FigureUnit::Share}, ComparedFigure{"bubble", FigureUnit::Share},
    ComparedFigure{"memory_left_bytes", FigureUnit::Bytes}};
constexpr std::array kHeld{"parameters",  "gradients", "optimizer",
                           "activations", "buffers",   "workspace"};

[[noreturn]] void refuse(const PredictionFigures& of, std::string_view what) {
    throw InputError(fmt::format("{}: '{}' is missing, which predictions have", of.file, what));
}

std::optional<double> number(const Json& json, std::string_view key) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
}

const Json& ranks(const PredictionFigures& of) {
    const auto found = of.json.find("ranks");
    if (found == of.json.end() || !found->is_array() || found->empty()) refuse(of, "ranks");
    return *found;
}

double mean_of_ranks(const PredictionFigures& of, std::string_view key) {
    double sum = 0;
    for (const Json& rank : ranks(of)) {
        const auto value = number(rank, key);
        if (!value) refuse(of, key);
        sum += *value;
    }
    return sum / static_cast<double>(ranks(of).size());
}

double peak_of(const PredictionFigures& of, const Json& rank) {
    const auto held = number(rank, "peak_memory_bytes");
    if (!held) refuse(of, "peak_memory_bytes");
    return *held;
}

const Json& fullest(const PredictionFigures& of) {
    return *std::ranges::max_element(ranks(of), {},
                                     [&](const Json& rank) { return peak_of(of, rank); });
}

/// The most that a rank's allocator reserves; unset where none was played.
std::optional<double> most_reserved_of_ranks(const PredictionFigures& of) {
    std::optional<double> most;
    for (const Json& rank : ranks(of)) most = std::max(most, number(rank, "reserved_memory_bytes"));
    return most;
}

std::map<std::string, std::string> flat_plan(const PredictionFigures& of) {
    const auto plan = of.json.find("plan");
    if (plan == of.json.end() || !plan->is_object()) return {};
    return plan_values(*plan);
}

std::vector<std::string> plan_changes(const PredictionFigures& before,
                                      const PredictionFigures& after) {
    const auto a = flat_plan(before), b = flat_plan(after);
    std::vector<std::string> changes;
    const auto value = [](const auto& keys, const std::string& name) {
        const auto found = keys.find(name);
        return found == keys.end() ? std::string("not given") : found->second;
    };
    std::map<std::string, std::string> all = a;
    all.insert(b.begin(), b.end());
    for (const auto& [name, unused] : all)
        if (value(a, name) != value(b, name))
            changes.push_back(fmt::format("{}: {} -> {}", name, value(a, name), value(b, name)));
    return changes;
}

FigureUnit unit_of(std::string_view name) {
    for (const ComparedFigure& known : kCompared)
        if (known.name == name) return known.unit;
    return name.ends_with("_s") ? FigureUnit::Seconds : FigureUnit::Bytes;
}

std::string moved_by(const FigureChange& change, FigureUnit unit) {
    if (unit == FigureUnit::Share)
        return fmt::format("{:+.2f} points", 100 * (change.after - change.before));
    if (change.before == 0) return change.after == 0 ? "" : "from nothing";
    return fmt::format("{:+.2f} %", 100 * (change.after / change.before - 1));
}

}  // namespace

std::optional<PredictionFigures> read_prediction(const std::string& file) {
    std::string text;
    try {
        text = read_file(file);
    } catch (const InputError&) {
        return std::nullopt;  // its reader reports the mistake
    }
    const std::string_view start = std::string_view(text).substr(0, 4096);
    if (start.find("\"debubble/prediction\"") == std::string_view::npos) return std::nullopt;
    PredictionFigures of{file, {}, Json::parse(text, nullptr, false)};
    if (of.json.is_discarded()) throw InputError(fmt::format("{}: it is not JSON", file));
    if (of.json.is_array())
        throw InputError(fmt::format("{}: it holds several predictions: give files of one", file));
    if (!of.json.is_object() || !number(of.json, "step_time_s")) refuse(of, "step_time_s");
    if (const auto name = of.json.find("scenario"); name != of.json.end() && name->is_string())
        of.scenario = name->get<std::string>();
    return of;
}

PredictionChange compare_predictions(const PredictionFigures& before,
                                     const PredictionFigures& after) {
    PredictionChange change;
    const auto add = [&](std::string name, double was, double is, bool part) {
        change.figures.push_back({std::move(name), was, is, part});
        change.moved |= std::abs(is - was) > kRounding * std::max(std::abs(was), std::abs(is));
    };
    add("step_time_s", *number(before.json, "step_time_s"), *number(after.json, "step_time_s"),
        false);
    for (const char* part : kParts)
        add(part, mean_of_ranks(before, part), mean_of_ranks(after, part), true);
    for (const ComparedFigure& known : kCompared) {
        const auto was = number(before.json, known.name), is = number(after.json, known.name);
        if (was && is) add(std::string(known.name), *was, *is, false);
    }
    const Json &fuller_before = fullest(before), &fuller_after = fullest(after);
    add("peak_memory_bytes", peak_of(before, fuller_before), peak_of(after, fuller_after), false);
    for (const char* held : kHeld) {
        const auto of = [&](const Json& rank) {
            const auto memory = rank.find("memory");
            return memory == rank.end() ? std::nullopt : number(*memory, held);
        };
        const auto was = of(fuller_before), is = of(fuller_after);
        if (was && is) add(fmt::format("{}_bytes", held), *was, *is, false);
    }
    const auto was = most_reserved_of_ranks(before), is = most_reserved_of_ranks(after);
    if (was && is) add("reserved_memory_bytes", *was, *is, false);
    change.plan = plan_changes(before, after);
    const auto fits = [](const PredictionFigures& of) { return of.json.value("fits", true); };
    if (fits(before) && !fits(after)) change.fits.emplace_back("it no longer fits");
    if (!fits(before) && fits(after)) change.fits.emplace_back("it fits now");
    return change;
}

std::string to_text(const PredictionFigures& before, const PredictionFigures& after,
                    const PredictionChange& change) {
    std::string text =
        fmt::format("{} ({}) and {} ({})\n\n{:<22} {:>16} {:>16} {:>14}\n", before.file,
                    before.scenario, after.file, after.scenario, "", "before", "after", "change");
    for (const FigureChange& one : change.figures) {
        const FigureUnit unit = unit_of(one.name);
        text += fmt::format("{:<22} {:>16} {:>16} {:>14}\n", (one.is_part ? "  " : "") + one.name,
                            figure_text(one.before, unit), figure_text(one.after, unit),
                            moved_by(one, unit));
    }
    text += change.plan.empty() ? "\nthe plans are equal\n" : "\nthe plans differ:\n";
    for (const std::string& key : change.plan) text += "  " + key + "\n";
    for (const std::string& sentence : change.fits) text += sentence + "\n";
    if (!change.moved) text += "no figure has moved\n";
    return text;
}

Json to_json(const PredictionChange& change) {
    Json figures = Json::array();
    for (const FigureChange& one : change.figures)
        figures.push_back({{"figure", one.name},
                           {"before", one.before},
                           {"after", one.after},
                           {"is_part", one.is_part}});
    return {{"figures", std::move(figures)},
            {"plan", change.plan},
            {"fits", change.fits},
            {"moved", change.moved}};
}

}  // namespace debubble::sim
