#include "trace/io/trace_formats.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "schedule/csv/csv.h"
#include "trace/span_graph.h"
#include "trace/statistics.h"

namespace debubble {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kLanes = 5;
constexpr int kMostTracks = 64;  ///< most tracks of one lane

std::int64_t ns(Instant at) {
    return at.time_since_epoch().count();
}

/// Microseconds with three decimals, as the format requires.
std::string micros(std::int64_t nanoseconds) {
    const std::int64_t size = std::abs(nanoseconds);
    return fmt::format("{}{}.{:03}", nanoseconds < 0 ? "-" : "", size / 1000, size % 1000);
}

/// The parts of the exposed time, as a further argument; empty where they are not known.
std::string exposed_by(const DurationByKind& by_kind) {
    std::string parts;
    for (std::size_t k = 0; k < kCommunicationKinds; ++k)
        if (const Duration part = by_kind[k]; part != Duration{})
            parts += fmt::format(R"({}"{}":{})", parts.empty() ? "" : ",",
                                 name_of(static_cast<CommunicationKind>(k)), part.count());
    return parts.empty() ? parts : fmt::format(R"(,"exposed_by_ns":{{{}}})", parts);
}

/// True if the reader accepts the program: it does not accept an empty row.
bool can_be_read_back(const Program& program) {
    return !program.ranks.empty() &&
           std::ranges::none_of(program.ranks, [](const ActionList& r) { return r.empty(); });
}

OrderedJson header_json(const Trace& trace, std::string_view plan) {
    const TraceHeader& h = trace.header;
    OrderedJson peaks = OrderedJson::array();
    for (const MemoryPeak& peak : trace.peaks) {
        OrderedJson held = OrderedJson::object();
        for (std::size_t c = 0; c < kMemoryClasses; ++c)
            held[std::string(name_of(static_cast<MemoryClass>(c)))] = peak.held[c].count;
        peaks.push_back({{"at_ns", ns(peak.at)},
                         {"held", std::move(held)},
                         {"action", peak.action},
                         {"op", peak.op}});
    }
    OrderedJson json = {{"schema", "debubble/trace"},     {"version", 1},
                        {"source", h.source_name()},      {"scenario", h.scenario},
                        {"program_hash", h.program_hash}, {"tensor", h.tensor},
                        {"context", h.context},           {"data", h.data},
                        {"pipeline", h.pipeline},         {"folded", h.folded},
                        {"peaks", std::move(peaks)}};
    if (h.step_time) json["step_time_ns"] = h.step_time->count();
    if (h.transport != Transport::Own) json["transport"] = name_of(h.transport);
    if (h.sends_block) json["sends_block"] = true;
    if (h.copies_block) json["copies_block"] = true;
    if (h.reductions_block) json["reductions_block"] = true;
    if (h.clock_error != ClockError{})
        json["clock_error_ns"] = {{"ranks", h.clock_error.ranks.count()},
                                  {"lanes", h.clock_error.lanes.count()}};
    if (h.cores_per_thread != 1) json["cores_per_thread"] = h.cores_per_thread;
    if (!plan.empty()) json["plan"] = OrderedJson::parse(plan);
    if (can_be_read_back(trace.program))
        json["program"] = {{"name", trace.program.name},
                           {"placement", write_placement(trace.program.placement)},
                           {"csv", write_csv(trace.program)}};
    return json;
}

class ChromeTraceWriter {
public:
    ChromeTraceWriter(const Trace& trace, std::ostream& out, std::string_view plan)
        : trace_(trace), graph_(trace), out_(out), plan_(plan) {
        number_processes();
        place_on_tracks();
    }

    void write() {
        out_ << "{\"displayTimeUnit\":\"ns\",\n\"debubble\":"
             << header_json(trace_, plan_)
                    .dump(-1, ' ', false, OrderedJson::error_handler_t::replace)
             << ",\n\"traceEvents\":[";
        name_processes();
        for (std::size_t i = 0; i < trace_.spans.size(); ++i) span(i);
        for (std::size_t i = 0; i < trace_.spans.size(); ++i) arrow(i);
        for (const PairPart& part : trace_.pair_parts) pair_part(part);
        for (const MemorySample& sample : trace_.memory) memory(sample);
        out_ << "\n]}\n";
    }

private:
    using Unit = std::pair<std::int32_t, Rank>;  ///< replica, rank

