#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/diagnostic.h"
#include "schedule/csv.h"

/// Any bytes: either an InputError, or a schedule that writes and reads as itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const Schedule schedule = read_csv(text, {"fuzz.csv", "fuzz", {}}).schedule;
        const Schedule again =
            read_csv(write_csv(schedule), {"again.csv", "fuzz", schedule.placement}).schedule;
        if (again != schedule) std::abort();
    } catch (const InputError&) {
    }
    try {
        const Placement placement = read_placement(text, "fuzz.csv");
        if (read_placement(write_placement(placement), "again.csv") != placement) std::abort();
    } catch (const InputError&) {
    }
    return 0;
}
