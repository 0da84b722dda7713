#include "trace/profile/kineto_reader.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>
#include <nlohmann/json.hpp>

#include "trace/profile/byte_source.h"
#include "trace/profile/json_stream.h"

namespace debubble::profile {
namespace {

using Json = nlohmann::json;
namespace sj = simdjson::ondemand;

static_assert(JsonStream::kPadding >= simdjson::SIMDJSON_PADDING);

constexpr std::size_t kMostRecords = 100'000'000;
constexpr std::int64_t kMostInstant = 2'000'000'000'000'000'000;  ///< ns; the year 2033
constexpr std::int64_t kLongestEvent = 100'000'000'000'000;       ///< ns; more than a day
constexpr int kMostRank = 1 << 24;

/// "4549177894387.460" microseconds as nanoseconds, digit by digit: a double has no such digits.
std::optional<std::int64_t> nanoseconds(std::string_view token) {
    while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r'))
        token.remove_suffix(1);
    const bool negative = token.starts_with('-');
    if (negative) token.remove_prefix(1);
    if (token.find_first_of("eE") != std::string_view::npos) {
        double micros = 0;
        const auto [end, error] = std::from_chars(token.begin(), token.end(), micros);
        if (error != std::errc() || end != token.end() || !(micros < 2e15)) return std::nullopt;
        const auto ns = static_cast<std::int64_t>(micros * 1000);
        return negative ? -ns : ns;
    }
    const std::size_t dot = std::min(token.find('.'), token.size());
    std::int64_t whole = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + dot, whole);
    if (error != std::errc() || end != token.data() + dot || whole > kMostInstant / 1000)
        return std::nullopt;
    std::int64_t part = 0;
    std::int64_t unit = 100;
    for (const char c : token.substr(std::min(dot + 1, token.size()))) {
        if (c < '0' || c > '9') return std::nullopt;
        part += unit * (c - '0');
        unit /= 10;
    }
    const std::int64_t ns = whole * 1000 + part;
    return negative ? -ns : ns;
}

enum class Category { Kernel, Copy, Range, DeviceRange, Operator, Launch, Instant, Other };

Category category_of(std::string_view cat) {
    if (cat == "kernel" || cat == "Kernel") return Category::Kernel;
    if (cat == "gpu_memcpy" || cat == "gpu_memset" || cat == "Memcpy" || cat == "Memset")
        return Category::Copy;
    if (cat == "user_annotation") return Category::Range;
    if (cat == "gpu_user_annotation") return Category::DeviceRange;
    if (cat == "cpu_op" || cat == "Operator") return Category::Operator;
    if (cat == "cuda_runtime" || cat == "cuda_driver" || cat == "Runtime") return Category::Launch;
    if (cat == "cpu_instant_event") return Category::Instant;
    return Category::Other;
}

/// The part of an event that is read.
struct Event {
    char phase = 0;
    Category category = Category::Other;
    std::string_view name;
    std::string name_text;  ///< where the name has escapes
    std::int64_t begin = 0;
    std::int64_t length = 0;
    std::int64_t process = 0;
    std::int64_t thread = 0;
    bool timed = false;
    std::int64_t correlation = -1;
    std::int64_t device = -1;
    std::int64_t stream = -1;
    std::int64_t allocated = -1;
    std::int64_t device_type = -1;
    std::int64_t memory_device = -1;
    CollectiveNote note;
};

class KinetoReader {
public:
    KinetoReader(ByteSource& source, bool keep_operators)
        : stream_(source), keep_operators_(keep_operators) {
        profile_.file = source.file();
        profile_.format = "Kineto";
    }

    RankProfile read() {
        top_level();
        no_kernels_ = profile_.kernels.empty();
        profile_.memory = no_kernels_ && of_device_.empty() ? of_host_.take() : of_device_.take();
        join_launches();
        if (base_ != 0) shift(base_);
        profile_.bytes = stream_.offset();
        finish(profile_);
        return std::move(profile_);
    }
    /// True if operators passed by and no kernel came: they have to be read after all.
    bool left_operators_out() const { return left_out_ && no_kernels_; }

private:
    using Text = std::string_view;

    void top_level() {
        if (stream_.peek() == '[') {
            events();
            return after();
        }
        if (!stream_.take('{')) stream_.refuse("a trace is a JSON object or a list of events");
        if (stream_.take('}')) return after();
        do {
            const Text quoted = stream_.value();
            if (quoted.front() != '"') stream_.refuse("a key in quotes is expected");
            const std::string key(quoted.substr(1, quoted.size() - 2));
            if (!stream_.take(':')) stream_.refuse("a colon after the key is expected");
            if (key == "traceEvents") {
                events();
                if (!profile_.cut_off.empty()) return;
            } else {
                head(key);
            }
        } while (stream_.take(','));
        if (stream_.at_end()) {
            profile_.cut_off =
                fmt::format("its text ends at byte {} without the last bracket", stream_.offset());
            return;
        }
        if (!stream_.take('}')) stream_.refuse("',' or '}' is expected");
        after();
    }

