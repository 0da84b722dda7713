#include "sim/commands/cost_units.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::sim {
namespace {

constexpr std::int64_t kGreatestCost = 1'000'000'000;
constexpr std::int64_t kFinestPart = 1'000'000'000;  ///< greatest denominator: nine decimals

[[noreturn]] void refuse(std::string_view text) {
    throw InputError(
        fmt::format("'{}' is not a cost: give a number from 0 to 1e9, such as 3, 0.25 (nine "
                    "decimals at most) or 1/3",
                    text));
}

/// Reads digits only: a sign, a blank or an exponent is a mistake.
std::int64_t whole(std::string_view digits, std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.front() == '-')
        refuse(text);
    return value;
}

Fraction parse_fraction(std::string_view text) {
    Fraction fraction;
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
        fraction = {whole(text.substr(0, slash), text), whole(text.substr(slash + 1), text)};
    } else if (const auto point = text.find('.'); point != std::string_view::npos) {
        const std::string_view decimals = text.substr(point + 1);
        if (decimals.size() > 9) refuse(text);
        for (std::size_t i = 0; i < decimals.size(); ++i) fraction.denominator *= 10;
        const std::int64_t before = point == 0 ? 0 : whole(text.substr(0, point), text);
        if (before > kGreatestCost) refuse(text);
        fraction.numerator =
            before * fraction.denominator + (decimals.empty() ? 0 : whole(decimals, text));
    } else {
        fraction.numerator = whole(text, text);
    }
    if (fraction.denominator == 0 || fraction.denominator > kFinestPart ||
        fraction.numerator / fraction.denominator >= kGreatestCost)
        refuse(text);
    const std::int64_t common = std::gcd(fraction.numerator, fraction.denominator);
    return {fraction.numerator / common, fraction.denominator / common};
}

std::vector<Fraction> parse_fractions(std::string_view text) {
    std::vector<Fraction> fractions;
    for (std::string_view rest = text;;) {
        const auto comma = rest.find(',');
        fractions.push_back(parse_fraction(rest.substr(0, comma)));
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    if (fractions.size() != 4)
        throw InputError(
            fmt::format("--costs takes four numbers F,I,W,C (forward, backward-input, "
                        "backward-weight, link), and '{}' has {}",
                        text, fractions.size()));
    return fractions;
}

double value(Fraction f) {
    return static_cast<double>(f.numerator) / static_cast<double>(f.denominator);
}

/// Nanoseconds per unit for which all fractions are whole numbers, also when sliced; at least a
/// million, so that a search may divide costs further.
std::int64_t exact_scale(const std::vector<Fraction>& fractions, const PipelineShape& shape) {
    constexpr double kLongestStep = 4e18;  // in nanoseconds, within 63 bits
    const double ops = 4.0 * shape.stages() * shape.micro_batches * shape.slices;
    double greatest = 1;
    for (const Fraction f : fractions) greatest = std::max(greatest, value(f));
    std::int64_t scale = 1;
    for (const Fraction f : fractions) {
        const std::int64_t factor = f.denominator / std::gcd(scale, f.denominator);
        if (static_cast<double>(scale) * static_cast<double>(factor) * shape.slices * greatest *
                ops >
            kLongestStep)
            throw InputError(
                "these costs have no common unit that is fine enough to count in; "
                "give fewer decimals");
        scale *= factor;
    }
    scale *= shape.slices;
    const double room = kLongestStep / (static_cast<double>(scale) * greatest * ops);
    const double finer = std::clamp(1e6 / static_cast<double>(scale), 1.0, std::max(room, 1.0));
    return scale * static_cast<std::int64_t>(finer);
}

}  // namespace

CostUnits::CostUnits(std::string_view costs, std::optional<std::string_view> overlap,
                     const PipelineShape& shape) {
    std::vector<Fraction> fractions = parse_fractions(costs);
    if (overlap) fractions.push_back(parse_fraction(*overlap));
    const std::int64_t scale = exact_scale(fractions, shape);
    nanoseconds_per_unit_ = static_cast<double>(scale);
    const auto duration = [&](Fraction f) { return Duration{scale / f.denominator * f.numerator}; };
    costs_.stages = {{duration(fractions[0]), duration(fractions[1]), duration(fractions[2])}};
    costs_.link = duration(fractions[3]);
    if (overlap) costs_.overlap = duration(fractions[4]);
}

double CostUnits::in_units(Duration duration) const {
    return static_cast<double>(duration.count()) / nanoseconds_per_unit_;
}

}  // namespace debubble::sim
