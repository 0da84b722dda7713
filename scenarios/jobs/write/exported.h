#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/plan/scenario.h"

namespace debubble::jobs {

/// Something of a plan that a framework cannot do, or that its job does not say.
struct Unsaid {
    std::string key;  ///< of the scenario
    std::string sentence;
};

/// A plan as a job.
struct Exported {
    std::string text;
    std::vector<Unsaid> unsaid;
};

/// The words of `export --format` that take a scenario.
std::vector<std::string> export_formats();

/// The ending of a job's file: ".sh", ".json", ".py".
std::string_view export_ending(std::string_view format);

/// The plan as a job of that format. The job is read back (import_text), and every key that comes
/// out otherwise is named. Throws InputError for a format that is none, and for networks that the
/// framework does not have.
Exported export_job(const scenarios::Scenario& scenario, const std::string& format);

}  // namespace debubble::jobs
