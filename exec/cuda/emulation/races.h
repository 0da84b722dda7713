#pragma once

/// What thread sanitizer is told of the emulated GPU, so that it judges kernels and lanes as a GPU
/// would run them. Threads of a block are its fibers, ordered by barriers alone: shuffles order no
/// memory. Lanes are ordered by who asked and by events alone: the locks and the order by which
/// the processor plays them are not seen. The files that play are not instrumented
/// (DEBUBBLE_FIND_RACES, CMakeLists.txt); elsewhere nothing here does anything.
#if defined(DEBUBBLE_FIND_RACES)

#include <sanitizer/tsan_interface.h>

extern "C" void AnnotateIgnoreSyncBegin(const char* file, int line);
extern "C" void AnnotateIgnoreSyncEnd(const char* file, int line);

namespace debubble::exec::cuda::races {

/// What this thread did is known to those who ask for it `after` the same thing.
inline void before(void* what) {
    __tsan_release(what);
}
inline void after(void* what) {
    __tsan_acquire(what);
}
/// Locks that are taken meanwhile order nothing.
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
