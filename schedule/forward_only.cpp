#include "schedule/derived_programs.h"

#include <algorithm>

namespace debubble {

namespace {

bool shards_by_stage(const Program& program) {
    return std::ranges::any_of(program.ranks, [](const ActionList& list) {
        return std::ranges::any_of(
            list, [](const Action& action) { return std::holds_alternative<Reshard>(action); });
    });
}

bool is_activation(const Action& action) {
    const auto* send = std::get_if<Send>(&action);
    const auto* recv = std::get_if<Recv>(&action);
    if (send != nullptr) return send->message.kind == Message::Kind::Activation;
    return recv != nullptr && recv->message.kind == Message::Kind::Activation;
}

}  // namespace

Program forward_only(const Program& program) {
    Program forward = program;
    forward.name += " forward";
    const bool sharded = shards_by_stage(program);
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
        ActionList& list = forward.ranks[rank];
        list.clear();
        for (const Action& action : program.ranks[rank]) {
            for_each_compute(action, [&](const Compute& compute) {
                if (compute.pass == Pass::Forward) list.emplace_back(compute);
            });
            const bool gathers =
                std::holds_alternative<Unshard>(action) || std::holds_alternative<Reshard>(action);
            if (is_activation(action) || (sharded && gathers)) list.push_back(action);
        }
    }
    return forward;
}

}  // namespace debubble
