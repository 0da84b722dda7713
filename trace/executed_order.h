#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/trace.h"

/// The check that a run executed its schedule.
namespace debubble {

struct OrderOptions {
    std::vector<Bytes> planned_peaks;  ///< by rank; if empty, memory is not compared
    double memory_tolerance = 0.01;    ///< relative to a planned peak, in both directions
};

/// The deviations of a trace from its program, a sentence each; empty if all of these are true:
///
///   each rank carried out exactly its list, in every step of the trace;
///   each stream of a rank in the order of the list: computes and optimizer one
///     after the other, each channel, the gathers, the reductions, the copies;
///   a compute began after its messages, gathers and reloads had ended, a send and
///     a reduction after the maker of their operand, an optimizer step after the
///     reductions listed before it;
///   a message arrived after it was sent, as long as it was sent;
///   each rank's peak memory is the planned one.
///
/// Times are checked only if all lists agree, and may be wrong by TraceHeader::clock_error. At most
/// kMostSentences, followed by a note that there are more. Precondition:
/// validate(program) is empty.
std::vector<std::string> executed_in_order(const Program& program, const Trace& trace,
                                           const OrderOptions& options = {});

// The parts of executed_in_order().

inline constexpr std::size_t kMostSentences = 50;

/// The sentences found so far. Above kMostSentences they are only counted.
class Sentences {
public:
    void add(std::string sentence) {
        if (sentences_.size() < kMostSentences)
            sentences_.push_back(std::move(sentence));
        else
            ++left_out_;
    }
    bool empty() const { return sentences_.empty(); }
    bool overflown() const { return left_out_ > 0; }  ///< true when the search may stop
    std::vector<std::string> take() &&;

private:
    std::vector<std::string> sentences_;
    std::size_t left_out_ = 0;
};

/// One pipeline rank of one replica.
struct Executor {
    std::int32_t replica = 0;
    Rank rank;
    friend auto operator<=>(const Executor&, const Executor&) = default;
};

/// The executor's name: "rank 1", "rank 1 of replica 3".
std::string words(const Executor& executor, const TraceHeader& header);
/// The action's text, and the peer of a SEND or RECV.
std::string words(const Action& action);

/// For each executor the span of every action of its list, step after step.
struct Execution {
    int steps = 0;
    std::map<Executor, std::vector<std::size_t>> spans;
};

/// Matches the spans with the lists. Every mismatch adds a sentence, and then the result must not
/// be used.
Execution match_lists(const Program& program, const Trace& trace, Sentences& sentences);

void check_times(const Program& program, const Trace& trace, const Execution& execution,
                 Sentences& sentences);

}  // namespace debubble
