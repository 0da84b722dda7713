#include "exec/cpu/vectorise.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/diagnostic.h"

namespace debubble::exec {

namespace {

VectorUnit widest() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        return VectorUnit::Avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorUnit::Avx2;
#endif
    return VectorUnit::Baseline;
}

VectorUnit allowed() {
    const char* variable = std::getenv("DEBUBBLE_VECTOR_UNIT");
    const std::string name = variable ? variable : "avx512";
    if (name == "baseline") return VectorUnit::Baseline;
    if (name == "avx2") return VectorUnit::Avx2;
    if (name == "avx512") return VectorUnit::Avx512;
    throw InputError("DEBUBBLE_VECTOR_UNIT is '" + name +
                     "' in the environment; it may be baseline, avx2 or avx512");
}

}  // namespace

VectorUnit vector_unit() {
    static const VectorUnit unit = std::min(widest(), allowed());
    return unit;
}

}  // namespace debubble::exec
