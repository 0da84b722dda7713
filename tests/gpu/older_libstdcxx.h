#pragma once

/// Included before everything else where programs are packed for other machines (pack.sh): the only
/// function of libstdc++ 12 that our programs want in a version newer than GLIBCXX_3.4.29, which
/// RHEL 9 and Ubuntu 22.04 have. Its version 3.4.30 differs in one word: it is not noexcept, so
/// that a cancelled thread may unwind, and nothing here cancels threads.
#if defined(__GNUC__) && defined(__linux__)
__asm__(
    ".symver _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE,"
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
#endif
