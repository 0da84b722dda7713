#include "exec/program/run/prepare_run.h"

#include <optional>

#include <fmt/format.h>

#include "exec/io/data/data_set.h"
#include "text/quantity.h"

namespace debubble::exec {

namespace {

constexpr std::size_t kDigitsShown = 24;  ///< digits of a hash, whose first sixteen leave no doubt

using Settings = std::map<std::string, std::string>;

std::optional<std::string> setting(const Settings& settings, const char* key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> end_of_rate(const Settings& settings) {
    for (const char* key : {"lr_schedule.total_steps", "steps"})
        if (const auto value = setting(settings, key)) return text::parse_whole(*value);
    return {};
}

std::optional<std::string> note_on_rate(const RunJob& job, const Checkpoint& from) {
    const LrSchedule& schedule = job.options.lr_schedule;
    const auto before = end_of_rate(from.manifest.settings);
    if (schedule.shape == LrSchedule::Shape::Constant || !before || *before == schedule.total_steps)
        return {};
    LrSchedule was = schedule;
    was.total_steps = *before;
    const double lr = lr_of(job.options.optimizer);
    const std::int64_t taken = from.manifest.training.schedule_steps;
    return fmt::format(
        "the learning rate ends after {} steps, and that of {} was to end after {}: step {} has "
        "{:.6g}, "
        "and would have had {:.6g}; 'training.lr_schedule.total_steps' says where it ends",
        *schedule.total_steps, from.folder.string(), *before, job.start.first_step() + 1,
        schedule.rate(lr, taken), was.rate(lr, taken));
}

std::optional<std::string> note_on_data(const RunJob& job, const Checkpoint& from) {
    const auto before = setting(from.manifest.settings, kDataOfRun);
    if (!before || *before == job.train_data) return {};
    return fmt::format("{} was trained on different data: on {}, and this run has {}",
                       from.folder.string(), *before, job.train_data.value_or(""));
}

}  // namespace

std::string data_in_words(const Batches& batches) {
    return fmt::format("{} samples with the fingerprint {}", batches.data().samples(),
                       fingerprint(batches.data()).substr(0, kDigitsShown));
}

std::vector<std::string> notes_on_changes(const RunJob& job) {
    std::vector<std::string> notes;
    if (!job.start.resume || job.start.first_step() >= job.last_step) return notes;
    for (auto& note : {note_on_rate(job, *job.start.resume), note_on_data(job, *job.start.resume)})
        if (note) notes.push_back(*note);
    return notes;
}

}  // namespace debubble::exec
