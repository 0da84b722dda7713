#include "trace/picture/document/document.h"

#include <algorithm>
#include <array>
#include <future>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/parallel.h"
#include "trace/picture/document/exposed_bars.h"
#include "trace/span_graph.h"

namespace debubble::picture {
namespace {

/// The values of a rank, in a list that is sorted by rank.
template <class Value>
std::span<const Value> of_rank(const std::vector<Value>& values, Rank rank, Rank Value::*member) {
    const auto first = std::ranges::lower_bound(values, rank, {}, member);
    const auto last = std::ranges::upper_bound(first, values.end(), rank, {}, member);
    return {first, last};
}

/// The tracks of a device while the spans of a trace are distributed, in the order of the trace.
struct DeviceRows {
    std::vector<Bars> work = std::vector<Bars>(1);  ///< tracks of computes and optimizer steps
    std::vector<BarWork> kinds;                     ///< kinds of work on the first track
    ArrayBy<Lane, std::vector<Bars>, 5> lanes;
    std::vector<Stage> stages;
    DurationByKind exposed_by{};  ///< inside the bars of the first track

    void add_stage(Stage stage) {
        const auto place = std::ranges::lower_bound(stages, stage);
        if (place == stages.end() || *place != stage) stages.insert(place, stage);
    }
    void add_work(const Trace& trace, std::uint32_t i) {
        const Span& span = trace.spans[i];
        for_each_compute(span.action, [&](const Compute& c) { add_stage(c.stage); });
        if (add_to_tracks(work, trace, i) != 0) return;
        kinds.push_back(bar_work(span));
        if (span.exposed_parts == 0) return;
        const DurationByKind parts = trace.exposed_by(span);
        for (std::size_t k = 0; k < parts.size(); ++k) exposed_by[k] += parts[k];
    }
};

/// A rank of a replica, with the numbers of its spans.
struct UnitSize {
    Rank rank;
    std::int32_t replica = 0;
    std::size_t work = 0;
    std::size_t sends = 0;
    std::size_t recvs = 0;

