#include "trace/executed_order.h"

#include <fmt/format.h>

namespace debubble {

std::vector<std::string> Sentences::take() && {
    if (left_out_ > 0) sentences_.push_back(fmt::format("and at least {} more", left_out_));
    return std::move(sentences_);
}

std::string words(const Executor& executor, const TraceHeader& header) {
    if (header.folded) return fmt::format("rank {}", executor.rank.index);
    return fmt::format("rank {} of replica {}", executor.rank.index, executor.replica);
}

std::string words(const Action& action) {
    std::string text = to_text(action);
    if (const auto* send = std::get_if<Send>(&action))
        text += fmt::format(" to rank {}", send->to.index);
    if (const auto* recv = std::get_if<Recv>(&action))
        text += fmt::format(" from rank {}", recv->from.index);
    return text;
}

}  // namespace debubble
