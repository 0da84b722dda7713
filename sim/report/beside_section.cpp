#include "sim/report/beside_section.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "text/wording.h"
#include "trace/page/encode.h"

namespace debubble::sim {
namespace {

using picture::TimelineDocument;

enum class Measure { Seconds, Share, Rate, Bytes };

std::string beside_text(double value, Measure measure) {
    switch (measure) {
        case Measure::Seconds: return value == 0 ? "0" : text::time_text(value);
        case Measure::Share: return text::percent(value);
        case Measure::Rate: return text::rate_text(value);
        case Measure::Bytes:
            return text::gib_text(Bytes{static_cast<std::int64_t>(value)}) + " GiB";
    }
    return {};
}

/// "+3.2 %", or "+1.4 points" of a share.
std::string change_text(double first, double other, Measure measure) {
    if (measure == Measure::Share) return fmt::format("{:+.1f} points", 100 * (other - first));
    if (first == other) return "the same";
    return first == 0 ? "from nothing" : fmt::format("{:+.1f} %", 100 * (other / first - 1));
}

/// A figure of every timeline; nothing where a timeline does not know it.
struct BesideRow {
    std::string name;
    Measure measure{};
    std::vector<std::optional<double>> values;
    bool heads = false;  ///< the rows below are its parts

    bool is_known() const {
        return std::ranges::any_of(values, [](const auto& value) { return value.has_value(); });
    }
    bool is_nothing() const {
        return std::ranges::all_of(values,
                                   [](const auto& value) { return value.value_or(0) == 0; });
    }
};

/// Kinds of passes, as Pass counts them, and recomputed forwards.
constexpr std::array kPassNames{"F", "B", "I", "W", "R"};
using PassTimes = ArrayBy<Pass, Duration, kPassNames.size()>;

/// The time of the passes of the ranks that statistics are of. Two that run together take half of
/// their time each.
PassTimes pass_times(const TimelineDocument& document) {
    PassTimes times{};
    for (const picture::Device& device : document.devices) {
        if (device.statistics == nullptr) continue;
        for (const picture::Bar& bar : device.work) {
            const Duration length = bar.end - bar.begin;
            const auto of = [&](const Compute& c) -> Duration& { return times[c.pass]; };
            std::visit(
                Overloaded{[&](const Compute& c) { of(c) += length; },
                           [&](const Overlap& both) {
                               of(both.first) += length / 2;
                               of(both.second) += length - length / 2;
                           },
                           [&](const Recompute&) { times.back() += length; }, [](const auto&) {}},
                document.span(bar.span).action);
        }
    }
    return times;
}

DurationByKind exposed_of(const TimelineDocument& document) {
    DurationByKind sums{};
    for (const picture::Device& device : document.devices)
        for (std::size_t k = 0; k < kCommunicationKinds; ++k) sums[k] += device.exposed_by[k];
    return sums;
}

class BesideTable {
public:
    explicit BesideTable(std::span<const TimelineBeside> timelines) : timelines_(timelines) {}

    std::string html() {
        step();
        parts();
        computes();
        memory();
        std::string out = "<div class=\"wide\"><table>\n<thead><tr><th></th>";
        for (std::size_t i = 0; i < timelines_.size(); ++i) {
            out += fmt::format("<th>{}</th>", page::escaped(timelines_[i].name));
            if (i > 0) out += "<th>difference</th>";
        }
        out += "</tr></thead>\n<tbody>\n";
        for (const BesideRow& row : rows_) out += html_of(row);
        return out + "</tbody></table></div>\n";
    }

private:
    using Figure = std::function<std::optional<double>(const TimelineBeside&)>;

    void add(std::string name, Measure measure, const Figure& of, bool heads = false) {
        BesideRow row{std::move(name), measure, {}, heads};
        for (const TimelineBeside& one : timelines_) row.values.push_back(of(one));
        if (row.is_known() && (heads || !row.is_nothing())) rows_.push_back(std::move(row));
    }

    void of_plan(const char* name, Measure measure,
                 const std::function<std::optional<double>(const Prediction&)>& of) {
        add(name, measure, [&](const TimelineBeside& one) {
            return one.prediction != nullptr ? of(*one.prediction) : std::nullopt;
        });
    }

