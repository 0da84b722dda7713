#include "trace/io/trace_formats.h"

#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "trace/profile/runs/profiled_run.h"

namespace debubble {
namespace {

/// In bytes. A step of a million actions takes some 300 for each.
constexpr std::size_t kLongestTrace = std::size_t{2} << 30U;

bool begins_as_json(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

bool begins_as_table(std::string_view text) {
    return text.starts_with("rank,replica,lane,");
}

bool begins_as_pickle(std::string_view text) {
    return text.starts_with("\x80");
}

constexpr std::array kFormats{
    TraceFormat{".json", "a trace for Perfetto", write_chrome_trace, read_chrome_trace,
                begins_as_json},
    TraceFormat{".csv", "a table of actions", write_trace_csv, nullptr, begins_as_table},
    TraceFormat{".pickle", "memory for pytorch.org/memory_viz", write_memory_snapshot, nullptr,
                begins_as_pickle},
};

const TraceFormat& format_of_text(std::string_view text) {
    const auto* const format =
        std::ranges::find_if(kFormats, [&](const TraceFormat& f) { return f.begins(text); });
    return format == kFormats.end() ? kFormats.front() : *format;
}

}  // namespace

std::span<const TraceFormat> trace_formats() {
    return kFormats;
}

const TraceFormat* trace_format_named(const std::string& file) {
    const auto* const format = std::ranges::find_if(
        kFormats, [&](const TraceFormat& f) { return file.ends_with(f.ending); });
    return format == kFormats.end() ? nullptr : format;
}

std::string trace_text(const Trace& trace, const std::string& file) {
    const TraceFormat* const format = trace_format_named(file);
    std::ostringstream out;
    (format != nullptr ? *format : kFormats.front()).write(trace, out);
    return std::move(out).str();
}

Trace read_trace(const std::string& file) {
    const profile::TraceKind kind = profile::kind_of_trace(file);
    if (kind == profile::TraceKind::Kineto || kind == profile::TraceKind::Nsight) {
        profile::ProfiledRun run = profile::read_run({file});
        if (run.trace.spans.empty())
            throw InputError(
                fmt::format("{}: no pipeline pass is named or recognised in this "
                            "profile; `debubble trace` shows its contents",
                            file));
        return std::move(run.trace);
    }
    const std::string text = read_file(file, kLongestTrace);
    const TraceFormat& format = format_of_text(text);
    if (format.read == nullptr)
        throw InputError(
            fmt::format("{} is {}, which can be written but not read; give the trace as "
                        "{} ({})",
                        file, format.content, kFormats.front().ending, kFormats.front().content));
    return format.read(text, file);
}

std::string trace_endings() {
    std::string text;
    for (const TraceFormat& format : kFormats)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", format.ending, format.content);
    return text;
}

}  // namespace debubble
