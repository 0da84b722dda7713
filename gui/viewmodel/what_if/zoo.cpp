#include "gui/viewmodel/what_if/zoo.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "gui/viewmodel/what_if/field.h"
#include "scenarios/read/edit.h"
#include "text/wording.h"

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

std::vector<std::size_t> pinned_first(const std::vector<ZooRow>& rows,
                                      const std::vector<std::string>& pinned) {
    std::vector<std::size_t> order;
    const auto is_pinned = [&](const ZooRow& row) {
        return std::ranges::find(pinned, row.schedule) != pinned.end();
    };
    for (const std::string& name : pinned)
        if (const auto at = std::ranges::find(rows, name, &ZooRow::schedule); at != rows.end())
            order.push_back(at - rows.begin());
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (!is_pinned(rows[i])) order.push_back(i);
    return order;
}

std::string step_words(const ZooRow& row, const std::vector<ZooRow>& rows,
                       const std::vector<std::string>& pinned) {
    std::string words = text::time_text(row.step_s);
    if (pinned.empty() || pinned.front() == row.schedule) return words;
    const auto base = std::ranges::find(rows, pinned.front(), &ZooRow::schedule);
    if (base == rows.end() || !base->possible()) return words;
    return fmt::format("{}, {:+.1f} %", words, 100 * (row.step_s / base->step_s - 1));
}

std::vector<ZooRow> schedule_zoo(const ScenarioText& source, const std::stop_token& stop) {
    const scenarios::ScenarioTemplate scenario(source.text, source.file);
    const ScenarioText any = with_change(source, "schedule", "gpipe");
    const bool inner =
        scenarios::written_at(any.text, any.file, "schedule.stages_per_rank").has_value();
    sim::ZooRequest request;
    request.plan_with = [&](const std::string& schedule, int stages) {
        std::vector<scenarios::Override> changes = changes_for(source, "schedule", schedule);
        changes.emplace_back(inner ? "schedule.stages_per_rank" : "parallel.stages_per_rank",
                             std::to_string(stages));
        return scenario.instantiate(changes);
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