    void step() {
        add(
            "step", Measure::Seconds,
            [](const TimelineBeside& one) { return seconds(one.document->statistics.step); }, true);
        of_plan("tokens per second", Measure::Rate,
                [](const Prediction& p) { return std::optional(p.tokens_per_s); });
        of_plan("MFU", Measure::Share, [](const Prediction& p) { return p.mfu; });
        add("bubble", Measure::Share,
            [](const TimelineBeside& one) { return one.document->statistics.bubble; });
    }

    /// A time of all ranks as its mean.
    void mean(std::string name, const std::function<Duration(const TimelineDocument&)>& sum,
              bool heads = false) {
        add(
            std::move(name), Measure::Seconds,
            [&](const TimelineBeside& one) -> std::optional<double> {
                const std::size_t ranks = one.document->statistics.ranks.size();
                if (ranks == 0) return std::nullopt;
                return seconds(sum(*one.document)) / static_cast<double>(ranks);
            },
            heads);
    }
    void mean_of_ranks(std::string name, Duration RankStatistics::*part) {
        mean(std::move(name), [part](const TimelineDocument& document) {
            Duration sum{};
            for (const RankStatistics& rank : document.statistics.ranks) sum += rank.*part;
            return sum;
        });
    }

    void parts() {
        mean_of_ranks("compute, mean of the ranks", &RankStatistics::busy);
        mean_of_ranks("exposed communication", &RankStatistics::exposed);
        for (std::size_t k = 0; k < kCommunicationKinds; ++k) {
            std::string name(name_of(static_cast<CommunicationKind>(k)));
            if (static_cast<CommunicationKind>(k) != CommunicationKind::Host)
                for (char& c : name)
                    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            mean("of it " + name,
                 [k](const TimelineDocument& document) { return exposed_of(document)[k]; });
        }
        mean_of_ranks("optimizer", &RankStatistics::optimizer);
        mean_of_ranks("idle", &RankStatistics::idle);
        for (std::size_t c = 0; c < kBubbleCauses; ++c)
            mean(fmt::format("of it {}", wording_of(static_cast<BubbleCause>(c))),
                 [c](const TimelineDocument& document) {
                     return idle_by_cause(document.statistics)[c];
                 });
    }

    void computes() {
        for (std::size_t kind = 0; kind < kPassNames.size(); ++kind)
            mean(fmt::format("{} passes, mean of the ranks", kPassNames[kind]),
                 [kind](const TimelineDocument& document) { return pass_times(document)[kind]; });
    }

    void memory() {
        add("peak memory of the fullest rank", Measure::Bytes,
            [](const TimelineBeside& one) -> std::optional<double> {
                std::optional<Bytes> most;
                for (const picture::Device& device : one.document->devices)
                    if (device.peak != nullptr)
                        most = std::max(most.value_or(Bytes{}), total(device.peak->held));
                if (!most) return std::nullopt;
                return static_cast<double>(most->count);
            });
        of_plan("reserved by the allocator there", Measure::Bytes,
                [](const Prediction& p) -> std::optional<double> {
                    Bytes most;
                    for (const RankPrediction& rank : p.ranks)
                        most = std::max(most, rank.reserved.value_or(Bytes{}));
                    return static_cast<double>(most.count);
                });
    }

    static std::string html_of(const BesideRow& row) {
        std::string out = fmt::format("<tr{}><td>{}</td>", row.heads ? " class=\"present\"" : "",
                                      page::escaped(row.name));
        for (std::size_t i = 0; i < row.values.size(); ++i) {
            const std::optional<double>& value = row.values[i];
            out +=
                fmt::format("<td>{}</td>", value ? beside_text(*value, row.measure) : "not known");
            if (i == 0) continue;
            const bool both = value && row.values.front();
            out += fmt::format("<td>{}</td>",
                               both ? change_text(*row.values.front(), *value, row.measure) : "");
        }
        return out + "</tr>\n";
    }

    std::span<const TimelineBeside> timelines_;
    std::vector<BesideRow> rows_;
};

}  // namespace

std::string beside_section(std::span<const TimelineBeside> timelines) {
    return "<p>Times are means of the ranks, so that parts of a step add up to it however the "
           "layers are cut into stages. Differences are to the first one.</p>\n" +
           BesideTable(timelines).html();
}

}  // namespace debubble::sim