    /// Numbers the processes from 1, since Perfetto uses process 0 for the idle task.
    void number_processes() {
        std::set<Unit> units;
        for (const SpanGraph::Unit& unit : graph_.units()) units.insert({unit.replica, unit.rank});
        for (const MemorySample& sample : trace_.memory) units.insert({0, sample.rank});
        for (const Unit& unit : units)
            process_.emplace(unit, static_cast<int>(process_.size()) + 1);
    }

    /// Slices of one thread must not overlap, so a lane gets as many threads as it needs.
    void place_on_tracks() {
        track_.resize(trace_.spans.size());
        std::map<std::pair<int, Lane>, std::vector<Instant>> ends;
        for (std::size_t i = 0; i < trace_.spans.size(); ++i) {
            const Span& s = trace_.spans[i];
            auto& tracks = ends[{process_of(s), s.lane}];
            auto free = std::ranges::find_if(tracks, [&](Instant end) { return end <= s.begin; });
            if (free == tracks.end() && tracks.size() < kMostTracks)
                free = tracks.insert(tracks.end(), s.end);
            else if (free == tracks.end())
                --free;
            *free = std::max(*free, s.end);
            track_[i] = static_cast<std::uint8_t>(free - tracks.begin());
        }
        for (const auto& [where, tracks] : ends) tracks_[where] = static_cast<int>(tracks.size());
    }

    int process_of(const Span& s) const { return process_.find({s.replica, s.rank})->second; }

    static int thread(int process, Lane lane, int track) {
        constexpr int kPerProcess = static_cast<int>(kLanes) * kMostTracks;
        return process * kPerProcess + static_cast<int>(lane) * kMostTracks + track;
    }

    void event(const std::string& json) {
        out_ << (first_ ? "\n" : ",\n") << json;
        first_ = false;
    }

