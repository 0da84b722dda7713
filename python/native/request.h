#pragma once

#include <string>
#include <vector>

#include "python/native/verbs.h"
#include "scenarios/read/read_scenario.h"
#include "trace/trace.h"

namespace debubble::python {

/// A member of the request, which is a map. Throws InputError for one of another kind.
std::string text_of(const Json& request, const char* key, std::string otherwise = {});
std::vector<std::string> texts_of(const Json& request, const char* key);
int whole_of(const Json& request, const char* key, int otherwise);
bool flag_of(const Json& request, const char* key);

std::vector<scenarios::Override> overrides_of(const Json& request);
scenarios::Scenario scenario_of(const Json& request);

/// A scenario's text and the file that mistakes in it name.
struct ScenarioText {
    std::string text;
    std::string file;
};
/// With the request's `sweep` in the place of its own. Throws InputError.
ScenarioText grid_text_of(const Json& request);

/// The spans and the memory of a trace as columns; texts are numbers that names() tells.
void add_timeline(const Trace& trace, Answered& answer);

}  // namespace debubble::python
