#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/read/read_scenario.h"
#include "sim/anchor/anchor.h"
#include "sim/anchor/measured_plan.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"
#include "trace/profile/formats/snapshot_peaks.h"

namespace debubble::sim {
namespace {

namespace fs = std::filesystem;

constexpr double kMostRate = 1e12;

/// The path of a file relative to the file that names it.
std::string beside(const std::string& file, const std::string& named) {
    const fs::path path = fs::path(file).parent_path() / named;
    std::error_code error;
    return fs::exists(path, error) ? path.string() : named;
}

MeasuredPlan of_snapshot(const std::string& file) {
    const profile::SnapshotPeaks peaks = profile::snapshot_peaks(file);
    MeasuredPlan plan;
    plan.allocated = peaks.allocated;
    plan.reserved = peaks.reserved;
    return plan;
}

/// The files named by a measured section, which are read once the plan is known.
struct NamedFiles {
    std::vector<std::string> profiles;
    std::string snapshot;
};

MeasuredPlan read_measured(const text::NodePtr& node, text::Mistakes& mistakes, NamedFiles& files) {
    text::MappingReader in(node, "measured", mistakes);
    MeasuredPlan plan;
    std::string log;
    if (in.text("log", log)) plan = read_log(log);
    if (Duration step; in.duration("step_time", step)) plan.step_s = seconds(step);
    if (double rate = 0; in.real("tokens_per_s_per_gpu", rate, 1e-3, kMostRate))
        plan.tokens_per_s_per_gpu = rate;
    if (double rate = 0; in.real("tflops_per_gpu", rate, 1e-3, kMostRate))
        plan.tflops_per_gpu = rate;
    if (Bytes bytes; in.bytes("allocated_memory", bytes)) plan.allocated = bytes;
    if (Bytes bytes; in.bytes("reserved_memory", bytes)) plan.reserved = bytes;
    if (const text::NodePtr profile = in.value("profile"); !profile) {
    } else if (profile->is(text::Node::Kind::List)) {
        for (const text::NodePtr& item : profile->items) files.profiles.push_back(item->scalar);
    } else {
        files.profiles.push_back(profile->scalar);
    }
    in.text("snapshot", files.snapshot);
    in.finish();
    if (in.good() && !plan.says_anything() && files.profiles.empty() && files.snapshot.empty())
        in.complain("measured",
                    "'measured' has no figure: step_time, tokens_per_s_per_gpu, tflops_per_gpu, "
                    "allocated_memory, reserved_memory, a log's lines that have some, a profile or "
                    "a memory snapshot");
    return plan;
}

std::vector<scenarios::Override> read_overrides(text::MappingReader& in) {
    std::vector<scenarios::Override> overrides;
    const text::NodePtr map = in.value("set");
    if (!map) return overrides;
    if (!map->is(text::Node::Kind::Map)) {
        in.complain("set", "'set' is a map of keys and values, as parallel.tensor: 4");
        return overrides;
    }
    for (const text::Node::Entry& entry : map->entries) {
        if (entry.value->is(text::Node::Kind::Scalar))
            overrides.emplace_back(entry.key, entry.value->scalar);
        else
            in.complain("set",
                        fmt::format("'{}' of 'set' is neither a word nor a number", entry.key));
    }
    return overrides;
}

Anchor read_document(const std::string& text, const std::string& file,
                     const scenarios::Scenario& own) {
    text::Mistakes mistakes;
    text::MappingReader in(text::parse_yaml(text, file), "anchor", mistakes);
    Anchor anchor;
    anchor.scenario = own;
    const std::vector<scenarios::Override> overrides = read_overrides(in);
    const text::NodePtr scenario = in.value("scenario");
    in.demand("measured");
    NamedFiles named;
    if (const text::NodePtr measured = in.value("measured"))
        anchor.measured = read_measured(measured, mistakes, named);
    in.finish();
    mistakes.throw_if_any();
    if (!scenario && !overrides.empty())
        throw InputError(fmt::format("{}: 'set' needs 'scenario', which the file lacks", file));
    if (scenario && scenario->is(text::Node::Kind::Map))
        anchor.scenario = scenarios::scenario_of_map(scenario, file, overrides);
    else if (scenario)
        anchor.scenario = scenarios::read_scenario(beside(file, scenario->scalar), overrides);
    for (std::string& profile : named.profiles) profile = beside(file, profile);
    if (!named.profiles.empty())
        anchor.measured.fill_from(read_profile(named.profiles, anchor.scenario));
    if (!named.snapshot.empty())
        anchor.measured.fill_from(of_snapshot(beside(file, named.snapshot)));
    return anchor;
}

bool is_document(const std::string& file) {
    return file.ends_with(".yaml") || file.ends_with(".yml");
}

/// The figures of the plan in one of the files or lines.
MeasuredPlan measured_of(const std::string& file_or_line) {
    std::error_code error;
    if (!fs::is_regular_file(file_or_line, error)) {
        const MeasuredPlan measured = read_log(file_or_line);
        if (measured.says_anything()) return measured;
        throw InputError(
            fmt::format("--anchor '{}' is neither a file nor a line that Megatron-LM, torchtitan "
                        "or Primus print: give a YAML file with 'measured', a log, a profile, a "
                        "memory snapshot, or a line such as 'mem 73.3 GiB, 11,600 tps'",
                        file_or_line));
    }
    if (profile::is_pickle(file_or_line)) return of_snapshot(file_or_line);
    const MeasuredPlan measured = read_log(read_file(file_or_line));
    if (!measured.says_anything())
        throw InputError(
            fmt::format("{}: no line has a time or a peak of memory as "
                        "Megatron-LM, torchtitan or Primus print them",
                        file_or_line));
    return measured;
}

}  // namespace

Anchor read_anchor(const std::vector<std::string>& files_or_lines, const scenarios::Scenario& own) {
    Anchor anchor{own, {}};
    std::error_code error;
    const auto document = std::ranges::find_if(files_or_lines, [&](const std::string& file) {
        return is_document(file) && fs::is_regular_file(file, error);
    });
    if (document != files_or_lines.end())
        anchor = read_document(read_file(*document), *document, own);
    std::vector<std::string> profiles;
    for (auto it = files_or_lines.begin(); it != files_or_lines.end(); ++it) {
        if (it == document) continue;
        if (is_document(*it) && fs::is_regular_file(*it, error))
            throw InputError(
                fmt::format("{} and {} both describe a measured plan: an anchor "
                            "is a single run",
                            *document, *it));
        if (is_profile(*it))
            profiles.push_back(*it);  // one per rank
        else
            anchor.measured.fill_from(measured_of(*it));
    }
    if (!profiles.empty())  // last: a step under a profiler is longer than the step in a log
        anchor.measured.fill_from(read_profile(profiles, anchor.scenario));
    return anchor;
}

}  // namespace debubble::sim