    auto key() const { return std::pair(rank, replica); }
};

/// Distributes the spans over the devices and visits each once, since there may be ten million.
/// `units` are sorted by their key.
std::vector<DeviceRows> rows_of(const Trace& trace, const std::vector<UnitSize>& units) {
    std::vector<DeviceRows> rows(units.size());
    for (std::size_t u = 0; u < units.size(); ++u) {
        rows[u].work[0].reserve(units[u].work);
        rows[u].kinds.reserve(units[u].work);
        const auto reserve = [&](Lane lane, std::size_t spans) {
            if (spans > 0) rows[u].lanes[lane].emplace_back().reserve(spans);
        };
        reserve(Lane::Send, units[u].sends);
        reserve(Lane::Recv, units[u].recvs);
    }
    // The last unit for the low bits of a rank, which saves most searches.
    std::array<std::size_t, 64> latest{};
    for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
        const Span& span = trace.spans[i];
        std::size_t& unit = latest[static_cast<std::uint32_t>(span.rank.index) % latest.size()];
        const std::pair key(span.rank, span.replica);
        if (units[unit].key() != key)
            unit = std::ranges::lower_bound(units, key, {}, &UnitSize::key) - units.begin();
        if (is_work(span.action) || std::holds_alternative<OptimizerStep>(span.action))
            rows[unit].add_work(trace, i);
        else
            add_to_tracks(rows[unit].lanes[span.lane], trace, i);
    }
    return rows;
}

void add_streams(Device& device, Lane lane, std::vector<Bars> tracks, std::size_t first_number) {
    for (Bars& bars : tracks) {
        if (bars.empty()) continue;
        bars.shrink_to_fit();
        const std::size_t number = first_number++;
        device.streams.push_back(
            {lane,
             number == 1 ? std::string(name_of(lane)) : fmt::format("{} {}", name_of(lane), number),
             std::move(bars)});
    }
}

Device make_device(const UnitSize& unit, DeviceRows rows, bool only_replica) {
    Device device;
    device.rank = unit.rank;
    device.replica = unit.replica;
    device.name = only_replica ? fmt::format("rank {}", unit.rank.index)
                               : fmt::format("rank {} replica {}", unit.rank.index, unit.replica);
    device.stages = std::move(rows.stages);
    device.exposed_by = rows.exposed_by;
    device.work = std::move(rows.work.front());
    device.work.shrink_to_fit();
    device.sums = WorkSums(device.work, std::move(rows.kinds));
    rows.work.erase(rows.work.begin());
    add_streams(device, Lane::Compute, std::move(rows.work), 2);
    for (std::size_t lane = 0; lane < rows.lanes.size(); ++lane)
        add_streams(device, static_cast<Lane>(lane), std::move(rows.lanes[lane]), 1);
    return device;
}

std::vector<Device> make_devices(const Trace& trace, std::vector<UnitSize> units) {
    std::ranges::sort(units, {}, &UnitSize::key);
    std::vector<DeviceRows> rows = rows_of(trace, units);
    std::map<Rank, int> replicas;
    for (const UnitSize& unit : units) ++replicas[unit.rank];
    std::vector<Device> devices;
    devices.reserve(units.size());
    for (std::size_t u = 0; u < units.size(); ++u)
        devices.push_back(make_device(units[u], std::move(rows[u]), replicas[units[u].rank] == 1));
    return devices;
}

/// The span of a device that ran at the peak and has the name of the peak's action.
std::optional<std::uint32_t> span_of_peak(const Trace& trace, const Device& device) {
    const auto named = [&](const Bar& bar) {
        return to_text(trace.spans[bar.span].action) == device.peak->action;
    };
    // The named action may have ended at the instant of the peak.
    const auto next = std::ranges::upper_bound(device.work, device.peak->at, {}, &Bar::begin);
    for (auto bar = next; bar != device.work.begin() && next - bar < 2;)
        if (named(*--bar)) return bar->span;
    const auto other = std::ranges::find_if(device.work, named);
    if (other == device.work.end()) return std::nullopt;
    return other->span;
}

void add_pair_parts(TimelineDocument& document) {
    std::map<std::pair<Rank, std::int32_t>, Device*> devices;
    for (Device& device : document.devices) devices[{device.rank, device.replica}] = &device;
    const std::vector<PairPart>& parts = document.trace.pair_parts;
    for (const PairPart& part : parts)
        if (part.step == PairStep::AttentionWeights || part.step == PairStep::ExpertWeights)
            document.paints[Paint::Weight] = true;
    for (std::uint32_t i = 0; i < parts.size(); ++i)
        if (const auto device = devices.find({parts[i].rank, parts[i].replica});
            device != devices.end())
            device->second->pair_parts.push_back(i);
}

void add_statistics(TimelineDocument& document) {
    const std::vector<Bubble>& bubbles = document.statistics.bubbles;
    for (const RankStatistics& row : document.statistics.ranks)
        for (Device& device : document.devices)
            if (device.rank == row.rank && device.replica == row.replica) {
                device.statistics = &row;
                const auto mine = of_rank(bubbles, row.rank, &Bubble::rank);
                device.first_bubble = mine.data() - bubbles.data();
                device.last_bubble = device.first_bubble + mine.size();
                device.longest_bubbles.resize((mine.size() + kBubbleBlock - 1) / kBubbleBlock);
                for (std::size_t b = 0; b < mine.size(); ++b) {
                    Duration& longest = device.longest_bubbles[b / kBubbleBlock];
                    longest = std::max(longest, mine[b].end - mine[b].begin);
                }
            }
}

/// Adds the exposed communication between bars.
void add_between(TimelineDocument& document) {
    for (Device& device : document.devices) {
        if (device.statistics == nullptr) {
            device.exposed_by = {};
            continue;
        }
        const std::span bubbles =
            std::span(document.statistics.bubbles)
                .subspan(device.first_bubble, device.last_bubble - device.first_bubble);
        device.between = exposed_between(device, bubbles, document.range);
        device.sums.put_between(device.between);
        add_between_by_kind(device.exposed_by, *device.statistics);
    }
}

void add_memory(TimelineDocument& document) {
    const Trace& trace = document.trace;
    document.memory_top = document.memory_limit.value_or(Bytes{});
    for (const MemorySample& sample : trace.memory)
        if (sample.held.count > 0) document.holds[sample.held_as] = true;
    for (Device& device : document.devices) {
        const auto samples = of_rank(trace.memory, device.rank, &MemorySample::rank);
        device.memory = MemorySeries(samples);
        const std::size_t rank = device.rank.index;
        if (rank < trace.peaks.size()) {
            device.peak = &trace.peaks[rank];
            device.peak_span = span_of_peak(trace, device);
            document.memory_top = std::max(document.memory_top, total(device.peak->held));
        }
        document.memory_top = std::max(document.memory_top, device.memory.greatest());
    }
}

/// Calls both: `other` on another thread, where there are so many spans that it pays. The heap of
/// this thread gets back what `here` frees, so the large tables belong there.
template <class Here, class Other>
void call_both(std::size_t spans, const Here& here, const Other& other) {
    constexpr std::size_t kWorthAThread = 100'000;
    if (spans < kWorthAThread) {
        other();
        here();
        return;
    }
    std::future<void> there = std::async(std::launch::async, other);
    here();
    there.get();
}

/// The time from the first start to the last end, and the paints of its spans.
void add_range(TimelineDocument& document) {
    TimeRange& range = document.range;
    range = {Instant::max(), Instant::min()};
    for (const Span& span : document.trace.spans) {
        range = {std::min(range.begin, span.begin), std::max(range.end, span.end)};
        document.paints[paint_of(span.action)] = true;
        if (const auto* overlap = std::get_if<Overlap>(&span.action))
            document.paints[paint_of(overlap->second)] = true;
    }
    document.paints[Paint::Bubble] = !document.statistics.bubbles.empty();
    if (range.begin > range.end) range = {};
}

void add_waits(TimelineDocument& document, const SpanGraph& graph) {
    document.waits = ShortDurations(document.trace.spans.size());
    for_each_wait(graph, [&](std::size_t span, Duration wait) { document.waits.set(span, wait); });
}

std::vector<UnitSize> sizes_of(const std::vector<SpanGraph::Unit>& units) {
    std::vector<UnitSize> sizes;
    for (const SpanGraph::Unit& unit : units)
        sizes.push_back({unit.rank, unit.replica, unit.work.size(), unit.sends.size(), unit.recvs});
    return sizes;
}

}  // namespace

