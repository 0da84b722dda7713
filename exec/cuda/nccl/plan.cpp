#include "exec/cuda/nccl/plan.h"

#include <set>

namespace debubble::exec::nccl {

std::vector<Edge> edges_of(const Program& program) {
    std::set<Edge> edges;
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
        for (const Action& action : program.ranks[rank]) {
            if (const auto* send = std::get_if<Send>(&action))
                edges.insert({static_cast<int>(rank), send->to.index, send->message.kind});
        }
    }
    return {edges.begin(), edges.end()};
}

}  // namespace debubble::exec::nccl
