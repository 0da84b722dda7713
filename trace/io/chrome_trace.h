#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "trace/trace.h"

/// Chrome's JSON trace format, for Perfetto (ui.perfetto.dev) and chrome://tracing, and its reader
/// for comparisons.
namespace debubble {

/// A process per rank (and replica), a thread per lane (several where spans of a lane overlap), an
/// arrow from each Send to its Recv, a counter per rank and memory class. `args` hold the action's
/// text and whole nanoseconds, the key "debubble" the header, the peaks and the program:
/// read_chrome_trace() gives the same trace back. One event per line; the same trace gives the same
/// bytes.
void write_chrome_trace(const Trace& trace, std::ostream& out);

/// The same with `plan`, a JSON text that describes the plan of the trace: the key "plan" of the
/// header, which the reader ignores. Left out if it is empty.
void write_chrome_trace(const Trace& trace, std::ostream& out, std::string_view plan);

/// Reads the output of write_chrome_trace(); `file` names it in diagnostics. Unknown events are
/// ignored. Throws InputError naming line and column of every mistake (the first 20).
Trace read_chrome_trace(std::string_view text, const std::string& file);

}  // namespace debubble
