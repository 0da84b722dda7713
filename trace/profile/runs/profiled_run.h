#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/profile/passes/accounts.h"
#include "trace/profile/passes/clocks.h"
#include "trace/profile/passes/message_ends.h"
#include "trace/profile/passes/rank_actions.h"
#include "trace/trace.h"

/// A run of another framework, from its profiler, as a Trace.
namespace debubble::profile {

struct RunOptions {
    /// The plan that was executed, if it is known: names the passes where nothing else does.
    std::optional<Program> program;
    /// Attention layers of each stage of that plan, if it is known.
    std::optional<std::vector<int>> layers;
};

/// The findings about the file of one rank.
struct RankFacts {
    std::string file;
    std::string format;
    int global_rank = 0;
    std::int32_t replica = 0;
    Rank rank;  ///< in the pipeline
    std::string device;
    std::uint64_t events = 0;
    DeviceAccount account;
    std::vector<std::string> unknown;  ///< names of unclassified kernels
    std::optional<std::int64_t> peak_allocated;
    std::int64_t clock_ahead = 0;  ///< ns, of the first rank's clock
    double clock_drift = 0;        ///< seconds a second that it gains on the first rank's clock
    Evidence evidence = Evidence::None;
    std::size_t fitting = 0;
    std::size_t anchors = 0;
    int layers = 0;
    ExchangeTimes exchanges;
    std::vector<std::string> notes;
};

struct ProfiledRun {
    Trace trace;  ///< without spans if no passes were found
    std::vector<RankFacts> ranks;
    std::vector<std::string> step_names;
    std::optional<std::string> order;  ///< schedule with the order of the passes: "1f1b"
    Clocks clocks;
    std::vector<std::string> notes;
    /// Shares of the anchors that agree, from 0 to 1; 1 where names were recorded.
    double confidence() const;
};

/// Joins the ranks of one run. Throws InputError if they belong to different runs or if their
/// clocks cannot be aligned.
ProfiledRun put_together(std::vector<RankProfile> ranks, const RunOptions& options = {});

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

/// read_run(), or the fully known run in a single file of write_chrome_trace().
ProfiledRun read_any_run(const std::vector<std::string>& files, const RunOptions& options = {});

}  // namespace debubble::profile
