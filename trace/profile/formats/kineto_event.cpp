#include "trace/profile/formats/kineto_event.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "trace/profile/formats/json_stream.h"

namespace debubble::profile {
namespace {

namespace sj = simdjson::ondemand;
using Text = std::string_view;

constexpr std::int64_t kLongestEvent = 100'000'000'000'000;  ///< ns; more than a day

static_assert(JsonStream::kPadding >= simdjson::SIMDJSON_PADDING);

/// "4549177894387.460" microseconds as nanoseconds, digit by digit: a double has too few digits.
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

KinetoCategory category_of(std::string_view cat) {
    if (cat == "kernel" || cat == "Kernel") return KinetoCategory::Kernel;
    if (cat == "gpu_memcpy" || cat == "gpu_memset" || cat == "Memcpy" || cat == "Memset")
        return KinetoCategory::Copy;
    if (cat == "user_annotation") return KinetoCategory::Range;
    if (cat == "gpu_user_annotation") return KinetoCategory::DeviceRange;
    if (cat == "cpu_op" || cat == "Operator") return KinetoCategory::Operator;
    // cuda_runtime, cuda_driver, xpu_runtime, mtia_runtime, privateuse1_runtime, ...
    if (cat.ends_with("_runtime") || cat.ends_with("_driver") || cat == "Runtime")
        return KinetoCategory::Launch;
    if (cat == "cpu_instant_event") return KinetoCategory::Instant;
    return KinetoCategory::Other;
}

std::int64_t number_of(sj::value& value, std::int64_t otherwise = 0) {
    std::int64_t out = 0;
    if (value.get_int64().get(out) == simdjson::SUCCESS) return out;
    return otherwise;
}

std::optional<std::int64_t> unless_negative(std::int64_t number) {
    return number < 0 ? std::nullopt : std::optional(number);
}

}  // namespace

void KinetoEvents::refuse(const std::string& sentence) const {
    refuse_at(file_, stream_.value_offset(), sentence);
}

void KinetoEvents::check(simdjson::error_code error) const {
    if (error != simdjson::SUCCESS)
        refuse(fmt::format("this event is not valid JSON: {}", simdjson::error_message(error)));
}

void KinetoEvents::check_time(const KinetoEvent& event) const {
    if (!event.timed) refuse("\"ts\" is missing");
    if (event.length < 0) refuse("\"dur\" is less than zero");
    if (event.length > kLongestEvent) refuse("\"dur\" is longer than a day");
}

bool KinetoEvents::parse(Text text, KinetoEvent& event) {
    if (text.front() != '{') refuse("an event must be an object");
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
            if (event.phase == 'X' && (event.category == KinetoCategory::Other ||
                                       event.category == KinetoCategory::Instant))
                return false;
            if (event.category == KinetoCategory::Operator && !wants_operators_()) return false;
        } else if (key == "name") {
            event.name_text = string(value);
            event.name = event.name_text;
        } else if (key == "ts") {
            event.begin = time(value, "ts");
            event.timed = true;
        } else if (key == "dur") {
            event.length = time(value, "dur");
        } else if (key == "tid") {
            event.thread = number_of(value);
        } else if (key == "pid") {
            event.process = number_of(value);
        } else if (key == "args") {
            arguments(value, event);
        }
    }
    return true;
}

Text KinetoEvents::string(sj::value& value) const {
    Text text;
    const auto error = value.get_string().get(text);
    if (error == simdjson::INCORRECT_TYPE) {
        check(value.type().error());  // something other than a string, if it is a value at all
        return {};
    }
    check(error);
    return text;
}

std::int64_t KinetoEvents::time(sj::value& value, const char* key) const {
    Text token = value.raw_json_token();
    if (token.starts_with('"')) {  // some writers quote it
        token.remove_prefix(1);
        token = token.substr(0, token.find('"'));
    }
    const auto ns = nanoseconds(token.substr(0, token.find_first_of(",}] \t\r\n")));
    if (!ns) refuse(fmt::format("\"{}\" is not a time in microseconds", key));
    return *ns;
}

Text KinetoEvents::list(sj::value& value) const {
    sj::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS)
        refuse("the inputs of an operator are not a list");
    Text text;
    check(array.raw_json().get(text));
    return text;
}

void KinetoEvents::arguments(sj::value& value, KinetoEvent& event) const {
    sj::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return;
    if (!reads_inputs_ &&
        (event.category == KinetoCategory::Operator || event.category == KinetoCategory::Range))
        return;
    for (auto field : object) {
        simdjson::ondemand::raw_json_string key;
        check(field.key().get(key));
        sj::value inner;
        check(field.value().get(inner));
        if (key == "correlation") {
            event.correlation = unless_negative(number_of(inner));
        } else if (key == "device") {
            event.device = unless_negative(number_of(inner));
        } else if (key == "stream") {
            event.stream = unless_negative(number_of(inner));
        } else if (key == "External id" || key == "external id") {
            event.external = number_of(inner, -1);
        } else if (reads_inputs_ && key == "Input Dims") {
            event.inputs.dims = list(inner);
        } else if (reads_inputs_ && key == "Input Strides") {
            event.inputs.strides = list(inner);
        } else if (reads_inputs_ && key == "Input type") {
            event.inputs.types = list(inner);
        } else if (reads_inputs_ && key == "Concrete Inputs") {
            event.inputs.values = list(inner);
        } else if (key == "Collective name") {
            if (std::string name(string(inner)); !name.empty()) event.note.collective = name;
        } else if (key == "Process Group Description") {
            event.note.group = string(inner);
        } else if (key == "In msg nelems") {
            event.note.in_elements = number_of(inner);
        } else if (key == "Out msg nelems") {
            event.note.out_elements = number_of(inner);
        } else if (key == "Group size") {
            event.note.group_size =
                static_cast<int>(std::clamp<std::int64_t>(number_of(inner), 0, kMostRank));
        } else if (key == "Src Rank" || key == "Dst Rank") {
            const std::int64_t peer = number_of(inner, -1);
            event.note.peer.reset();
            if (peer >= 0 && peer <= kMostRank) event.note.peer = static_cast<int>(peer);
        } else if (key == "dtype") {
            event.note.type = string(inner);
        } else if (key == "Total Allocated") {
            event.allocated = unless_negative(number_of(inner));
        } else if (key == "Device Type") {
            event.device_type = unless_negative(number_of(inner));
        } else if (key == "Device Id") {
            event.memory_device = number_of(inner);
        }
    }
}

}  // namespace debubble::profile
