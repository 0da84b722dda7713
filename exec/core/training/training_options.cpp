#include "exec/core/training/training_options.h"

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::exec {

TrainingOptions training_options(const scenarios::Scenario& scenario) {
    TrainingOptions options = scenario.training.run;
    LrSchedule& schedule = options.lr_schedule;
    if (!schedule.total_steps) schedule.total_steps = options.steps;
    if (schedule.shape != LrSchedule::Shape::Constant && !schedule.total_steps)
        throw InputError(
            fmt::format("a {} learning rate needs an end: give 'steps' or "
                        "'lr_schedule.total_steps'",
                        name_of(schedule.shape)));
    if (const auto reason = why_no_warmup(schedule)) throw InputError(*reason);
    return options;
}

}  // namespace debubble::exec
