#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/read/read_scenario.h"
#include "trace/picture/document/document.h"
#include "trace/trace.h"

/// The files that the user opens: a scenario, kept as its text, or a trace.
namespace debubble::gui {

/// A scenario's YAML. The text is the only state of a what-if: every change is a change of the
/// text.
struct ScenarioText {
    std::string text;
    std::string file;  ///< the file from which it was read; relative paths in the text start there
    friend bool operator==(const ScenarioText&, const ScenarioText&) = default;
};

struct TraceFile {
    Trace trace;
    std::string file;        ///< of several files of one run, the first, or their folder
    std::string words = {};  ///< how the passes of a profile were found
};

using Source = std::variant<ScenarioText, TraceFile>;

/// Opens a file or the name of a shipped scenario. A file is a trace if its name has the ending of
/// a trace format (trace/io/trace_formats.h), or if a profiler wrote it. A job of another framework
/// is read into a scenario (scenarios/jobs/job.h), with the keys that the job lacks from `set`; its
/// file is next to the job, under another name. Throws InputError if it cannot be read; the
/// scenario itself is not checked yet.
Source open_source(const std::string& name_or_path, const std::vector<std::string>& set = {});

/// Whether a file is a profiler's (Kineto, Nsight Systems): torch.profiler's JSON, plain or packed,
/// a database, or a folder of them.
bool is_profile(const std::string& file);

/// The plan that a profiled run executed, if it is known.
struct ExecutedPlan {
    Program program;
    std::vector<int> layers;  ///< layers of each stage
};

/// Reads the ranks of one run. Throws InputError if they are of different runs, or show no passes.
TraceFile read_profile(const std::vector<std::string>& files, const ExecutedPlan* plan = nullptr);

/// The shipped scenario of the first start, which has clear bubbles.
inline constexpr const char* kFirstExample = "gpt2-xl-1f1b";

/// The title of a file: "gpt2-xl" for ".../gpt2-xl.yaml".
std::string title_of(const std::string& file);

/// The texts at the head of a trace's picture: "gpt2-xl (executed): step 1.2 s, bubble 12.3 %".
picture::Caption caption_of(const Trace& trace, const Statistics& statistics,
                            const std::string& file);

}  // namespace debubble::gui
