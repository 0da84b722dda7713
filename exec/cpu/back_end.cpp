#include "exec/cpu/cpu_kernels.h"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::exec {

namespace {

struct NamedBackEnd {
    std::string_view name;
    std::optional<CpuBackEnd> back_end;  ///< unset: the fastest that this build has
};
constexpr NamedBackEnd kBackEnds[] = {
    {"auto", {}}, {"onednn", CpuBackEnd::OneDnn}, {"fixed-order", CpuBackEnd::FixedOrder}};
constexpr NamedBackEnd kOtherNames[] = {{"reference", CpuBackEnd::FixedOrder}};

const NamedBackEnd* find(std::span<const NamedBackEnd> among, std::string_view name) {
    const auto found = std::ranges::find(among, name, &NamedBackEnd::name);
    return found == among.end() ? nullptr : &*found;
}

}  // namespace

CpuBackEnd cpu_back_end(std::string_view name) {
    const NamedBackEnd* named = find(kBackEnds, name);
    if (!named) named = find(kOtherNames, name);
    if (!named)
        throw InputError(
            fmt::format("unknown kernels '{}'; choose {}", name, cpu_back_end_names()));
    const CpuBackEnd fastest = has_onednn() ? CpuBackEnd::OneDnn : CpuBackEnd::FixedOrder;
    const CpuBackEnd which = named->back_end.value_or(fastest);
    if (which == CpuBackEnd::OneDnn && !has_onednn())
        throw InputError(
            "this build has no oneDNN: install libdnnl-dev and configure again, or choose the "
            "fixed-order kernels (fixed-order)");
    return which;
}

std::string_view name_of(CpuBackEnd back_end) {
    return std::ranges::find(kBackEnds, back_end, &NamedBackEnd::back_end)->name;
}

std::string cpu_back_end_names() {
    constexpr std::size_t kLast = std::size(kBackEnds) - 1;
    std::string names;
    for (std::size_t i = 0; i <= kLast; ++i) {
        if (i > 0) names += i == kLast ? " or " : ", ";
        names += kBackEnds[i].name;
    }
    return names;
}

bool has_onednn() {
#ifdef DEBUBBLE_HAS_ONEDNN
    return true;
#else
    return false;
#endif
}

#ifndef DEBUBBLE_HAS_ONEDNN
std::string onednn_version() {
    return {};
}

std::string onednn_instructions() {
    return {};
}
#endif

}  // namespace debubble::exec
