#include "sim/commands/commands.h"

namespace debubble::sim {

/// The verbs in the order of the help, each by the name of its file, whose function add_NAME() adds
/// it.
// clang-format off
#define DEBUBBLE_VERBS(verb) \
    verb(simulate)      \
    verb(sweep)         \
    verb(search)        \
    verb(schedule)      \
    verb(validate)      \
    verb(validate_cost) \
    verb(model)         \
    verb(compare)       \
    verb(import)        \
    verb(export)        \
    verb(trace)         \
    verb(serve)         \
    verb(list)
// clang-format on

#define DEBUBBLE_DECLARE(name) void add_##name(CLI::App& program, ExitStatus& answer);
DEBUBBLE_VERBS(DEBUBBLE_DECLARE)
#undef DEBUBBLE_DECLARE

void add_verbs(CLI::App& program, ExitStatus& answer) {
#define DEBUBBLE_ADD(name) add_##name(program, answer);
    DEBUBBLE_VERBS(DEBUBBLE_ADD)
#undef DEBUBBLE_ADD
}
#undef DEBUBBLE_VERBS

}  // namespace debubble::sim
