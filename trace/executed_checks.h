#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/trace.h"

/// The parts of executed_in_order().
namespace debubble {

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
