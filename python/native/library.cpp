#include <array>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/diagnostic.h"
#include "python/native/debubble.h"
#include "python/native/verbs.h"
#include "scenarios/plan/plan.h"
#include "text/shipped_files.h"

struct debubble_answer {
    int status = DEBUBBLE_DONE;
    std::string json;
    std::map<std::string, std::vector<std::int64_t>> columns = {};
};

namespace debubble::python {
namespace {

static_assert(sizeof(long long) == sizeof(std::int64_t));

struct Verb {
    std::string_view name;
    Answered (*answer)(const Json&, const Progress&);
};
constexpr std::array kVerbs{Verb{"simulate", simulate},     Verb{"save", save},
                            Verb{"sweep", sweep},           Verb{"search", search},
                            Verb{"schedule", schedule},     Verb{"order", order},
                            Verb{"validate", validate},     Verb{"model", model},
                            Verb{"names", names},           Verb{"explain", explain},
                            Verb{"import_job", import_job}, Verb{"read_trace", read_trace}};

/// Thrown where the caller stopped a verb.
struct Stopped {};

std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

debubble_answer failed(int status, const std::string& message, Json places = Json::array()) {
    return {status, dumped({{"message", message}, {"places", std::move(places)}})};
}

Json places_of(const InputError& error) {
    Json places = Json::array();
    for (const Diagnostic& one : error.diagnostics())
        places.push_back({{"file", one.where.file},
                          {"line", one.where.line},
                          {"column", one.where.column},
                          {"message", one.message},
                          {"source_line", one.source_line}});
    return places;
}

/// The shipped files lie beside the library of a wheel.
void find_shipped_files() {
    static std::once_flag once;
    std::call_once(once, [] {
        Dl_info where{};
        if (dladdr(reinterpret_cast<const void*>(&debubble_version), &where) == 0) return;
        const auto beside = std::filesystem::path(where.dli_fname).parent_path() / "share/debubble";
        std::error_code error;
        if (std::filesystem::is_directory(beside / "scenarios", error))
            text::use_data_folder(beside);
    });
}

Answered answered(std::string_view name, const char* request, const Progress& progress) {
    const auto* const verb = std::ranges::find(kVerbs, name, &Verb::name);
    if (verb == kVerbs.end()) throw InputError(fmt::format("there is no verb '{}'", name));
    Json json;
    try {
        json = Json::parse(request);
    } catch (const Json::parse_error& error) {
        throw InputError(fmt::format("the request is no JSON: {}", error.what()));
    }
    bool stopped = false;
    Answered answer = verb->answer(json, [&](std::uint64_t done, std::uint64_t total) {
        if (progress && !stopped) stopped = !progress(done, total);
        return !stopped;
    });
    if (stopped) throw Stopped{};
    return answer;
}

debubble_answer call(std::string_view name, const char* request, const Progress& progress) {
    try {
        find_shipped_files();
        Answered answer = answered(name, request, progress);
        return {DEBUBBLE_DONE, dumped(answer.json), std::move(answer.columns)};
    } catch (const Stopped&) {
        return failed(DEBUBBLE_STOPPED, "stopped");
    } catch (const InputError& error) {
        return failed(DEBUBBLE_INPUT, error.what(), places_of(error));
    } catch (const scenarios::InvalidSchedule& error) {
        return failed(DEBUBBLE_INPUT, error.what());
    } catch (const WorldError& error) {
        return failed(DEBUBBLE_WORLD, error.what());
    } catch (const std::bad_alloc&) {
        return failed(DEBUBBLE_WORLD, "out of memory");
    } catch (const std::exception& error) {
        return failed(DEBUBBLE_BUG, error.what());
    }
}

}  // namespace
}  // namespace debubble::python

debubble_answer* debubble_call(const char* verb, const char* request, debubble_progress progress,
                               void* user) {
    debubble::python::Progress tell;
    if (progress != nullptr)
        tell = [=](std::uint64_t done, std::uint64_t total) {
            return progress(user, done, total) == 0;
        };
    return new debubble_answer(debubble::python::call(verb, request, tell));
}

int debubble_status_of(const debubble_answer* answer) {
    return answer->status;
}

const char* debubble_json(const debubble_answer* answer) {
    return answer->json.c_str();
}

const long long* debubble_column(const debubble_answer* answer, const char* name,
                                 unsigned long long* count) {
    const auto found = answer->columns.find(name);
    if (found == answer->columns.end()) return nullptr;
    *count = found->second.size();
    return reinterpret_cast<const long long*>(found->second.data());
}

void debubble_free(debubble_answer* answer) {
    delete answer;
}

const char* debubble_version() {
    return DEBUBBLE_VERSION;
}
