#include "exec/cuda/nccl/setup.h"

#include <fmt/format.h>

namespace debubble::exec::nccl {

namespace {

constexpr int kLeastLibrary = 22602;
constexpr int kLeastDriver = 12030;

}  // namespace

std::string version_text(int library) {
    const int minor_unit = 100, major_unit = library < 10000 ? 1000 : 10000;
    return fmt::format("{}.{}.{}", library / major_unit, library % major_unit / minor_unit,
                       library % minor_unit);
}

std::optional<std::string> too_old(const Versions& found) {
    if (found.library < kLeastLibrary)
        return fmt::format(
            "NCCL {} does not start kernels in launch order, as NCCL {} and later do: ranks could "
            "deadlock",
            version_text(found.library), version_text(kLeastLibrary));
    if (found.driver < kLeastDriver)
        return fmt::format(
            "the driver is for CUDA {}.{}, under which NCCL serialises its kernels, so that ranks "
            "could deadlock: install a driver for CUDA {}.{} or later (545)",
            found.driver / 1000, found.driver % 1000 / 10, kLeastDriver / 1000,
            kLeastDriver % 1000 / 10);
    return std::nullopt;
}

}  // namespace debubble::exec::nccl
