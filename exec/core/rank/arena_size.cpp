#include "exec/core/rank/rank_job.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::exec {

Bytes arena_need(Bytes planned) {
    constexpr Bytes kBeside{std::int64_t{1} << 30};
    return planned + Bytes{planned.count / 10} + kBeside;
}

Bytes arena_on_device(Bytes planned, bool rows_vary, Bytes room, const std::string& device) {
    if (planned > room)
        throw WorldError(
            fmt::format("by the prediction the rank needs {:.4g} GiB; {} has {:.4g} GiB for it",
                        gib(planned), device, gib(room)));
    if (planned.count == 0 || rows_vary) return room;
    return std::min(room, arena_need(planned));
}

}  // namespace debubble::exec
