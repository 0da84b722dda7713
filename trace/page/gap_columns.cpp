#include <algorithm>

#include <nlohmann/json.hpp>

#include "trace/page/bar_columns.h"
#include "trace/picture/document/dependencies.h"

/// The bubbles and exposed communication between the bars of a page, and the memory below them.
namespace debubble::page {
namespace {

using Json = nlohmann::ordered_json;
using picture::Device;
using picture::MemorySeries;
using picture::TimelineDocument;

constexpr std::size_t kMostMemorySteps = 1U << 18U;  ///< total of all devices
constexpr double kMemoryUnits = 65'535;              ///< units in the greatest memory

/// A column of optional numbers of bars, as differences from the last one.
class References {
public:
    void add(std::optional<std::int64_t> bar) {
        if (!bar) return column_.add(0);
        const std::int64_t by = *bar - before_;
        column_.add(1 + (by < 0 ? ~(static_cast<std::uint64_t>(by) << 1U)
                                : static_cast<std::uint64_t>(by) << 1U));
        before_ = *bar;
    }
    const Column& column() const { return column_; }

private:
    Column column_;
    std::int64_t before_ = 0;
};

/// Memory in whole units, by class.
using Units = ArrayBy<MemoryClass, std::int64_t, kMemoryClasses>;
struct Step {
    Instant at;
    Units held{};
};

class MemoryWriter {
public:
    MemoryWriter(const TimelineDocument& document, std::size_t devices)
        : document_(document),
          unit_(std::max(1.0, static_cast<double>(document.memory_top.count) / kMemoryUnits)),
          most_(kMostMemorySteps / std::max<std::size_t>(devices, 1)) {}

    double unit() const { return unit_; }

    std::vector<Step> steps_of(const Device& device) const {
        const auto& all = document_.trace.memory;
        const auto first = std::ranges::lower_bound(all, device.rank, {}, &MemorySample::rank);
        const auto last =
            std::ranges::upper_bound(first, all.end(), device.rank, {}, &MemorySample::rank);
        std::vector<Step> steps;
        Units held{};
        for (auto sample = first; sample != last; ++sample) {
            held[sample->held_as] = units(sample->held.count);
            if (!steps.empty() && steps.back().at == sample->at)
                steps.back().held = held;
            else if (steps.empty() || steps.back().held != held)
                steps.push_back({sample->at, held});
        }
        return steps.size() <= most_ ? steps : intervals_of(device.memory);
    }

private:
    std::int64_t units(std::int64_t bytes) const {
        return static_cast<std::int64_t>(static_cast<double>(bytes) / unit_ + 0.5);
    }

    std::vector<Step> intervals_of(const MemorySeries& series) const {
        const std::size_t count = std::max<std::size_t>(most_, 1);
        const double each =
            static_cast<double>(document_.range.length().count()) / static_cast<double>(count);
        const auto edge = [&](std::size_t i) {
            return document_.range.begin +
                   Duration{static_cast<Duration::rep>(each * static_cast<double>(i))};
        };
        std::vector<Step> steps;
        MemorySeries::Walk walk(series);
        for (std::size_t i = 0; i < count; ++i) {
            const Instant begin = edge(i);
            const Instant end = edge(i + 1);
            if (end <= begin) continue;
            const MemorySeries::Extent extent = walk.over({begin, end});
            Step step{begin, {}};
            for (std::size_t c = 0; c < kMemoryClasses; ++c)
                step.held[c] = units(static_cast<std::int64_t>(extent.by_class[c]));
            if (steps.empty() || steps.back().held != step.held) steps.push_back(step);
        }
        return steps;
    }

    const TimelineDocument& document_;
    double unit_;
    std::size_t most_;
};

}  // namespace

void write_gaps(const TimelineDocument& document, const BarNumbers& numbers, Columns& columns) {
    Column counts;
    Column gaps;
    Column lengths;
    Column causes;
    References waited_for;
    References ended_by;
    Column between_counts;
    Column between_gaps;
    Column between_lengths;
    References between;
    for (const Device* device : numbers.devices()) {
        counts.add(device->last_bubble - device->first_bubble);
        Instant reached = document.range.begin;
        for (std::size_t b = device->first_bubble; b < device->last_bubble; ++b) {
            const Bubble& bubble = document.bubble(b);
            gaps.add_signed((bubble.begin - reached).count());
            lengths.add(static_cast<std::uint64_t>((bubble.end - bubble.begin).count()));
            causes.add(static_cast<std::uint64_t>(bubble.cause));
            reached = bubble.end;
            waited_for.add(numbers.of(bubble.waited_for));
            const auto end = action_that_ends(document, bubble);
            ended_by.add(end ? numbers.of(*end) : std::nullopt);
        }
        between_counts.add(device->between.size());
        reached = document.range.begin;
        for (const picture::Bar& bar : device->between) {
            between_gaps.add_signed((bar.begin - reached).count());
            between_lengths.add(static_cast<std::uint64_t>((bar.end - bar.begin).count()));
            reached = bar.end;
            between.add(numbers.of(bar.span));
        }
    }
    for (const Column* column :
         {static_cast<const Column*>(&counts), static_cast<const Column*>(&gaps),
          static_cast<const Column*>(&lengths), static_cast<const Column*>(&causes),
          &waited_for.column(), &ended_by.column(), static_cast<const Column*>(&between_counts),
          static_cast<const Column*>(&between_gaps), static_cast<const Column*>(&between_lengths),
          &between.column()})
        columns.append(*column);
    References path;
    for (const std::size_t span : document.statistics.critical_path)
        if (const auto bar = numbers.of(span)) path.add(bar);
    columns.append(path.column());
}

void write_memory(const TimelineDocument& document, const BarNumbers& numbers, Json& json,
                  Columns& columns) {
    const MemoryWriter writer(document, numbers.devices().size());
    json["memory_unit"] = writer.unit();
    Column counts;
    Column times;
    std::array<Column, kMemoryClasses> classes;
    for (const Device* device : numbers.devices()) {
        const std::vector<Step> steps = writer.steps_of(*device);
        counts.add(steps.size());
        Instant reached = document.range.begin;
        Units held{};
        for (const Step& step : steps) {
            times.add_signed((step.at - reached).count());
            reached = step.at;
            for (std::size_t c = 0; c < kMemoryClasses; ++c)
                classes[c].add_signed(step.held[c] - held[c]);
            held = step.held;
        }
    }
    columns.append(counts);
    columns.append(times);
    for (const Column& column : classes) columns.append(column);
}

}  // namespace debubble::page
