#include "trace/page/bar_columns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "trace/page/action_classes.h"
#include "trace/picture/colours.h"

namespace debubble::page {
namespace {

using Json = nlohmann::ordered_json;
using picture::Bar;
using picture::Bars;
using picture::Device;
using picture::Theme;
using picture::TimelineDocument;

/// The colours of a document's bars in all themes of a page.
class Coloured {
public:
    explicit Coloured(const TimelineDocument& document) {
        const auto none = std::make_shared<const std::vector<bool>>(document.trace.spans.size());
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            picture::ColourScheme scheme{theme};
            made_.push_back(colour(document, scheme));
            scheme.meant = none;
            made_.push_back(colour(document, scheme));
        }
    }

    template <class Sums>
    BarColours of(std::size_t device, std::size_t bar, Sums&& sums) const {
        const auto one = [&](std::size_t i) { return sums(made_[i]->devices[device]).colour(bar); };
        return {one(0), one(2), one(1), one(3)};
    }
    bool has_second(std::size_t device) const {
        return made_.front()->devices[device].lower_half.has_value();
    }

private:
    std::vector<std::shared_ptr<const picture::Colouring>> made_;
};

/// Numbers values in the order of their first occurrence.
template <class Value>
class Distinct {
public:
    std::uint64_t number(const Value& value) {
        const auto [place, added] = numbers_.try_emplace(value, values_.size());
        if (added) values_.push_back(value);
        return place->second;
    }
    const std::vector<Value>& values() const { return values_; }

private:
    std::map<Value, std::uint64_t> numbers_;
    std::vector<Value> values_;
};

class BarWriter {
public:
    BarWriter(const TimelineDocument& document, const BarNumbers& numbers)
        : document_(document), numbers_(numbers), coloured_(document) {}

    void write(Json& json, Columns& columns) {
        for (const Device* device : numbers_.devices()) {
            const std::size_t at = device - document_.devices.data();
            track(device->work, [&](std::size_t i) { return colours_of_work(at, i); });
            for (std::size_t s = 0; s < device->streams.size(); ++s)
                track(device->streams[s].bars, [&](std::size_t i) {
                    return std::pair(
                        coloured_.of(
                            at, i,
                            [s](const picture::DeviceColours& c) -> auto& { return c.streams[s]; }),
                        std::optional<BarColours>());
                });
        }
        for (const Column* column : {&sizes_, &gaps_, &lengths_, &classes_, &values_, &exposures_,
                                     &bytes_, &waits_, &needs_, &operators_})
            columns.append(*column);
        json["classes"] = classes_of_.json();
        json["exposures"] = exposures_json();
        json["bytes"] = Json::array();
        for (const std::int64_t bytes : sizes_of_messages_.values()) json["bytes"].push_back(bytes);
        json["operators"] = operators_json();
    }

private:
    std::pair<BarColours, std::optional<BarColours>> colours_of_work(std::size_t device,
                                                                     std::size_t bar) const {
        const auto upper = [](const picture::DeviceColours& c) -> auto& {
            return c.work;
        };
        const auto lower = [](const picture::DeviceColours& c) -> auto& {
            return *c.lower_half;
        };
        std::optional<BarColours> second;
        if (coloured_.has_second(device)) second = coloured_.of(device, bar, lower);
        return {coloured_.of(device, bar, upper), second};
    }

    template <class Colours>
    void track(const Bars& bars, Colours&& colours) {
        sizes_.add(bars.size());
        Instant reached = document_.range.begin;
        std::unordered_map<std::uint32_t, std::vector<std::int64_t>> before;
        for (std::size_t i = 0; i < bars.size(); ++i) {
            const Span& span = document_.span(bars[i].span);
            gaps_.add_signed((bars[i].begin - reached).count());
            lengths_.add(static_cast<std::uint64_t>((bars[i].end - bars[i].begin).count()));
            reached = bars[i].end;
            auto [first, second] = colours(i);
            if (!std::holds_alternative<Overlap>(span.action)) second.reset();
            const ActionClasses::Found found = classes_of_.of(span.action, first, second);
            classes_.add(found.number);
            add_values(before[found.number], found.values);
            exposures_.add(exposure(span));
            bytes_.add(span.bytes.count > 0 ? 1 + sizes_of_messages_.number(span.bytes.count) : 0);
            waits_.add_signed(document_.waits[bars[i].span].count());
            add_needs(bars[i].span);
            operators_.add(operators_of(span.action));
        }
    }

