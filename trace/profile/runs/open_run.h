#pragma once

#include <string>
#include <vector>

#include "trace/profile/runs/profiled_run.h"

namespace debubble::profile {

/// The kind of a trace's file, by its first bytes.
enum class TraceKind : std::uint8_t {
    Own,     ///< write_chrome_trace() wrote it
    Kineto,  ///< torch.profiler wrote it
    Nsight,  ///< `nsys export --type sqlite` wrote it
    Other,
};
/// Throws InputError for a file that does not exist.
TraceKind kind_of_trace(const std::string& file);

/// The named files, and those of the named folders: every .json, .json.gz and .sqlite in them, by
/// name. Throws InputError for a folder without any.
std::vector<std::string> trace_files(const std::vector<std::string>& names);

/// Reads the files of the ranks of one run. Throws InputError with every file's first mistake.
ProfiledRun read_run(const std::vector<std::string>& files, const RunOptions& options = {});

}  // namespace debubble::profile