    void name_processes() {
        for (const auto& [unit, process] : process_) {
            const auto& [replica, rank] = unit;
            const std::string name = replica == 0
                                         ? fmt::format("rank {}", rank.index)
                                         : fmt::format("replica {} rank {}", replica, rank.index);
            event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}",)"
                              R"("rank":{},"replica":{}}}}})",
                              process, name, rank.index, replica));
            event(fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{0},)"
                              R"("args":{{"sort_index":{0}}}}})",
                              process));
        }
        name_pair_threads();
        for (const auto& [where, tracks] : tracks_)
            for (int track = 0; track < tracks; ++track) name_thread(where, track);
    }

    void name_thread(const std::pair<int, Lane>& where, int track) {
        const auto& [process, lane] = where;
        const int id = thread(process, lane, track);
        const std::string suffix = track == 0 ? "" : fmt::format(" {}", track + 1);
        event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},)"
                          R"("args":{{"name":"{}{}"}}}})",
                          process, id, name_of(lane), suffix));
        event(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},)"
                          R"("args":{{"sort_index":{}}}}})",
                          process, id, id));
    }

    /// The parts of pairs have threads after all lanes: one on which both passes compute, and one
    /// for the all-to-alls of each pass, since two of them may be in flight.
    static int pair_thread(int process, const PairPart& part) {
        constexpr int kAfterLanes = 1 << 29;
        const int track = part.lane == Lane::Compute ? 0 : part.pass.pass == Pass::Forward ? 1 : 2;
        return kAfterLanes + 3 * process + track;
    }
    int process_of(const PairPart& part) const {
        return process_.find({part.replica, part.rank})->second;
    }

    void name_pair_threads() {
        std::set<int> named;
        for (const PairPart& part : trace_.pair_parts) {
            const int process = process_of(part), id = pair_thread(process, part);
            if (!named.insert(id).second) continue;
            const char* const name = part.lane == Lane::Compute        ? "compute"
                                     : part.pass.pass == Pass::Forward ? "forward's exchange"
                                                                       : "backward's exchange";
            event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},)"
                              R"("args":{{"name":"pair: {}"}}}})",
                              process, id, name));
            event(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},)"
                              R"("args":{{"sort_index":{}}}}})",
                              process, id, id));
        }
    }

    void pair_part(const PairPart& part) {
        const int process = process_of(part);
        const std::string action = to_text(Action{part.pass});
        const bool exchanges = part.lane != Lane::Compute;
        const std::string where =
            part.layer ? fmt::format(" layer {} {}", *part.layer, name_of(part.step)) : "";
        event(fmt::format(R"({{"ph":"X","name":"{}{}{}","cat":"{}","pid":{},"tid":{},"ts":{},)"
                          R"("dur":{},"args":{{"action":"{}","step":"{}","layer":{},)"
                          R"("begin_ns":{},"end_ns":{}}}}})",
                          action, where, exchanges ? " exchange" : "",
                          exchanges ? "pair exchange" : "pair compute", process,
                          pair_thread(process, part), micros(ns(part.begin)),
                          micros((part.end - part.begin).count()), action, name_of(part.step),
                          part.layer.value_or(-1), ns(part.begin), ns(part.end)));
    }

    void span(std::size_t i) {
        const Span& s = trace_.spans[i];
        const int process = process_of(s);
        const std::string action = to_text(s.action);
        std::string args = fmt::format(R"("action":"{}","begin_ns":{},"end_ns":{})", action,
                                       ns(s.begin), ns(s.end));
        if (const auto* send = std::get_if<Send>(&s.action))
            args += fmt::format(R"(,"peer":{})", send->to.index);
        if (const auto* recv = std::get_if<Recv>(&s.action))
            args += fmt::format(R"(,"peer":{})", recv->from.index);
        if (s.exposed != Duration{}) args += fmt::format(R"(,"exposed_ns":{})", s.exposed.count());
        args += exposed_by(trace_.exposed_by(s));
        if (s.on_core != Duration{}) args += fmt::format(R"(,"on_core_ns":{})", s.on_core.count());
        if (s.bytes != Bytes{}) args += fmt::format(R"(,"bytes":{})", s.bytes.count);
        event(fmt::format(R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},)"
                          R"("dur":{},"args":{{{}}}}})",
                          action, name_of(s.lane), process, thread(process, s.lane, track_[i]),
                          micros(ns(s.begin)), micros(s.length().count()), args));
    }

    /// Writes the arrow from the matching Send to span `i`, a Recv.
    void arrow(std::size_t i) {
        const Span& recv = trace_.spans[i];
        if (!std::holds_alternative<Recv>(recv.action)) return;
        const auto found = graph_.send_of_recv(i);
        if (!found) return;
        const Span& send = trace_.spans[*found];
        const Instant head = send.begin < recv.end ? std::max(send.begin, recv.begin) : recv.begin;
        arrow_end("\"ph\":\"s\"", send, track_[*found], send.begin, i);
        arrow_end("\"ph\":\"f\",\"bp\":\"e\"", recv, track_[i], head, i);
    }

    void arrow_end(const char* phase, const Span& s, int track, Instant at, std::size_t id) {
        const int process = process_of(s);
        event(fmt::format(R"({{{},"name":"message","cat":"message","id":{},"pid":{},"tid":{},)"
                          R"("ts":{}}})",
                          phase, id, process, thread(process, s.lane, track), micros(ns(at))));
    }

    void memory(const MemorySample& sample) {
        const int process = process_.find({0, sample.rank})->second;
        event(fmt::format(R"({{"ph":"C","name":"memory: {}","pid":{},"ts":{},"at_ns":{},)"
                          R"("args":{{"bytes":{}}}}})",
                          name_of(sample.held_as), process, micros(ns(sample.at)), ns(sample.at),
                          sample.held.count));
    }

    const Trace& trace_;
    SpanGraph graph_;
    std::ostream& out_;
    std::string_view plan_;
    std::map<Unit, int> process_;
    std::map<std::pair<int, Lane>, int> tracks_;
    std::vector<std::uint8_t> track_;  ///< track of each span
    bool first_ = true;
};

}  // namespace

void write_chrome_trace(const Trace& trace, std::ostream& out) {
    write_chrome_trace(trace, out, {});
}

void write_chrome_trace(const Trace& trace, std::ostream& out, std::string_view plan) {
    ChromeTraceWriter(trace, out, plan).write();
}

}  // namespace debubble
