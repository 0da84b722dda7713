#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

/// What the library answers. A request is a JSON object. That of a plan has
///
///   scenario: a name, a path of a file, or the scenario itself as an object or YAML text
///             (`text`, with `file` as the name that mistakes have and paths are relative to)
///   set: {key: YAML text}, as `--set`
///
/// Every verb throws what the command line's verb throws.
namespace debubble::python {

using Json = nlohmann::ordered_json;

struct Answered {
    Json json;
    std::map<std::string, std::vector<std::int64_t>> columns = {};
};

/// False to stop.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

/// A plan, trace: true for columns timeline.* and memory.*, bill: true, anchors: [files or lines],
/// quick: true (no notes, range and sources, and no allocator where it decides nothing);
/// gives the JSON of `simulate --json`.
Answered simulate(const Json& request, const Progress& progress);
/// A plan and file, which is written: a page (.html), a picture (.svg), a table of actions (.csv)
/// or a trace (.json, and the other endings of `--trace`); without a file the page is `page`.
Answered save(const Json& request, const Progress& progress);
/// A plan with a grid, as `sweep`: {key: [values]} or its own; out: a results file, jobs,
/// any_schedule, anchors. Gives keys and rows, each an object of a column's texts.
Answered sweep(const Json& request, const Progress& progress);
/// The same with objective; gives point, prediction and the plans that cannot be told apart.
Answered search(const Json& request, const Progress& progress);
/// name, ranks, stages_per_rank, micro_batches, slices, options, costs, memory_limits, transport;
/// gives csv, text, svg and the replay by these costs.
Answered schedule(const Json& request, const Progress& progress);
/// A plan; gives the order that it plays: csv, placement, stages, and what transports make of it.
Answered order(const Json& request, const Progress& progress);
/// csv, placement; gives what `validate --json` does.
Answered validate(const Json& request, const Progress& progress);
/// model: a name of the zoo, a file or a folder; gives what `model --json` does.
Answered model(const Json& request, const Progress& progress);
/// job, from, set, allow; gives text and notes.
Answered import_job(const Json& request, const Progress& progress);
/// files, and a plan if it is known; gives what `trace --json` does, with columns timeline.*.
Answered read_trace(const Json& request, const Progress& progress);
/// key, a path or the end of one; gives path and text of each that it names.
Answered explain(const Json& request, const Progress& progress);
/// Names: scenarios, models, clusters, frameworks, schedules; columns of lanes and classes.
Answered names(const Json& request, const Progress& progress);

}  // namespace debubble::python
