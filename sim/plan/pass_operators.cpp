#include "sim/plan/plan_picture.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "sim/cost/schedule_prices.h"

namespace debubble::sim {
namespace {

using picture::OperatorParts;

bool is_exchange(const PricePart& part) {
    return std::visit(Overloaded{
                          [](const KernelPart& of) {
                              return std::holds_alternative<models::Collective>(of.kernel->work);
                          },
                          [](const OperatorPart&) { return false; },
                          [](const CostTerm& term) { return term.name == kSharding.name; },
                      },
                      part.from);
}

std::string name_of_part(const PricePart& part) {
    const std::string name =
        std::visit(Overloaded{
                       [](const KernelPart& of) { return of.kernel->name; },
                       [](const OperatorPart& of) { return of.name; },
                       [](const CostTerm& term) { return std::string(term.name); },
                   },
                   part.from);
    return part.times > 1 ? fmt::format("{} \u00d7 {}", part.times, name) : name;
}

Duration hidden_of(const PricePart& part) {
    const auto* kernel = std::get_if<KernelPart>(&part.from);
    if (kernel == nullptr || !is_exchange(part)) return {};
    return std::max(Duration{}, part.times * kernel->alone - part.takes);
}

OperatorParts parts_of(const std::vector<PricePart>& priced) {
    double all = 0;
    for (const PricePart& part : priced) all += std::max(0.0, seconds(part.takes));
    OperatorParts parts;
    if (all <= 0) return parts;
    double at = 0;
    for (const PricePart& part : priced) {
        const double takes = std::max(0.0, seconds(part.takes)) / all;
        const double hidden = seconds(hidden_of(part)) / all;
        if (takes <= 0 && hidden <= 0) continue;
        parts.push_back({name_of_part(part), is_exchange(part), at, at + takes, hidden});
        at += takes;
    }
    return parts;
}

}  // namespace

std::shared_ptr<const picture::OperatorTable> operators_of(const SchedulePrices& prices,
                                                           const Schedule& schedule) {
    auto table = std::make_shared<picture::OperatorTable>();
    std::map<const std::vector<PricePart>*, std::shared_ptr<const OperatorParts>> known;
    const auto put = [&](const auto& pass, const std::vector<PricePart>& priced) {
        if (priced.empty()) return;
        auto& parts = known[&priced];
        if (!parts) parts = std::make_shared<const OperatorParts>(parts_of(priced));
        table->put(pass, parts);
    };
    constexpr std::array kPasses{Pass::Forward, Pass::Backward, Pass::BackwardInput,
                                 Pass::BackwardWeight};
    const int stages = prices.placement().stage_count();
    for (int s = 0; s < stages; ++s)
        for (int slice = 0; slice < std::max(1, schedule.shape.slices); ++slice) {
            const MicroBatch micro_batch{0, slice};
            const StagePrice& price = prices.of(Stage{s}, micro_batch);
            for (const Pass pass : kPasses)
                put(Compute{pass, Stage{s}, micro_batch}, price.parts(pass));
            put(Recompute{Stage{s}, micro_batch}, price.parts_again());
        }
    return table;
}

}  // namespace debubble::sim
