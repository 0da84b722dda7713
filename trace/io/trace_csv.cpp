#include "trace/io/trace_formats.h"

#include <ostream>

#include <fmt/format.h>

#include "trace/statistics.h"

namespace debubble {
namespace {

std::string peer_of(const Action& action) {
    if (const auto* send = std::get_if<Send>(&action)) return std::to_string(send->to.index);
    if (const auto* recv = std::get_if<Recv>(&action)) return std::to_string(recv->from.index);
    return {};
}

std::int64_t nanoseconds(Instant at) {
    return at.time_since_epoch().count();
}

}  // namespace

void write_trace_csv(const Trace& trace, std::ostream& out) {
    out << "rank,replica,lane,action,peer,begin_ns,end_ns,exposed_ns,bytes\n";
    for (const Span& s : trace.spans)
        out << fmt::format("{},{},{},{},{},{},{},{},{}\n", s.rank.index, s.replica, name_of(s.lane),
                           to_text(s.action), peer_of(s.action), nanoseconds(s.begin),
                           nanoseconds(s.end), s.exposed.count(), s.bytes.count);
}

void write_memory_csv(const Trace& trace, std::ostream& out) {
    out << "rank,at_ns,class,bytes\n";
    for (const MemorySample& s : trace.memory)
        out << fmt::format("{},{},{},{}\n", s.rank.index, nanoseconds(s.at), name_of(s.held_as),
                           s.held.count);
}

}  // namespace debubble
