#include <cstdint>
#include <sstream>
#include <string_view>

#include "base/diagnostic.h"
#include "trace/profile/formats/profile_files.h"
#include "trace/profile/formats/recorded_kernels.h"
#include "trace/profile/runs/profiled_run.h"
#include "trace/statistics.h"

/// Any bytes: either an InputError, or a run that can be summed up; its operators' kernels
/// likewise.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        std::vector<profile::RankProfile> ranks;
        ranks.push_back(profile::read_kineto_text(text, "fuzz.json"));
        const profile::ProfiledRun run = profile::put_together(std::move(ranks));
        statistics(run.trace);
    } catch (const InputError&) {
    }
    try {
        profile::read_recorded_kernels_text(text, "fuzz.json",
                                            [](std::string_view op) { return op != "aten::add"; });
    } catch (const InputError&) {
    }
    return 0;
}
