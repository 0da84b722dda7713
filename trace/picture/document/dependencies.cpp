#include "trace/picture/document/dependencies.h"

namespace debubble::picture {
namespace {

using Spans = std::vector<std::uint32_t>;

/// The compute that produces the message of a Recv; the Recv itself if the trace lacks it.
std::uint32_t producer_of(const TimelineDocument& document, std::uint32_t recv) {
    for (const std::uint32_t send : document.links.needs(recv)) {
        if (!std::holds_alternative<Send>(document.span(send).action)) continue;
        for (const std::uint32_t producer : document.links.needs(send))
            if (is_work(document.span(producer).action)) return producer;
    }
    return recv;
}

/// The computes that consume the message of a Send; the Send itself if the trace lacks them.
std::vector<std::uint32_t> consumers_of(const TimelineDocument& document, std::uint32_t send) {
    std::vector<std::uint32_t> consumers;
    for (const std::uint32_t recv : document.links.needed_by(send)) {
        if (!std::holds_alternative<Recv>(document.span(recv).action)) continue;
        const Spans users = document.links.needed_by(recv);
        consumers.insert(consumers.end(), users.begin(), users.end());
    }
    if (consumers.empty()) consumers.push_back(send);
    return consumers;
}

}  // namespace

std::vector<std::uint32_t> direct_needs(const TimelineDocument& document, std::uint32_t span) {
    const Spans needs = document.links.needs(span);
    if (!is_work(document.span(span).action)) return needs;
    std::vector<std::uint32_t> out;
    for (const std::uint32_t needed : needs)
        out.push_back(std::holds_alternative<Recv>(document.span(needed).action)
                          ? producer_of(document, needed)
                          : needed);
    return out;
}

std::vector<std::uint32_t> direct_users(const TimelineDocument& document, std::uint32_t span) {
    const Spans users = document.links.needed_by(span);
    if (!is_work(document.span(span).action)) return users;
    std::vector<std::uint32_t> out;
    for (const std::uint32_t user : users) {
        if (!std::holds_alternative<Send>(document.span(user).action)) {
            out.push_back(user);
            continue;
        }
        const auto consumers = consumers_of(document, user);
        out.insert(out.end(), consumers.begin(), consumers.end());
    }
    return out;
}

}  // namespace debubble::picture