    void after() {
        if (!stream_.at_end()) stream_.refuse("there is text after the end of the trace");
    }

    void head(const std::string& key) {
        const Text text = stream_.value();
        const std::uint64_t place = stream_.value_offset();
        if (key == "baseTimeNanoseconds") {
            const auto [end, error] = std::from_chars(text.begin(), text.end(), base_);
            if (error != std::errc() || end != text.end() || base_ < 0 || base_ > kMostInstant)
                refuse_at(profile_.file, place, "baseTimeNanoseconds is not a time");
            return;
        }
        if (key != "distributedInfo" && key != "deviceProperties") return;
        const Json json = Json::parse(text, nullptr, false);
        if (json.is_discarded())
            refuse_at(profile_.file, place, fmt::format("'{}' is not valid JSON", key));
        if (key == "distributedInfo")
            distributed(json, place);
        else
            devices(json);
    }

    static std::string text_of(const Json& json, const char* key) {
        const auto found = json.find(key);
        return found != json.end() && found->is_string() ? found->get<std::string>() : "";
    }

    void distributed(const Json& json, std::uint64_t place) {
        if (!json.is_object()) return;
        const auto whole = [&](const char* key) -> std::optional<int> {
            const auto found = json.find(key);
            if (found == json.end()) return std::nullopt;
            if (!found->is_number_integer() || found->get<std::int64_t>() < 0 ||
                found->get<std::int64_t>() > kMostRank)
                refuse_at(profile_.file, place,
                          fmt::format("'{}' of distributedInfo is not a number of ranks", key));
            return found->get<int>();
        };
        profile_.rank = whole("rank");
        profile_.world_size = whole("world_size");
        profile_.backend = text_of(json, "backend");
        const auto groups = json.find("pg_config");
        if (groups == json.end() || !groups->is_array()) return;
        for (const Json& group : *groups) {
            if (!group.is_object()) continue;
            ProcessGroup read{text_of(group, "pg_desc"), {}};
            const auto ranks = group.find("ranks");
            if (ranks != group.end() && ranks->is_array())
                for (const Json& rank : *ranks)
                    if (rank.is_number_integer() && rank.get<std::int64_t>() >= 0 &&
                        rank.get<std::int64_t>() <= kMostRank)
                        read.ranks.push_back(rank.get<int>());
            profile_.groups.push_back(std::move(read));
        }
    }

    void devices(const Json& json) {
        if (!json.is_array() || json.empty() || !json.front().is_object()) return;
        profile_.device = text_of(json.front(), "name");
    }

    void events() {
        if (!stream_.take('[')) stream_.refuse("'traceEvents' must be a list");
        if (stream_.take(']')) return;
        do {
            if (stream_.at_end()) return cut_off();
            event(stream_.value());
        } while (stream_.take(','));
        if (stream_.at_end()) return cut_off();
        if (!stream_.take(']')) stream_.refuse("',' or ']' is expected after an event");
    }

    /// A profiler that was stopped leaves its last events out.
    void cut_off() {
        profile_.cut_off = fmt::format("its text ends at byte {}, after {} events",
                                       stream_.offset(), profile_.events);
    }

    [[noreturn]] void refuse_event(const std::string& sentence) const {
        refuse_at(profile_.file, stream_.value_offset(), sentence);
    }

    void event(Text text) {
        ++profile_.events;
        if (text.front() != '{') refuse_event("an event must be an object");
        Event event;
        if (!parse(text, event)) return;
        if (event.phase == 'i' || event.phase == 'I') return memory(event);
        if (event.phase != 'X') return;
        if (event.category == Category::Other || event.category == Category::Instant) return;
        if (!event.timed) refuse_event("\"ts\" is missing");
        if (event.length < 0) refuse_event("\"dur\" is less than zero");
        if (event.length > kLongestEvent) refuse_event("\"dur\" is longer than a day");
        keep(event);
        if (records() > kMostRecords) refuse_event("this file has too many kernels and ranges");
    }

    std::size_t records() const {
        return profile_.kernels.size() + profile_.ranges.size() + profile_.ops.size() +
               launches_.size();
    }

    void check(simdjson::error_code error) const {
        if (error != simdjson::SUCCESS)
            refuse_event(
                fmt::format("this event is not valid JSON: {}", simdjson::error_message(error)));
    }

