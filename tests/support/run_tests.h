#pragma once

namespace debubble {

/// Runs the cases of this program as GoogleTest's main() does; with --folder=tests/sim/cost those
/// alone whose sources lie in that folder itself, so that every case belongs to one entry of ctest.
/// A folder without a case is a mistake.
int run_tests(int argc, char** argv);

}  // namespace debubble
