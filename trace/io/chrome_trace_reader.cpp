#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "schedule/csv/csv.h"
#include "trace/io/json_cursor.h"
#include "trace/io/trace_formats.h"
#include "trace/statistics.h"

namespace debubble {
namespace {

using Json = nlohmann::json;

// Bounds within which sums over a whole trace cannot overflow.
constexpr std::int64_t kMostTime = 1LL << 53;  ///< in ns: 104 days
constexpr std::int64_t kMostBytes = 1LL << 56;
constexpr std::int64_t kMostRank = 1LL << 16;
constexpr std::int64_t kMostReplica = 1LL << 24;
constexpr std::size_t kEnoughMistakes = 20;
constexpr std::size_t kLongestLine = 10'000;

/// A mistake in one event. Becomes a diagnostic at the event's position.
struct Mistake {
    std::string message;
};

const Json& member(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) throw Mistake{fmt::format("\"{}\" is missing", key)};
    return *found;
}

std::int64_t whole(const Json& object, const char* key, std::int64_t least, std::int64_t most) {
    const Json& value = member(object, key);
    const bool fits = value.is_number_integer() &&
                      !(value.is_number_unsigned() &&
                        value.get<std::uint64_t>() >
                            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
        throw Mistake{fmt::format("\"{}\" must be a whole number from {} to {}", key, least, most)};
    return value.get<std::int64_t>();
}

std::int64_t whole_or_zero(const Json& object, const char* key, std::int64_t most) {
    return object.contains(key) ? whole(object, key, 0, most) : 0;
}

std::string text(const Json& object, const char* key) {
    const Json& value = member(object, key);
    if (!value.is_string()) throw Mistake{fmt::format("\"{}\" must be a string", key)};
    return value.get<std::string>();
}

const Json& object(const Json& parent, const char* key) {
    const Json& value = member(parent, key);
    if (!value.is_object()) throw Mistake{fmt::format("\"{}\" must be an object", key)};
    return value;
}

Instant instant(const Json& parent, const char* key) {
    return Instant{Duration{whole(parent, key, -kMostTime, kMostTime)}};
}

std::optional<Lane> lane_named(std::string_view name) {
    for (const Lane lane : {Lane::Compute, Lane::Send, Lane::Recv, Lane::Collective, Lane::Copy})
        if (name == name_of(lane)) return lane;
    return std::nullopt;
}

std::optional<MemoryClass> class_named(std::string_view name) {
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        if (name == name_of(static_cast<MemoryClass>(c))) return static_cast<MemoryClass>(c);
    return std::nullopt;
}

bool flag(const Json& parent, const char* key) {
    const Json& value = member(parent, key);
    if (!value.is_boolean()) throw Mistake{fmt::format("\"{}\" must be true or false", key)};
    return value.get<bool>();
}

/// A number above 0 and up to 1.
double share(const Json& parent, const char* key) {
    const Json& value = member(parent, key);
    if (!value.is_number() || !(value.get<double>() > 0) || value.get<double>() > 1)
        throw Mistake{fmt::format("\"{}\" must be a number above 0, at most 1", key)};
    return value.get<double>();
}

TraceHeader read_header(const Json& json) {
    whole(json, "version", 1, 1);
    const auto count = [&](const char* key) {
        return static_cast<int>(whole(json, key, 1, kMostReplica));
    };
    TraceHeader header;
    const std::string source = text(json, "source");
    header.source = trace_source_named(source);
    if (!header.source && !source.empty())
        throw Mistake{"\"source\" must be simulated, executed, replayed or profiled"};
    header.scenario = text(json, "scenario");
    header.program_hash = text(json, "program_hash");
    header.tensor = count("tensor");
    header.context = count("context");
    header.data = count("data");
    header.pipeline = count("pipeline");
    header.folded = flag(json, "folded");
    if (const auto step = whole_or_zero(json, "step_time_ns", kMostTime); step > 0)
        header.step_time = Duration{step};
    if (json.contains("transport")) {
        const auto transport = transport_named(text(json, "transport"));
        if (!transport)
            throw Mistake{"\"transport\" must be own, pair, group, batched or issue-ordered"};
        header.transport = *transport;
    }
    if (json.contains("sends_block")) header.sends_block = flag(json, "sends_block");
    if (json.contains("copies_block")) header.copies_block = flag(json, "copies_block");
    if (json.contains("reductions_block")) header.reductions_block = flag(json, "reductions_block");
    if (json.contains("clock_error_ns")) {
        const Json& error = object(json, "clock_error_ns");
        header.clock_error = {Duration{whole(error, "ranks", 0, kMostTime)},
                              Duration{whole(error, "lanes", 0, kMostTime)}};
    }
    if (json.contains("cores_per_thread"))
        header.cores_per_thread = share(json, "cores_per_thread");
    return header;
}

/// The program whose hash the header names, if it names one.
Program read_program(const Json& json, const std::string& hash) {
    try {
        const CsvOptions options{.file = "",
                                 .name = text(json, "name"),
                                 .placement = read_placement(text(json, "placement"), ""),
                                 .dialect = Dialect::Current};
        Program program = read_csv(text(json, "csv"), options).schedule;
        if (!hash.empty() && program_hash(program) != hash)
            throw Mistake{"\"program\" does not have the hash that \"program_hash\" says"};
        return program;
    } catch (const InputError& error) {
        throw Mistake{"\"program\" is not a program: " + error.diagnostics().front().message};
    }
}

MemoryPeak read_peak(const Json& json) {
    if (!json.is_object()) throw Mistake{"a peak must be an object"};
    MemoryPeak peak;
    peak.at = instant(json, "at_ns");
    peak.action = text(json, "action");
    peak.op = text(json, "op");
    const Json& held = object(json, "held");
    for (std::size_t c = 0; c < kMemoryClasses; ++c) {
        const std::string name(name_of(static_cast<MemoryClass>(c)));
        peak.held[c] = Bytes{whole(held, name.c_str(), 0, kMostBytes)};
    }
    return peak;
}

Action read_action(const Json& args) {
    const std::string words = text(args, "action");
    const auto parsed = parse_action(words);
    if (const auto* wrong = std::get_if<std::string>(&parsed))
        throw Mistake{fmt::format("\"action\" is not an action: {}", *wrong)};
    Action action = std::get<Action>(parsed);
    const auto peer = [&] {
        return Rank{static_cast<std::int32_t>(whole(args, "peer", 0, kMostRank))};
    };
    if (auto* send = std::get_if<Send>(&action)) send->to = peer();
    if (auto* recv = std::get_if<Recv>(&action)) recv->from = peer();
    return action;
}

/// True for an arrow as write_chrome_trace() begins it; any other spelling is parsed and ignored.
bool is_arrow(std::string_view event) {
    return event.starts_with(R"({"ph":"s",)") || event.starts_with(R"({"ph":"f",)");
}

class ChromeTraceReader {
public:
    ChromeTraceReader(std::string_view whole_text, const std::string& file)
        : text_(whole_text), file_(file), cursor_(whole_text) {}

    Trace read() {
        try {
            top_level();
        } catch (const Mistake& mistake) {
            complain(cursor_.offset(), mistake);
        }
        if (mistakes_.empty() && !has_header_)
            mistakes_.push_back({{file_, 0, 0},
                                 "no \"debubble\" header: this trace was not written by debubble",
                                 {}});
        if (!mistakes_.empty()) throw InputError(std::move(mistakes_));
        std::ranges::stable_sort(trace_.spans, {},
                                 [](const Span& s) { return std::tuple(s.begin, s.rank, s.lane); });
        std::ranges::stable_sort(trace_.pair_parts, {},
                                 [](const PairPart& p) { return std::tuple(p.begin, p.rank); });
        std::ranges::stable_sort(trace_.memory, {},
                                 [](const MemorySample& s) { return std::tuple(s.rank, s.at); });
        return std::move(trace_);
    }

private:
    struct Process {
        Rank rank;
        std::int32_t replica = 0;
    };

    void complain(std::size_t offset, const Mistake& mistake) {
        const std::size_t start = text_.substr(0, offset).rfind('\n') + 1;  // npos + 1 is 0
        const std::string_view line = text_.substr(start, text_.find('\n', start) - start);
        if (line.size() > kLongestLine) {  // not written by debubble: too long to show
            mistakes_.push_back(
                {{file_, 0, 0}, fmt::format("{} (at byte {})", mistake.message, offset), {}});
        } else {
            const auto number = std::ranges::count(text_.substr(0, start), '\n') + 1;
            mistakes_.push_back(
                {{file_, static_cast<int>(number), static_cast<int>(offset - start) + 1},
                 mistake.message,
                 std::string(line)});
        }
        if (mistakes_.size() >= kEnoughMistakes) throw InputError(std::move(mistakes_));
    }

    void top_level() {
        if (!cursor_.take('{')) throw Mistake{"a trace must be a JSON object"};
        if (cursor_.take('}')) return;
        do {
            const auto key = cursor_.value();
            if (!key || key->front() != '"' || !cursor_.take(':'))
                throw Mistake{"expected a key and a colon"};
            if (*key == "\"traceEvents\"")
                events();
            else
                other(*key);
        } while (cursor_.take(','));
        if (!cursor_.take('}')) throw Mistake{"expected ',' or '}'"};
        if (!cursor_.at_end()) throw Mistake{"text after the end of the trace"};
    }

    void other(std::string_view key) {
        const auto value = cursor_.value();
        if (!value) throw Mistake{"expected a value; a string or a bracket is not closed"};
        if (key != "\"debubble\"") return;
        at_place_of(*value, [&](const Json& json) {
            has_header_ = true;
            trace_.header = read_header(json);
            const Json& peaks = member(json, "peaks");
            if (!peaks.is_array()) throw Mistake{"\"peaks\" must be a list"};
            trace_.peaks.clear();
            for (const Json& peak : peaks) trace_.peaks.push_back(read_peak(peak));
            if (json.contains("program"))
                trace_.program = read_program(object(json, "program"), trace_.header.program_hash);
        });
    }

    void events() {
        if (!cursor_.take('[')) throw Mistake{"\"traceEvents\" must be a list"};
        if (cursor_.take(']')) return;
        do {
            const auto value = cursor_.value();
            if (!value) throw Mistake{"expected an event; a string or a bracket is not closed"};
            if (is_arrow(*value)) continue;  // arrows are half of a large file and have no data
            at_place_of(*value, [&](const Json& json) { event(json); });
        } while (cursor_.take(','));
        if (!cursor_.take(']')) throw Mistake{"expected ',' or ']'"};
    }

    /// Parses and reads one value; a mistake is reported at the value's position.
    template <class Read>
    void at_place_of(std::string_view value, Read&& read) {
        const std::size_t offset = value.data() - text_.data();
        const Json json = Json::parse(value, nullptr, false);
        try {
            if (json.is_discarded()) throw Mistake{"not valid JSON"};
            if (!json.is_object()) throw Mistake{"expected an object"};
            read(json);
        } catch (const Mistake& mistake) {
            complain(offset, mistake);
        }
    }

    void event(const Json& json) {
        const std::string phase = text(json, "ph");
        if (phase == "X" && text(json, "cat").starts_with("pair ")) return pair_part(json);
        if (phase == "X") return span(json);
        if (phase == "C") return sample(json);
        if (phase == "M" && text(json, "name") == "process_name") process(json);
    }

    void process(const Json& json) {
        const Json& args = object(json, "args");
        Process process;
        process.rank.index = static_cast<std::int32_t>(whole(args, "rank", 0, kMostRank));
        process.replica = static_cast<std::int32_t>(whole(args, "replica", 0, kMostReplica));
        processes_[process_id(json)] = process;
    }

    static std::int64_t process_id(const Json& json) {
        return whole(json, "pid", 0, std::numeric_limits<std::int32_t>::max());
    }

    const Process& process_of(const Json& json) const {
        const auto found = processes_.find(process_id(json));
        if (found == processes_.end())
            throw Mistake{"\"pid\" was not named by a \"process_name\" event before"};
        return found->second;
    }

    /// The parts of a span's exposed time: all of it, or nothing where they are not known.
    static DurationByKind exposed_by(const Json& args, Duration exposed) {
        DurationByKind parts{};
        if (!args.contains("exposed_by_ns")) return parts;
        const Json& by_kind = object(args, "exposed_by_ns");
        Duration sum{};
        for (std::size_t k = 0; k < kCommunicationKinds; ++k) {
            const std::string kind(name_of(static_cast<CommunicationKind>(k)));
            parts[k] = Duration{whole_or_zero(by_kind, kind.c_str(), exposed.count())};
            sum += parts[k];
        }
        if (sum != exposed)
            throw Mistake{"the parts of \"exposed_by_ns\" do not add up to \"exposed_ns\""};
        return parts;
    }

    void span(const Json& json) {
        const Process& process = process_of(json);
        const auto lane = lane_named(text(json, "cat"));
        if (!lane) throw Mistake{"\"cat\" must be compute, send, recv, collective or copy"};
        const Json& args = object(json, "args");
        Span span{process.rank,
                  process.replica,
                  *lane,
                  read_action(args),
                  instant(args, "begin_ns"),
                  instant(args, "end_ns"),
                  {},
                  {}};
        if (span.end < span.begin) throw Mistake{"\"end_ns\" is before \"begin_ns\""};
        span.exposed = Duration{whole_or_zero(args, "exposed_ns", span.length().count())};
        span.exposed_parts = trace_.exposed_parts.number(exposed_by(args, span.exposed));
        span.bytes = Bytes{whole_or_zero(args, "bytes", kMostBytes)};
        span.on_core = Duration{whole_or_zero(args, "on_core_ns", kMostTime)};
        trace_.spans.push_back(span);
    }

    void pair_part(const Json& json) {
        const Process& process = process_of(json);
        const bool exchanges = text(json, "cat") == "pair exchange";
        const Json& args = object(json, "args");
        const Action action = read_action(args);
        const auto* pass = std::get_if<Compute>(&action);
        if (pass == nullptr) throw Mistake{"the \"action\" of a part of a pair is not a pass"};
        const std::optional<PairStep> step = pair_step_named(text(args, "step"));
        if (!step) throw Mistake{"\"step\" is not a step of a layer"};
        const auto layer = static_cast<std::int32_t>(whole(args, "layer", -1, kMostRank));
        const PairPart part{process.rank,
                            process.replica,
                            exchanges ? Lane::Collective : Lane::Compute,
                            *step,
                            *pass,
                            layer < 0 ? std::nullopt : std::optional(layer),
                            instant(args, "begin_ns"),
                            instant(args, "end_ns")};
        if (part.end < part.begin) throw Mistake{"\"end_ns\" is before \"begin_ns\""};
        trace_.pair_parts.push_back(part);
    }

    void sample(const Json& json) {
        constexpr std::string_view kPrefix = "memory: ";
        const std::string name = text(json, "name");
        if (!name.starts_with(kPrefix)) return;
        const auto held_as = class_named(std::string_view(name).substr(kPrefix.size()));
        if (!held_as) throw Mistake{"\"name\" is not a class of memory"};
        trace_.memory.push_back({instant(json, "at_ns"),
                                 Bytes{whole(object(json, "args"), "bytes", 0, kMostBytes)},
                                 process_of(json).rank, *held_as});
    }

    std::string_view text_;
    const std::string& file_;
    JsonCursor cursor_;
    Trace trace_;
    bool has_header_ = false;
    std::unordered_map<std::int64_t, Process> processes_;
    std::vector<Diagnostic> mistakes_;
};

}  // namespace

Trace read_chrome_trace(std::string_view text, const std::string& file) {
    return ChromeTraceReader(text, file).read();
}

}  // namespace debubble
