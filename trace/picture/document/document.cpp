#include "trace/picture/document/document.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "base/parallel.h"
#include "trace/picture/document/exposed_bars.h"
#include "trace/span_graph.h"

namespace debubble::picture {
namespace {

using Spans = std::vector<std::uint32_t>;

/// The values of a rank, in a list that is sorted by rank.
template <class Value>
std::span<const Value> of_rank(const std::vector<Value>& values, Rank rank, Rank Value::*member) {
    const auto first = std::ranges::lower_bound(values, rank, {}, member);
    const auto last = std::ranges::upper_bound(first, values.end(), rank, {}, member);
    return {first, last};
}

/// The spans of a device by row: computes and optimizer steps share the row of bars; the others are
/// sorted by lane.
struct SortedSpans {
    Spans work;
    std::map<Lane, Spans> lanes;
};

void add_streams(Device& device, Lane lane, std::vector<Bars> tracks, std::size_t first_number) {
    for (std::size_t i = 0; i < tracks.size(); ++i) {
        const std::size_t number = first_number + i;
        device.streams.push_back(
            {lane,
             number == 1 ? std::string(name_of(lane)) : fmt::format("{} {}", name_of(lane), number),
             std::move(tracks[i])});
    }
}

Device make_device(const Trace& trace, const SpanGraph::Unit& unit, const SortedSpans& sorted,
                   bool only_replica) {
    Device device;
    device.rank = unit.rank;
    device.replica = unit.replica;
    device.name = only_replica ? fmt::format("rank {}", unit.rank.index)
                               : fmt::format("rank {} replica {}", unit.rank.index, unit.replica);
    std::vector<Bars> work = tracks_of(trace, sorted.work);
    if (!work.empty()) {
        device.work = std::move(work.front());
        work.erase(work.begin());
        add_streams(device, Lane::Compute, std::move(work), 2);
    }
    for (const auto& [lane, spans] : sorted.lanes)
        add_streams(device, lane, tracks_of(trace, spans), 1);
    for (const std::uint32_t i : sorted.work)
        for_each_compute(trace.spans[i].action, [&](const Compute& c) {
            const auto place = std::ranges::lower_bound(device.stages, c.stage);
            if (place == device.stages.end() || *place != c.stage)
                device.stages.insert(place, c.stage);
        });
    return device;
}

std::vector<Device> make_devices(const SpanGraph& graph) {
    const Trace& trace = graph.trace();
    const std::vector<SpanGraph::Unit>& units = graph.units();
    std::vector<SortedSpans> sorted(units.size());
    for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
        const Span& span = trace.spans[i];
        SortedSpans& of_unit = sorted[&graph.unit_of(i) - units.data()];
        if (is_work(span.action) || std::holds_alternative<OptimizerStep>(span.action))
            of_unit.work.push_back(i);
        else
            of_unit.lanes[span.lane].push_back(i);
    }
    std::map<Rank, int> replicas;
    for (const SpanGraph::Unit& unit : units) ++replicas[unit.rank];
    std::vector<Device> devices;
    for (std::size_t u = 0; u < units.size(); ++u)
        devices.push_back(make_device(trace, units[u], sorted[u], replicas[units[u].rank] == 1));
    std::ranges::sort(devices, {}, [](const Device& d) { return std::pair(d.rank, d.replica); });
    return devices;
}

/// The span of a device that ran at the peak and has the peak's name.
std::optional<std::uint32_t> span_of_peak(const Trace& trace, const Device& device) {
    const auto named = [&](const Bar& bar) {
        return to_text(trace.spans[bar.span].action) == device.peak->action;
    };
    // An action that ended at the instant of the peak may be the named one.
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
            document.paints[static_cast<std::size_t>(Paint::Weight)] = true;
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
                device.first_bubble = static_cast<std::size_t>(mine.data() - bubbles.data());
                device.last_bubble = device.first_bubble + mine.size();
                device.longest_bubbles.resize(device.last_bubble - device.first_bubble);
                std::iota(device.longest_bubbles.begin(), device.longest_bubbles.end(),
                          static_cast<std::uint32_t>(device.first_bubble));
                std::ranges::stable_sort(
                    device.longest_bubbles, std::ranges::greater{},
                    [&](std::uint32_t b) { return bubbles[b].end - bubbles[b].begin; });
            }
}

/// What is exposed inside bars and between them, and the kinds of work.
void add_work(TimelineDocument& document) {
    for (Device& device : document.devices) {
        if (device.statistics != nullptr) {
            const std::span bubbles =
                std::span(document.statistics.bubbles)
                    .subspan(device.first_bubble, device.last_bubble - device.first_bubble);
            device.between = exposed_between(device, bubbles, document.range);
            device.exposed_by = exposed_by_kind(document.trace, device);
        }
        device.sums = work_sums(document.trace, device);
    }
}

void add_memory(TimelineDocument& document) {
    const Trace& trace = document.trace;
    document.memory_top = document.memory_limit.value_or(Bytes{});
    for (const MemorySample& sample : trace.memory)
        if (sample.held.count > 0) document.holds[static_cast<std::size_t>(sample.held_as)] = true;
    for (Device& device : document.devices) {
        const auto samples = of_rank(trace.memory, device.rank, &MemorySample::rank);
        device.memory = MemorySeries({samples.begin(), samples.end()});
        const auto rank = static_cast<std::size_t>(device.rank.index);
        if (rank < trace.peaks.size()) {
            device.peak = &trace.peaks[rank];
            device.peak_span = span_of_peak(trace, device);
            document.memory_top = std::max(document.memory_top, total(device.peak->held));
        }
        document.memory_top = std::max(document.memory_top, device.memory.greatest());
    }
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
    document->link_table = facts.link_table ? std::move(facts.link_table) : sent_by(trace);
    document->trace = std::move(trace);
    document->statistics = std::move(statistics);
    document->memory_limit = limit;
    const TraceHeader& header = document->trace.header;
    if (header.folded) document->copies = header.tensor * header.context * header.data;
    TimeRange& range = document->range;
    range = {Instant::max(), Instant::min()};
    for (const Span& span : document->trace.spans) {
        range = {std::min(range.begin, span.begin), std::max(range.end, span.end)};
        document->paints[static_cast<std::size_t>(paint_of(span.action))] = true;
        if (const auto* overlap = std::get_if<Overlap>(&span.action))
            document->paints[static_cast<std::size_t>(paint_of(overlap->second))] = true;
    }
    document->paints[static_cast<std::size_t>(Paint::Bubble)] =
        !document->statistics.bubbles.empty();
    if (range.begin > range.end) range = {};

    give_up_if(stop);
    const SpanGraph graph(document->trace);
    give_up_if(stop);
    document->devices = make_devices(graph);
    give_up_if(stop);
    document->links = Links(graph);
    document->net_lengths = net_lengths(graph);
    give_up_if(stop);
    add_pair_parts(*document);
    add_statistics(*document);
    add_work(*document);
    add_memory(*document);
    return document;
}

Document make_document(Trace trace, std::optional<Bytes> limit) {
    Statistics of_trace = statistics(trace);
    return make_document(std::move(trace), std::move(of_trace), limit);
}

}  // namespace debubble::picture
