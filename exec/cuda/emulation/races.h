#pragma once

/// The annotations by which ThreadSanitizer sees the emulated GPU's kernels and lanes as a GPU
/// would run them. Threads of a block are its fibers, ordered by barriers alone: shuffles order no
/// memory. Lanes are ordered by their callers and by events alone: locks, and the order in which
/// the processor emulates the lanes, are hidden. The files of the emulation are not instrumented
/// (DEBUBBLE_FIND_RACES, CMakeLists.txt); in other builds nothing here has an effect.
#if defined(DEBUBBLE_FIND_RACES)

#include <sanitizer/tsan_interface.h>

extern "C" void AnnotateIgnoreSyncBegin(const char* file, int line);
extern "C" void AnnotateIgnoreSyncEnd(const char* file, int line);

namespace debubble::exec::cuda::races {

/// Makes the work of this thread visible to the threads that later call `after` with the same
/// address.
inline void before(void* what) {
    __tsan_release(what);
}
inline void after(void* what) {
    __tsan_acquire(what);
}
/// Locks that are taken while this object lives order nothing.
class Unseen {
public:
    Unseen() { AnnotateIgnoreSyncBegin(__FILE__, __LINE__); }
    ~Unseen() { AnnotateIgnoreSyncEnd(__FILE__, __LINE__); }
    Unseen(const Unseen&) = delete;
    Unseen& operator=(const Unseen&) = delete;
};
inline constexpr bool kSought = true;

}  // namespace debubble::exec::cuda::races

#else

namespace debubble::exec::cuda::races {

inline void before(void*) {}
inline void after(void*) {}
class Unseen {
public:
    Unseen() {}  // NOLINT(modernize-use-equals-default): else it is a variable that nobody uses
};
inline constexpr bool kSought = false;

}  // namespace debubble::exec::cuda::races

#endif
