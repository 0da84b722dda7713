#include "trace/profile/runs/profiled_run.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "trace/profile/formats/json_stream.h"
#include "trace/profile/formats/profile_files.h"

namespace debubble::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100'000;

bool is_trace_name(const std::string& name) {
    constexpr std::array<std::string_view, 4> kEndings{".json", ".json.gz", ".sqlite", ".sqlite3"};
    return std::ranges::any_of(kEndings, [&](std::string_view e) { return name.ends_with(e); });
}

std::vector<RankProfile> read_file_of_ranks(const std::string& file) {
    if (kind_of_trace(file) == TraceKind::Nsight) return read_nsight(file);
    std::vector<RankProfile> out;
    out.push_back(read_kineto(file));
    return out;
}

/// Nsight Systems does not record ranks: where no file names one, the files' order defines them.
void number_ranks(std::vector<RankProfile>& ranks) {
    if (std::ranges::any_of(ranks, [](const RankProfile& r) { return r.rank.has_value(); })) return;
    if (std::ranges::any_of(ranks, [](const RankProfile& r) { return r.format == "Kineto"; }))
        return;
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].rank = static_cast<int>(i);
}

}  // namespace

TraceKind kind_of_trace(const std::string& file) {
    ByteSource source(file);
    constexpr std::size_t kStart = 65'536;  // tools put words of their own before the events
    std::string start(kStart, '\0');
    start.resize(source.read(start.data(), start.size()));
    if (start.starts_with("SQLite format 3")) return TraceKind::Nsight;
    const std::size_t first = start.find_first_not_of(" \t\r\n");
    if (first == std::string::npos || (start[first] != '{' && start[first] != '['))
        return TraceKind::Other;
    const auto has = [&](std::string_view word) { return start.find(word) != std::string::npos; };
    if (has("\"debubble\":")) return TraceKind::Own;
    const bool events = has("\"traceEvents\"") || has("\"schemaVersion\"") || has("\"ph\"") ||
                        has("\"deviceProperties\"") || has("\"distributedInfo\"");
    return events ? TraceKind::Kineto : TraceKind::Other;
}

std::vector<std::string> trace_files(const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (const std::string& name : names) {
        std::error_code error;
        if (!fs::is_directory(name, error)) {
            out.push_back(name);
            continue;
        }
        std::vector<std::string> inside;
        for (const auto& entry : fs::directory_iterator(name, error)) {
            const std::string path = entry.path().string();
            if (entry.is_regular_file(error) && is_trace_name(path) &&
                kind_of_trace(path) != TraceKind::Other)
                inside.push_back(path);
            if (inside.size() > kMostFiles) break;
        }
        if (inside.empty())
            throw InputError({Diagnostic{
                {name, 0, 0}, "this folder holds no trace (.json, .json.gz or .sqlite)", {}}});
        std::ranges::sort(inside);
        std::ranges::move(inside, std::back_inserter(out));
    }
    return out;
}

ProfiledRun read_run(const std::vector<std::string>& files, const RunOptions& options) {
    std::vector<RankProfile> ranks;
    std::vector<Diagnostic> mistakes;
    for (const std::string& file : files) {
        try {
            std::ranges::move(read_file_of_ranks(file), std::back_inserter(ranks));
        } catch (const InputError& error) {
            std::ranges::copy(error.diagnostics(), std::back_inserter(mistakes));
        }
    }
    if (!mistakes.empty()) throw InputError(std::move(mistakes));
    number_ranks(ranks);
    return put_together(std::move(ranks), options);
}

}  // namespace debubble::profile
