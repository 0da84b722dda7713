#include "gui/viewmodel/what_if/zoo.h"

#include <cstdlib>
#include <string>

#include "gui/viewmodel/what_if/field.h"
#include "scenarios/edit.h"

namespace debubble::gui {
namespace {

ScenarioText with_stages(const ScenarioText& source, const std::string& schedule, int stages) {
    ScenarioText changed = with_change(source, "schedule", schedule);
    const std::string of_schedule = "schedule.stages_per_rank";
    const bool inner = scenarios::written_at(changed.text, changed.file, of_schedule).has_value();
    changed.text = scenarios::with_key(
        changed.text, changed.file,
        {inner ? of_schedule : "parallel.stages_per_rank", std::to_string(stages)});
    return changed;
}

}  // namespace

ScenarioText with_schedule(const ScenarioText& source, const ZooRow& row) {
    return with_stages(source, row.schedule, row.stages_per_rank);
}

std::vector<ZooRow> schedule_zoo(const ScenarioText& source, const std::stop_token& stop) {
    sim::ZooRequest request;
    request.plan_with = [&](const std::string& schedule, int stages) {
        const ScenarioText text = with_stages(source, schedule, stages);
        return scenarios::parse_scenario(text.text, text.file);
    };
    request.present =
        scenarios::written_at(source.text, source.file, "schedule.name").value_or("1f1b");
    for (const char* key : {"schedule.stages_per_rank", "parallel.stages_per_rank"})
        if (const auto written = scenarios::written_at(source.text, source.file, key))
            if (const int number = std::atoi(written->c_str()); number > 0)
                request.stages.insert(number);
    return sim::schedule_zoo(request, stop);
}

}  // namespace debubble::gui
