#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "trace/trace.h"

/// The formats of trace files: their table, which all readers and writers of traces use, and each
/// of them.
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

// Chrome's JSON trace format, for Perfetto (ui.perfetto.dev) and chrome://tracing, and its reader
// for comparisons.

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

/// rank,replica,lane,action,peer,begin_ns,end_ns,exposed_ns,bytes; one row per
/// span, `peer` only for SEND and RECV.
void write_trace_csv(const Trace& trace, std::ostream& out);

/// rank,at_ns,class,bytes; one row per change.
void write_memory_csv(const Trace& trace, std::ostream& out);

/// The memory of a trace in the format of torch.cuda.memory._dump_snapshot (PyTorch 2.11,
/// torch/cuda/_memory_viz.py), which pytorch.org/memory_viz shows: a pickle of protocol 2 whose
/// device_traces have one device per pipeline rank. A trace holds levels by class, so a block is an
/// increase of a class; it is freed, the newest first, when the level decreases. Its frame names
/// the class and the action that ran.
void write_memory_snapshot(const Trace& trace, std::ostream& out);

/// The Chakra execution trace of a rank, as ASTRA-sim and SimAI read it: a GlobalMetadata and
/// Nodes, each after its length as a varint (mlcommons/chakra 6dc63e1,
/// schema/protobuf/et_def.proto; attributes' names are those of its feeder).
///
/// A compute depends on the rank's compute before it and on the messages that deliver its inputs, a
/// send on the pass that made its message, a receive on the channel's receive before it; the two
/// ends of a message have the same comm_tag. A node named WAIT represents time in which the rank
/// waits for something without a node: its host, a link with contention, or, before a send, a
/// receiver without a free buffer. Times are whole microseconds, each instant rounded, so that
/// replaying the dependencies gives every node's begin and end, and the makespan.
///
/// Collectives name their process group in pg_name, a number; group 0 is that of all ranks.
/// ASTRA-sim needs a file for every rank of a group (astra-sim 0383c20, workload/Workload.cc):
/// ranks are then numbered tp + T (cp + C (dp + D pp)), and all replicas have the actions of the
/// recorded one. For one pipeline, ranks are those of the pipeline, and a group has only its
/// members among them.
enum class ChakraRanks : std::uint8_t { OfOnePipeline, All };

/// The number of files that write_chakra() writes.
std::size_t chakra_files(const TraceHeader& header, ChakraRanks which);

/// Passes the text of each rank's file to `file`, and returns the members of the groups as the JSON
/// that ASTRA-sim reads (--comm-group-configuration): "1": [0, 2].
std::string write_chakra(const Trace& trace, ChakraRanks which,
                         const std::function<void(std::size_t rank, std::string text)>& file);

}  // namespace debubble
