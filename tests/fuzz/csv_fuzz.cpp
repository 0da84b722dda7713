#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/diagnostic.h"
#include "schedule/csv/csv.h"
#include "schedule/lower.h"
#include "schedule/replay/replay.h"
#include "schedule/validate.h"

namespace debubble {

static bool is_compute_only(const Schedule& schedule) {
    for (const ActionList& list : schedule.ranks)
        for (const Action& action : list)
            if (!std::holds_alternative<Compute>(action)) return false;
    return true;
}

}  // namespace debubble

/// Any bytes: either an InputError, or a schedule that writes and reads as
/// itself. If it is valid, it plays, and what it is lowered to is valid.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const Schedule schedule = read_csv(text, {"fuzz.csv", "fuzz", {}}).schedule;
        const CsvOptions as_written{"again.csv", "fuzz", schedule.placement, Dialect::Current};
        const Schedule again = read_csv(write_csv(schedule), as_written).schedule;
        if (again != schedule) std::abort();
        if (validate(schedule).empty()) {
            replay(schedule, unit_costs());
            if (is_compute_only(schedule) && !validate(lower(schedule, {})).empty()) std::abort();
        }
    } catch (const InputError&) {
    }
    try {
        const Placement placement = read_placement(text, "fuzz.csv");
        if (read_placement(write_placement(placement), "again.csv") != placement) std::abort();
    } catch (const InputError&) {
    }
    return 0;
}
