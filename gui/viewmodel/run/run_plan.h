#pragma once

#include <string>
#include <vector>

#include "gui/viewmodel/source.h"

/// `debubble run` of the shown plan, as a child process.
namespace debubble::gui {

struct RunFolder {
    std::string folder;
    std::string metrics() const { return folder + "/metrics.jsonl"; }
    std::string trace() const { return folder + "/executed.trace.json"; }
    std::string json() const { return folder + "/run.json"; }
    std::string checkpoints() const { return folder + "/checkpoints"; }
};

/// The arguments after `debubble`. Changes of the text against its file are given by --set, so that
/// relative paths in the file keep their meaning. Checkpoints are saved in the run's own folder: a
/// run of the window starts from the first step, and would replace and delete checkpoints of a
/// training in the scenario's folder. Throws InputError if the file cannot be read or the text is
/// not a scenario.
std::vector<std::string> run_words(const ScenarioText& source, const RunFolder& out, int steps);

/// A step in the format of --metrics.
struct RunStep {
    std::int64_t step = 0;
    double loss = 0;
    double tokens_per_s = 0;
};

/// Reads a growing file of metrics. Lines that are not steps are skipped.
class MetricsReader {
public:
    /// Adds the next bytes of the file, which may end inside a line.
    void add(std::string_view bytes);
    const std::vector<RunStep>& steps() const { return steps_; }

private:
    void take_line(std::string_view line);

    std::string rest_;
    std::vector<RunStep> steps_;
};

}  // namespace debubble::gui