    /// Writes the numbers of an action as differences from the last action of its class on the
    /// track.
    void add_values(std::vector<std::int64_t>& before, const std::vector<std::int64_t>& values) {
        before.resize(values.size());
        for (std::size_t k = 0; k < values.size(); ++k) {
            values_.add_signed(values[k] - before[k]);
            before[k] = values[k];
        }
    }

    std::uint64_t exposure(const Span& span) {
        if (span.exposed <= Duration{}) return 0;
        return 1 + exposed_.number({span.exposed, document_.trace.exposed_by(span)});
    }

    /// Writes twice the number of needs, plus 1 if the bar before is one of them (which is then not
    /// counted); then the other needs.
    void add_needs(std::uint32_t span) {
        const std::int64_t own = *numbers_.of(span);
        std::vector<std::int64_t> needs = numbers_.needs(span);
        const auto before = std::ranges::find(needs, own - 1);
        const bool follows = before != needs.end();
        if (follows) needs.erase(before);
        needs_.add(2 * needs.size() + (follows ? 1 : 0));
        for (const std::int64_t needed : needs) needs_.add_signed(needed - own);
    }

    std::uint64_t operators_of(const Action& action) {
        const picture::OperatorParts* parts =
            document_.operators ? document_.operators->of(action) : nullptr;
        return parts == nullptr || parts->empty() ? 0 : 1 + operator_lists_.number(parts);
    }

    Json exposures_json() const {
        Json all = Json::array();
        for (const auto& [exposed, by_kind] : exposed_.values()) {
            Json one{exposed.count()};
            for (const Duration part : by_kind) one.push_back(part.count());
            all.push_back(std::move(one));
        }
        return all;
    }

    Json operators_json() const {
        Json all = Json::array();
        for (const picture::OperatorParts* parts : operator_lists_.values()) {
            Json list = Json::array();
            for (const picture::OperatorPart& part : *parts)
                list.push_back({part.name, part.communicates ? 1 : 0, rounded(part.begin),
                                rounded(part.end), rounded(part.hidden)});
            all.push_back(std::move(list));
        }
        return all;
    }
    static double rounded(double share) {
        constexpr double kParts = 1e7;
        return std::round(share * kParts) / kParts;
    }

    const TimelineDocument& document_;
    const BarNumbers& numbers_;
    Coloured coloured_;
    ActionClasses classes_of_;
    Distinct<std::pair<Duration, DurationByKind>> exposed_;
    Distinct<std::int64_t> sizes_of_messages_;
    Distinct<const picture::OperatorParts*> operator_lists_;
    Column sizes_, gaps_, lengths_, classes_, values_, exposures_, bytes_, waits_, needs_,
        operators_;
};

}  // namespace

BarNumbers::BarNumbers(const TimelineDocument& document)
    : document_(document), numbers_(document.trace.spans.size(), -1) {
    std::int64_t next = 0;
    const auto number = [&](const Bars& bars) {
        for (const Bar& bar : bars) numbers_[bar.span] = next++;
    };
    for (const Device& device : document.devices) {
        if (document.device_of(device.rank) != &device) continue;
        devices_.push_back(&device);
        number(device.work);
        for (const picture::Stream& stream : device.streams) number(stream.bars);
    }
}

std::vector<std::int64_t> BarNumbers::needs(std::uint32_t span) const {
    constexpr std::size_t kMost = 64;  // spans in a chain of spans without length
    std::vector<std::int64_t> found;
    std::vector<std::uint32_t> open = document_.links.needs(span);
    for (std::size_t i = 0; i < open.size() && i < kMost; ++i) {
        if (const auto number = of(open[i])) {
            if (std::ranges::find(found, *number) == found.end()) found.push_back(*number);
            continue;
        }
        for (const std::uint32_t before : document_.links.needs(open[i]))
            if (std::ranges::find(open, before) == open.end()) open.push_back(before);
    }
    return found;
}

void write_bars(const TimelineDocument& document, const BarNumbers& numbers, Json& json,
                Columns& columns) {
    BarWriter(document, numbers).write(json, columns);
}

}  // namespace debubble::page
