#pragma once

#include "trace/profile/runs/open_run.h"

namespace debubble::profile {

/// read_run(), or the run of which everything is known in the one file that write_chrome_trace()
/// wrote.
ProfiledRun read_any_run(const std::vector<std::string>& files, const RunOptions& options = {});

}  // namespace debubble::profile