    /// False for an event of which nothing is kept. Kineto writes ph and cat first, so that most
    /// events are left after two fields.
    bool parse(Text text, Event& event) {
        sj::document document;
        check(parser_
                  .iterate(simdjson::padded_string_view(text.data(), text.size(),
                                                        text.size() + JsonStream::kPadding))
                  .get(document));
        sj::object object;
        check(document.get_object().get(object));
        for (auto field : object) {
            simdjson::ondemand::raw_json_string key;
            check(field.key().get(key));
            sj::value value;
            check(field.value().get(value));
            if (key == "ph") {
                const Text phase = string(value);
                event.phase = phase.size() == 1 ? phase.front() : 0;
                if (event.phase != 'X' && event.phase != 'i' && event.phase != 'I') return false;
            } else if (key == "cat") {
                event.category = category_of(string(value));
                if (event.phase == 'X' &&
                    (event.category == Category::Other || event.category == Category::Instant))
                    return false;
                if (event.category == Category::Operator && !wants_operators()) return false;
            } else if (key == "name") {
                event.name_text = string(value);
                event.name = event.name_text;
            } else if (key == "ts") {
                event.begin = time(value, "ts");
                event.timed = true;
            } else if (key == "dur") {
                event.length = time(value, "dur");
            } else if (key == "tid") {
                event.thread = number(value);
            } else if (key == "pid") {
                event.process = number(value);
            } else if (key == "args") {
                arguments(value, event);
            }
        }
        return true;
    }

    /// Operators are kept where no kernel tells what a rank computed.
    bool wants_operators() {
        if (keep_operators_) return true;
        if (profile_.kernels.empty() && profile_.device.empty()) return true;
        left_out_ = true;
        if (!profile_.ops.empty()) profile_.ops = {};
        return false;
    }

    Text string(sj::value& value) const {
        Text text;
        const auto error = value.get_string().get(text);
        if (error == simdjson::INCORRECT_TYPE) {
            check(value.type().error());  // something else than a string, if it is a value at all
            return {};
        }
        check(error);
        return text;
    }

    static std::int64_t number(sj::value& value, std::int64_t otherwise = 0) {
        std::int64_t out = 0;
        if (value.get_int64().get(out) == simdjson::SUCCESS) return out;
        return otherwise;
    }

    std::int64_t time(sj::value& value, const char* key) const {
        Text token = value.raw_json_token();
        if (token.starts_with('"')) {  // some writers quote it
            token.remove_prefix(1);
            token = token.substr(0, token.find('"'));
        }
        const auto ns = nanoseconds(token.substr(0, token.find_first_of(",}] \t\r\n")));
        if (!ns) refuse_event(fmt::format("\"{}\" is not a time in microseconds", key));
        return *ns;
    }

    void arguments(sj::value& value, Event& event) {
        sj::object object;
        if (value.get_object().get(object) != simdjson::SUCCESS) return;
        if (event.category == Category::Operator || event.category == Category::Range) return;
        for (auto field : object) {
            simdjson::ondemand::raw_json_string key;
            check(field.key().get(key));
            sj::value inner;
            check(field.value().get(inner));
            if (key == "correlation") {
                event.correlation = number(inner);
            } else if (key == "device") {
                event.device = number(inner);
            } else if (key == "stream") {
                event.stream = number(inner);
            } else if (key == "Collective name") {
                event.note.collective = string(inner);
            } else if (key == "Process Group Description") {
                event.note.group = string(inner);
            } else if (key == "In msg nelems") {
                event.note.in_elements = number(inner);
            } else if (key == "Out msg nelems") {
                event.note.out_elements = number(inner);
            } else if (key == "Group size") {
                event.note.group_size =
                    static_cast<int>(std::clamp<std::int64_t>(number(inner), 0, kMostRank));
            } else if (key == "Src Rank" || key == "Dst Rank") {
                const std::int64_t peer = number(inner, -1);
                event.note.peer =
                    peer <= kMostRank ? static_cast<int>(std::max<std::int64_t>(-1, peer)) : -1;
            } else if (key == "dtype") {
                event.note.type = string(inner);
            } else if (key == "Total Allocated") {
                event.allocated = number(inner);
            } else if (key == "Device Type") {
                event.device_type = number(inner);
            } else if (key == "Device Id") {
                event.memory_device = number(inner);
            }
        }
    }

