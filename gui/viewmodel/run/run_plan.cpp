#include "gui/viewmodel/run/run_plan.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "scenarios/read/edit.h"

namespace debubble::gui {
namespace {

constexpr const char* kCheckpoints = "training.checkpoint.dir";

}  // namespace

std::vector<std::string> run_words(const ScenarioText& source, const RunFolder& out, int steps) {
    std::vector<std::string> words{"run",       source.file, "--metrics", out.metrics(), "--trace",
                                   out.trace(), "--json",    out.json(),  "--resume",    "never"};
    if (steps > 0) words.insert(words.end(), {"--steps", std::to_string(steps)});
    const auto set = [&](const std::string& key, const std::string& value) {
        words.insert(words.end(), {"--set", key + '=' + value});
    };
    for (const auto& [key, value] :
         scenarios::changes_between(read_file(source.file), source.text, source.file))
        if (key != kCheckpoints) set(key, value);
    if (scenarios::written_at(source.text, source.file, kCheckpoints))
        set(kCheckpoints, nlohmann::json(out.checkpoints()).dump());  // quoted, as YAML has it too
    return words;
}

void MetricsReader::add(std::string_view bytes) {
    rest_ += bytes;
    std::size_t from = 0;
    for (std::size_t end = 0; (end = rest_.find('\n', from)) != std::string::npos; from = end + 1)
        take_line(std::string_view(rest_).substr(from, end - from));
    rest_.erase(0, from);
}

void MetricsReader::take_line(std::string_view line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    const auto number = [&](const char* key) {
        return json.contains(key) && json[key].is_number();
    };
    if (!json.is_object() || !number("step") || !number("loss") || !number("tokens_per_s")) return;
    steps_.push_back({json["step"], json["loss"], json["tokens_per_s"]});
}

}  // namespace debubble::gui
