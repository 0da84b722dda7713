#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "trace/trace.h"

/// The formats of trace files in one table, which all readers and writers of traces use.
namespace debubble {

struct TraceFormat {
    std::string_view ending;   ///< extension of its files' names: ".json"
    std::string_view content;  ///< for help texts: "a trace for Perfetto"
    void (*write)(const Trace& trace, std::ostream& out) = nullptr;
    /// Reads a whole file, whose name is for diagnostics; nullptr for a format that is only
    /// written.
    Trace (*read)(std::string_view text, const std::string& file) = nullptr;
    /// True if the text begins like a file of this format.
    bool (*begins)(std::string_view text) = nullptr;
};

/// The first format is the default for files whose names have no known extension.
std::span<const TraceFormat> trace_formats();
/// The format for the extension of a file's name; nullptr if no format has it.
const TraceFormat* trace_format_named(const std::string& file);

/// The trace in the format for the name of its file.
std::string trace_text(const Trace& trace, const std::string& file);

/// Reads a trace in the format that its first characters show. Throws InputError with every mistake
/// in it, or a sentence for a format that is only written.
Trace read_trace(const std::string& file);

/// ".json (a trace for Perfetto), .csv (a table of actions)", for help texts.
std::string trace_endings();

}  // namespace debubble