    void memory(const Event& event) {
        constexpr std::int64_t kHost = 0;  // c10::DeviceType
        constexpr std::int64_t kGpu = 1;
        if (event.name != "[memory]" || event.allocated < 0 || !event.timed) return;
        if (event.device_type == kHost) of_host_.add({event.begin, event.allocated});
        if (event.device_type != kGpu) return;
        if (memory_device_.value_or(event.memory_device) != event.memory_device) return;
        memory_device_ = event.memory_device;
        of_device_.add({event.begin, event.allocated});
        profile_.peak_allocated = std::max(profile_.peak_allocated.value_or(0), event.allocated);
    }

    static std::int32_t narrow(std::int64_t number) {
        return static_cast<std::int32_t>(number ^ (number >> 32));
    }

    void keep(const Event& event) {
        const std::int64_t end = event.begin + event.length;
        switch (event.category) {
            case Category::Kernel:
            case Category::Copy: {
                DeviceSpan span;
                span.begin = event.begin;
                span.end = end;
                span.name = profile_.names.number_of(event.name);
                span.device = narrow(event.device >= 0 ? event.device : event.process);
                span.stream = narrow(event.stream >= 0 ? event.stream : event.thread);
                span.note = note_of(event.note);
                if (event.category == Category::Copy) span.kernel_class = KernelClass::Copy;
                profile_.kernels.push_back(span);
                correlations_.push_back(event.correlation);
                return;
            }
            case Category::Launch:
                if (event.correlation >= 0) launches_.emplace_back(event.correlation, event.begin);
                return;
            case Category::Range:
                profile_.ranges.push_back(
                    {event.begin, end, profile_.names.number_of(event.name), narrow(event.thread)});
                return;
            case Category::Operator:
                profile_.ops.push_back(
                    {event.begin, end, profile_.names.number_of(event.name), narrow(event.thread)});
                return;
            case Category::DeviceRange:
            case Category::Instant:
            case Category::Other: return;
        }
    }

    std::uint32_t note_of(const CollectiveNote& note) {
        if (note == CollectiveNote{}) return 0;
        if (note == profile_.notes.back())
            return static_cast<std::uint32_t>(profile_.notes.size() - 1);
        const auto key = std::tuple(note.collective, note.group, note.in_elements,
                                    note.out_elements, note.group_size, note.type, note.peer);
        const auto [found, is_new] =
            note_numbers_.try_emplace(key, static_cast<std::uint32_t>(profile_.notes.size()));
        if (is_new) profile_.notes.push_back(note);
        return found->second;
    }

    void join_launches() {
        std::ranges::sort(launches_);
        for (std::size_t i = 0; i < profile_.kernels.size(); ++i) {
            if (correlations_[i] < 0) continue;
            const auto launch = std::ranges::lower_bound(
                launches_, correlations_[i], {}, &std::pair<std::int64_t, std::int64_t>::first);
            if (launch != launches_.end() && launch->first == correlations_[i])
                profile_.kernels[i].launched = launch->second;
        }
        launches_ = {};
        correlations_ = {};
    }

    void shift(std::int64_t by) {
        const auto move = [&](std::int64_t& at) {
            if (at != kNoLaunch) at += by;
        };
        for (DeviceSpan& kernel : profile_.kernels) {
            move(kernel.begin);
            move(kernel.end);
            move(kernel.launched);
        }
        for (std::vector<HostSpan>* spans : {&profile_.ranges, &profile_.ops})
            for (HostSpan& span : *spans) {
                move(span.begin);
                move(span.end);
            }
        for (MemoryPoint& point : profile_.memory) move(point.at);
    }

    JsonStream stream_;
    sj::parser parser_;
    bool keep_operators_ = false;
    bool left_out_ = false;
    bool no_kernels_ = false;
    std::int64_t base_ = 0;
    RankProfile profile_;
    MemoryCurve of_device_;
    MemoryCurve of_host_;
    std::optional<std::int64_t> memory_device_;  ///< the first of a process's devices
    std::vector<std::int64_t> correlations_;     ///< of the kernels
    std::vector<std::pair<std::int64_t, std::int64_t>> launches_;  ///< correlation, begin
    std::map<
        std::tuple<std::string, std::string, std::int64_t, std::int64_t, int, std::string, int>,
        std::uint32_t>
        note_numbers_;
};

template <class MakeSource>
RankProfile read(const MakeSource& make_source) {
    {
        ByteSource source = make_source();
        KinetoReader reader(source, false);
        RankProfile profile = reader.read();
        if (!reader.left_operators_out()) return profile;
    }
    ByteSource source = make_source();
    return KinetoReader(source, true).read();
}

}  // namespace

RankProfile read_kineto(const std::string& file) {
    return read([&] { return ByteSource(file); });
}

RankProfile read_kineto_text(std::string_view text, const std::string& name) {
    return read([&] { return ByteSource(name, text); });
}

}  // namespace debubble::profile
