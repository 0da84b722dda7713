#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "trace/profile/formats/profile_files.h"
#include "trace/profile/runs/profiled_run.h"
#include "trace/statistics.h"

/// Any bytes as a database: either an InputError, or a run that can be summed up.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    const int file = memfd_create("fuzz.sqlite", 0);
    if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
    try {
        std::vector<profile::RankProfile> ranks =
            profile::read_nsight("/proc/self/fd/" + std::to_string(file));
        for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].rank = static_cast<int>(i);
        statistics(profile::put_together(std::move(ranks)).trace);
    } catch (const InputError&) {
    }
    close(file);
    return 0;
}
