#pragma once

#include "trace/profile/runs/open_run.h"

namespace debubble::profile {

/// read_run(), or the fully known run in a single file of write_chrome_trace().
ProfiledRun read_any_run(const std::vector<std::string>& files, const RunOptions& options = {});

}  // namespace debubble::profile
