#include "python/native/request.h"

#include <array>
#include <variant>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/read/edit.h"

namespace debubble::python {
namespace {

const Json* member(const Json& request, const char* key) {
    if (!request.is_object()) throw InputError("a request is a map");
    const auto found = request.find(key);
    return found == request.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void refuse(const char* key, const char* what) {
    throw InputError(fmt::format("'{}' is not {}", key, what));
}

}  // namespace

std::string text_of(const Json& request, const char* key, std::string otherwise) {
    const Json* const value = member(request, key);
    if (value == nullptr) return otherwise;
    if (!value->is_string()) refuse(key, "a text");
    return value->get<std::string>();
}

std::vector<std::string> texts_of(const Json& request, const char* key) {
    std::vector<std::string> texts;
    const Json* const value = member(request, key);
    if (value == nullptr) return texts;
    if (!value->is_array()) refuse(key, "a list of texts");
    for (const Json& text : *value) {
        if (!text.is_string()) refuse(key, "a list of texts");
        texts.push_back(text.get<std::string>());
    }
    return texts;
}

int whole_of(const Json& request, const char* key, int otherwise) {
    const Json* const value = member(request, key);
    if (value == nullptr) return otherwise;
    constexpr std::int64_t kMost = 1'000'000'000;
    if (!value->is_number_integer() || *value < -kMost || *value > kMost)
        refuse(key, "a whole number");
    return value->get<int>();
}

bool flag_of(const Json& request, const char* key) {
    const Json* const value = member(request, key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) refuse(key, "true or false");
    return value->get<bool>();
}

std::vector<scenarios::Override> overrides_of(const Json& request) {
    std::vector<scenarios::Override> overrides;
    const Json* const set = member(request, "set");
    if (set == nullptr) return overrides;
    if (!set->is_object()) refuse("set", "a map of keys and values");
    for (const auto& [key, value] : set->items()) {
        if (!value.is_string()) refuse("set", "a map of keys and YAML texts");
        overrides.emplace_back(key, value.get<std::string>());
    }
    return overrides;
}

scenarios::Scenario scenario_of(const Json& request) {
    if (member(request, "text") != nullptr)
        return scenarios::parse_scenario(
            text_of(request, "text"), text_of(request, "file", "scenario"), overrides_of(request));
    const std::string name = text_of(request, "scenario");
    if (name.empty()) throw InputError("a scenario is required: a name, a file, or its keys");
    return scenarios::read_scenario(name, overrides_of(request));
}

ScenarioText grid_text_of(const Json& request) {
    ScenarioText of{text_of(request, "text"), text_of(request, "file", "scenario")};
    if (member(request, "text") == nullptr) {
        of.file = scenarios::find_scenario(text_of(request, "scenario")).string();
        of.text = read_file(of.file);
    }
    if (const Json* const grid = member(request, "sweep")) {
        if (!grid->is_object()) refuse("sweep", "a map of keys and lists of values");
        of.text = scenarios::with_block(of.text, of.file, "sweep", grid->dump());
    }
    return of;
}

void add_timeline(const Trace& trace, Answered& answer) {
    constexpr std::array kColumns{"rank",  "replica", "lane",     "pass",        "stage",
                                  "slice", "begin",   "end",      "micro_batch", "exposed",
                                  "bytes", "action",  "beside_of"};
    std::map<std::string, std::vector<std::int64_t>*> columns;
    for (const char* name : kColumns)
        columns[name] = &answer.columns[fmt::format("timeline.{}", name)];
    const auto begin = [](Instant at) { return at.time_since_epoch().count(); };
    // A pair is two rows, the second of which says so; what is no pass has the stage -1.
    const auto add = [&](const Span& span, const Compute* pass, bool beside) {
        columns["rank"]->push_back(span.rank.index);
        columns["replica"]->push_back(span.replica);
        columns["lane"]->push_back(static_cast<std::int64_t>(span.lane));
        columns["action"]->push_back(static_cast<std::int64_t>(span.action.index()));
        columns["pass"]->push_back(pass == nullptr ? -1 : static_cast<std::int64_t>(pass->pass));
        columns["stage"]->push_back(pass == nullptr ? -1 : pass->stage.index);
        columns["micro_batch"]->push_back(pass == nullptr ? -1 : pass->micro_batch.index);
        columns["slice"]->push_back(pass == nullptr ? -1 : pass->micro_batch.slice.value_or(-1));
        columns["begin"]->push_back(begin(span.begin));
        columns["end"]->push_back(begin(span.end));
        columns["exposed"]->push_back(beside ? 0 : span.exposed.count());
        columns["bytes"]->push_back(span.bytes.count);
        columns["beside_of"]->push_back(beside ? 1 : 0);
    };
    for (const Span& span : trace.spans) {
        if (const auto* pass = std::get_if<Compute>(&span.action)) {
            add(span, pass, false);
        } else if (const auto* pair = std::get_if<Overlap>(&span.action)) {
            add(span, &pair->first, false);
            add(span, &pair->second, true);
        } else {
            add(span, nullptr, false);
        }
    }
    for (const MemorySample& sample : trace.memory) {
        answer.columns["memory.rank"].push_back(sample.rank.index);
        answer.columns["memory.at"].push_back(begin(sample.at));
        answer.columns["memory.class"].push_back(static_cast<std::int64_t>(sample.held_as));
        answer.columns["memory.bytes"].push_back(sample.held.count);
    }
}

}  // namespace debubble::python
