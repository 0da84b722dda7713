#include "sim/report/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "text/quantity.h"

namespace debubble::sim {
namespace {

struct Of {
    const Prediction& prediction;
    int gpus = 1;
};

double mean(const Prediction& p, double RankPrediction::*seconds) {
    double sum = 0;
    for (const RankPrediction& rank : p.ranks) sum += rank.*seconds;
    return p.ranks.empty() ? 0 : sum / static_cast<double>(p.ranks.size());
}

double most_held(const Prediction& p) {
    Bytes most;
    for (const RankPrediction& rank : p.ranks) most = std::max(most, rank.peak_memory);
    return static_cast<double>(most.count);
}

/// Unset where no allocator was played.
std::optional<double> most_reserved_by_rank(const Prediction& p) {
    std::optional<Bytes> most;
    for (const RankPrediction& rank : p.ranks) most = std::max(most, rank.reserved);
    if (!most) return std::nullopt;
    return static_cast<double>(most->count);
}

struct KnownFigure {
    std::string_view name;
    FigureUnit unit;
    std::optional<double> (*value)(const Of&);
};
constexpr std::array kFigures{
    KnownFigure{"step", FigureUnit::Seconds,
                [](const Of& o) { return std::optional(o.prediction.step_time_s); }},
    KnownFigure{"exposed", FigureUnit::Seconds,
                [](const Of& o) {
                    return std::optional(mean(o.prediction, &RankPrediction::exposed_comm_s));
                }},
    KnownFigure{
        "idle", FigureUnit::Seconds,
        [](const Of& o) { return std::optional(mean(o.prediction, &RankPrediction::idle_s)); }},
    KnownFigure{"peak", FigureUnit::Bytes,
                [](const Of& o) { return std::optional(most_held(o.prediction)); }},
    KnownFigure{"reserved", FigureUnit::Bytes,
                [](const Of& o) { return most_reserved_by_rank(o.prediction); }},
    KnownFigure{"left", FigureUnit::Bytes,
                [](const Of& o) {
                    return std::optional(static_cast<double>(o.prediction.memory_left.count));
                }},
    KnownFigure{"tokens_per_s", FigureUnit::Rate,
                [](const Of& o) { return std::optional(o.prediction.tokens_per_s); }},
    KnownFigure{"tokens_per_s_per_gpu", FigureUnit::Rate,
                [](const Of& o) { return std::optional(o.prediction.tokens_per_s / o.gpus); }},
    KnownFigure{"mfu", FigureUnit::Share, [](const Of& o) { return o.prediction.mfu; }},
    KnownFigure{"bubble", FigureUnit::Share,
                [](const Of& o) { return std::optional(o.prediction.bubble); }},
};

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

[[noreturn]] void refuse(std::string_view words, const std::string& why) {
    throw InputError(fmt::format("--expect '{}': {}", words, why));
}

const KnownFigure& figure_named(std::string_view name, std::string_view words) {
    const auto* const found = std::ranges::find(kFigures, name, &KnownFigure::name);
    if (found != kFigures.end()) return *found;
    std::vector<std::string> known{"fits"};
    for (const KnownFigure& figure : kFigures) known.emplace_back(figure.name);
    const auto guess = did_you_mean(name, known);
    refuse(words,
           guess ? fmt::format("unknown figure '{}'; did you mean '{}'?", name, *guess)
                 : fmt::format("unknown figure '{}'; known: {}", name, fmt::join(known, ", ")));
}

template <class T>
T taken(const text::Parsed<T>& parsed, std::string_view words) {
    if (!parsed.value) refuse(words, parsed.mistake);
    return *parsed.value;
}

double number_of(std::string_view text, FigureUnit unit, std::string_view words) {
    if (unit == FigureUnit::Seconds) return seconds(taken(text::parse_duration(text), words));
    if (unit == FigureUnit::Bytes)
        return static_cast<double>(taken(text::parse_bytes(text), words).count);
    const bool percent = unit == FigureUnit::Share && text.ends_with('%');
    if (percent) text = trimmed(text.substr(0, text.size() - 1));
    std::string digits(text);
    std::erase(digits, ',');
    const auto value = text::parse_real(digits);
    if (!value) refuse(words, fmt::format("'{}' is not a number", text));
    if (unit == FigureUnit::Share && !percent && std::abs(*value) > 1)
        refuse(words, fmt::format("a share is a number from 0 to 1, or has a %: {} is {:.4g} %; "
                                  "for {} % write {}%",
                                  text, 100 * *value, text, text));
    return percent ? *value / 100 : *value;
}

Expectation parse_one(std::string_view words) {
    using Is = Expectation::Is;
    if (words == "fits") return {std::string(words), "fits", Is::True, 0};
    const std::size_t at = words.find_first_of("<>");
    if (at == std::string_view::npos)
        refuse(words, "give a figure, < or >, and a number, as step<15.5s; or the word fits");
    const bool equal = at + 1 < words.size() && words[at + 1] == '=';
    const std::string_view name = trimmed(words.substr(0, at));
    const KnownFigure& figure = figure_named(name, words);
    const Is is = words[at] == '<' ? (equal ? Is::LessOrEqual : Is::Less)
                                   : (equal ? Is::GreaterOrEqual : Is::Greater);
    return {std::string(words), std::string(name), is,
            number_of(trimmed(words.substr(at + (equal ? 2 : 1))), figure.unit, words)};
}

bool meets(const Expectation& one, double value) {
    using Is = Expectation::Is;
    switch (one.is) {
        case Is::Less: return value < one.bound;
        case Is::LessOrEqual: return value <= one.bound;
        case Is::Greater: return value > one.bound;
        case Is::GreaterOrEqual: return value >= one.bound;
        case Is::True: break;
    }
    return true;
}

}  // namespace

std::vector<Expectation> parse_expectations(std::string_view text) {
    std::vector<Expectation> all;
    while (!text.empty()) {
        // A comma inside a number, as in 60,000, is followed by a digit.
        std::size_t end = text.find(',');
        while (end != std::string_view::npos && end + 1 < text.size() && text[end + 1] >= '0' &&
               text[end + 1] <= '9')
            end = text.find(',', end + 1);
        const std::string_view words = trimmed(text.substr(0, end));
        if (!words.empty()) all.push_back(parse_one(words));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (all.empty())
        throw InputError("--expect is empty: give one as step<15.5s, peak<70GiB, fits");
    return all;
}

std::vector<std::string> unmet(const std::vector<Expectation>& expected,
                               const Prediction& prediction, int gpus) {
    std::vector<std::string> sentences;
    for (const Expectation& one : expected) {
        if (one.figure == "fits") {
            if (!prediction.fits)
                sentences.push_back(fmt::format("fits: it does not: {}", prediction.reason));
            continue;
        }
        const KnownFigure& figure = figure_named(one.figure, one.words);
        const auto value = figure.value({prediction, gpus});
        if (!value)
            sentences.push_back(fmt::format("{}: it is not known", one.words));
        else if (!meets(one, *value))
            sentences.push_back(
                fmt::format("{}: it is {}", one.words, figure_text(*value, figure.unit)));
    }
    return sentences;
}

}  // namespace debubble::sim
