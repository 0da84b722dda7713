#pragma once

#include <cstdint>

/// Chooses, once per process, the widest vector instructions of the processor, so that one binary
/// runs everywhere. The choice decides the bits of a result (a fused multiply-add rounds once), so
/// all hot loops of a process use the same.
namespace debubble::exec {

enum class VectorUnit : std::uint8_t { Baseline, Avx2, Avx512 };

/// The widest vector unit of the processor, but no wider than the environment's
/// DEBUBBLE_VECTOR_UNIT (baseline, avx2 or avx512), by which the bits of an older machine can be
/// repeated; it limits oneDNN too (onednn_instructions). Throws InputError if that variable is none
/// of them.
VectorUnit vector_unit();

/// Marks a lambda or function whose loops are compiled into its caller, and so for the caller's
/// instruction set.
#define DEBUBBLE_INLINE __attribute__((always_inline))

#if defined(__x86_64__)
template <class Loop>
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))) void run_avx512(Loop loop) {
    loop();
}
template <class Loop>
__attribute__((target("avx2,fma"))) void run_avx2(Loop loop) {
    loop();
}
#endif

/// Runs `loop`, a lambda marked DEBUBBLE_INLINE, compiled for the vector unit. It should capture by
/// value: a referenced variable might change with every element that it stores.
template <class Loop>
void vectorised(Loop loop) {
#if defined(__x86_64__)
    switch (vector_unit()) {
        case VectorUnit::Avx512: return run_avx512(loop);
        case VectorUnit::Avx2: return run_avx2(loop);
        case VectorUnit::Baseline: break;
    }
#endif
    loop();
}

}  // namespace debubble::exec
