#pragma once

#include <iosfwd>

#include "trace/trace.h"

/// A trace as tables, for spreadsheets and data frames.
namespace debubble {

/// rank,replica,lane,action,peer,begin_ns,end_ns,exposed_ns,bytes; one row per
/// span, `peer` only for SEND and RECV.
void write_trace_csv(const Trace& trace, std::ostream& out);

/// rank,at_ns,class,bytes; one row per change.
void write_memory_csv(const Trace& trace, std::ostream& out);

}  // namespace debubble
