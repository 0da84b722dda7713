#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The names of the back ends that compute on the processor, and what this build has of them.
namespace debubble::exec {

enum class CpuBackEnd : std::uint8_t { OneDnn, FixedOrder };

/// The back end that has this name: onednn, fixed-order (also called reference), or auto, which is
/// the fastest that this build has. Throws InputError for another name, and for onednn if this
/// build has no oneDNN.
CpuBackEnd cpu_back_end(std::string_view name);
std::string_view name_of(CpuBackEnd back_end);
/// The names to choose from: "auto, onednn or fixed-order".
std::string cpu_back_end_names();

/// Whether this build has oneDNN.
bool has_onednn();
std::string onednn_version();  ///< such as "2.6.3"; empty without oneDNN
/// The widest instructions that oneDNN uses in this process, in its own words ("avx512_core"): they
/// decide the bits of its products. They are the least of those that the processor has, that
/// ONEDNN_MAX_CPU_ISA allows, and that DEBUBBLE_VECTOR_UNIT allows: sse41 for baseline, avx2, or
/// avx512_core for avx512. Empty without oneDNN.
std::string onednn_instructions();

}  // namespace debubble::exec
