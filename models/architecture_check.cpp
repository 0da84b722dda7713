#include "models/architecture_check.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/architecture_limits.h"
#include "models/weight_format.h"

namespace debubble::models {
namespace {

/// The number of parameters to leading order, in doubles, which do not overflow.
double largest_count(const Architecture& a) {
    const auto h = static_cast<double>(a.hidden);
    const double attention = 4 * h * static_cast<double>(a.heads * a.head_dim);
    const double mlp = 3 * h * static_cast<double>(a.ffn) *
                       static_cast<double>(std::max<std::int64_t>(1, a.experts));
    const auto rows = static_cast<double>(2 * a.vocab + a.max_positions);
    return a.layers * (attention + mlp) + rows * h;
}

}  // namespace

std::int64_t vit_positions(const Architecture& a) {
    const std::int64_t side = a.image_size.value_or(1) / a.patch_size.value_or(1);
    return side * side + 1;
}

void check_architecture(const Architecture& a, text::MappingReader& map) {
    if (a.heads * a.head_dim > kWidestMlp)
        map.complain("heads", fmt::format("{} heads of {} are more than {} columns", a.heads,
                                          a.head_dim, kWidestMlp));
    const double parameters = largest_count(a);
    if (parameters > kMostParameters)
        map.complain("layers", fmt::format("about {:.1e} parameters are more than {:.0e}",
                                           parameters, kMostParameters));
    if (a.heads % a.kv_heads != 0)
        map.complain("kv_heads",
                     fmt::format("{} key-value heads do not divide {} heads", a.kv_heads, a.heads));
    if (a.experts > 0 && a.experts_per_token > a.experts)
        map.complain("experts_per_token", fmt::format("a token cannot go to {} of {} experts",
                                                      a.experts_per_token, a.experts));
    if (a.experts * a.layers > kMostExpertsOfAll)
        map.complain("experts", fmt::format("{} experts in each of {} layers are more than {}",
                                            a.experts, a.layers, kMostExpertsOfAll));
    for (FormatMistake& mistake : format_mistakes(a))
        map.complain(mistake.key, std::move(mistake.sentence));
    if (a.positions == Positions::Rope && a.head_dim % 2 != 0)
        map.complain("head_dim", fmt::format("rotary positions turn pairs, and a head dimension "
                                             "of {} is odd",
                                             a.head_dim));
    if (!a.sees_images()) return;
    if (*a.image_size % *a.patch_size != 0)
        map.complain("patch_size", fmt::format("patches of {} pixels do not tile an image of {}",
                                               *a.patch_size, *a.image_size));
    else if (a.max_positions != vit_positions(a))
        map.complain("max_positions",
                     fmt::format("{} pixels in patches of {} and a class token are {} positions, "
                                 "not {}",
                                 *a.image_size, *a.patch_size, vit_positions(a), a.max_positions));
}

}  // namespace debubble::models