const Device* TimelineDocument::device_of(Rank rank) const {
    const Device* any = nullptr;
    for (const Device& device : of_rank(devices, rank, &Device::rank))
        if (any == nullptr || device.statistics != nullptr) any = &device;
    return any;
}

const Device* TimelineDocument::device_of(const Span& span) const {
    for (const Device& device : of_rank(devices, span.rank, &Device::rank))
        if (device.replica == span.replica) return &device;
    return nullptr;
}

std::span<const std::uint32_t> TimelineDocument::parts_of(const Device& device,
                                                          TimeRange when) const {
    const auto begin_of = [&](std::uint32_t part) { return trace.pair_parts[part].begin; };
    const auto first = std::ranges::lower_bound(device.pair_parts, when.begin, {}, begin_of);
    const auto last =
        std::ranges::lower_bound(first, device.pair_parts.end(), when.end, {}, begin_of);
    return {first, last};
}

Document make_document(Trace trace, Statistics statistics, std::optional<Bytes> limit,
                       const std::stop_token& stop, DocumentFacts facts) {
    auto document = std::make_shared<TimelineDocument>();
    document->caption = std::move(facts.caption);
    document->operators = std::move(facts.operators);
    document->memory_left = std::move(facts.memory_left);
    document->trace = std::move(trace);
    document->statistics = std::move(statistics);
    document->memory_limit = limit;
    const Trace& of = document->trace;
    if (of.header.folded) document->copies = of.header.tensor * of.header.context * of.header.data;

    std::vector<UnitSize> units;
    {
        std::optional<SpanGraph> graph;  // freed before the tables of devices are made
        const auto facts_of_spans = [&] {
            document->link_table = facts.link_table ? std::move(facts.link_table) : sent_by(of);
            add_range(*document);
        };
        call_both(
            of.spans.size(), [&] { graph.emplace(of); }, facts_of_spans);
        give_up_if(stop);
        const auto add_links = [&] { document->links = Links(*graph); };
        call_both(of.spans.size(), add_links, [&] { add_waits(*document, *graph); });
        units = sizes_of(graph->units());
    }
    give_up_if(stop);
    document->links.add_users();
    give_up_if(stop);
    document->devices = make_devices(of, std::move(units));
    give_up_if(stop);
    add_pair_parts(*document);
    add_statistics(*document);
    add_between(*document);
    add_memory(*document);
    return document;
}

Document make_document(Trace trace, std::optional<Bytes> limit) {
    Statistics of_trace = statistics(trace);
    return make_document(std::move(trace), std::move(of_trace), limit);
}

}  // namespace debubble::picture
