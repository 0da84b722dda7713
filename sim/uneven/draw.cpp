#include "sim/uneven/draw.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/random_bits.h"
#include "scenarios/plan/packing.h"

namespace debubble::sim {
namespace {

enum class Of : std::uint64_t { Load, Documents, Jitter, Sample };

/// A lognormal distribution with this mean and this standard deviation relative to it.
std::lognormal_distribution<double> lognormal(double mean, double spread) {
    const double variance = std::log1p(spread * spread);
    return std::lognormal_distribution<double>(std::log(mean) - variance / 2, std::sqrt(variance));
}

/// The first replica of a draw uses the draw's own numbers.
std::uint64_t draw_word(int draw, int replica) {
    return static_cast<std::uint64_t>(draw) | static_cast<std::uint64_t>(replica) << 32U;
}

/// Lengths of documents, one after the other.
class Lengths {
public:
    Lengths(const scenarios::Imbalance& imbalance, std::int64_t seq_length, std::int64_t multiple)
        : documents_(*imbalance.documents),
          longest_(documents_.longest.value_or(seq_length)),
          multiple_(multiple),
          length_(lognormal(documents_.mean, documents_.spread)) {}

    std::int64_t next(auto& bits) {
        const double drawn = documents_.spread > 0 ? length_(bits) : documents_.mean;
        const double least = std::max(static_cast<double>(documents_.shortest), std::round(drawn));
        const auto tokens =
            static_cast<std::int64_t>(std::min(static_cast<double>(longest_), least));
        return (tokens + multiple_ - 1) / multiple_ * multiple_;
    }

private:
    const scenarios::Documents& documents_;
    std::int64_t longest_;
    std::int64_t multiple_;
    std::lognormal_distribution<double> length_;
};

}  // namespace

int expert_groups(const scenarios::Parallel& parallel) {
    return std::clamp(parallel.expert_replicas(), 1, parallel.data);
}

Draw::Draw(const scenarios::Scenario& scenario, DrawnPipeline pipeline)
    : imbalance_(scenario.imbalance),
      mean_load_(scenario.training.expert_load),
      seq_length_(scenario.training.seq_length),
      draw_(draw_word(pipeline.draw, pipeline.replica)),
      experts_(draw_word(pipeline.draw, pipeline.replica * expert_groups(scenario.parallel) /
                                            scenario.parallel.data)) {
    if (!imbalance_.documents || scenarios::packs_in_step(scenario)) return;
    const int samples = scenario.training.micro_batch;
    for (int mb = 0; mb < scenario.training.micro_batches; ++mb) {
        double sum = 0;
        for (int sample = 0; sample < samples; ++sample) sum += attended_of_sequence(mb, sample);
        attended_.push_back(sum / samples);
    }
}

double Draw::load(int layer, int micro_batch) const {
    RandomBits bits{static_cast<std::uint64_t>(imbalance_.seed), experts_,
                    static_cast<std::uint64_t>(Of::Load), static_cast<std::uint64_t>(layer),
                    static_cast<std::uint64_t>(micro_batch)};
    const std::vector<double>& loads = imbalance_.router_loads;
    if (!loads.empty())
        return loads[std::uniform_int_distribution<std::size_t>(0, loads.size() - 1)(bits)];
    if (imbalance_.router_spread == 0) return mean_load_;
    return std::max(1.0, lognormal(mean_load_, imbalance_.router_spread)(bits));
}

std::vector<std::int64_t> Draw::documents(int micro_batch, int sample,
                                          std::int64_t multiple) const {
    RandomBits bits{static_cast<std::uint64_t>(imbalance_.seed), draw_,
                    static_cast<std::uint64_t>(Of::Documents),
                    static_cast<std::uint64_t>(micro_batch), static_cast<std::uint64_t>(sample)};
    Lengths documents(imbalance_, seq_length_, multiple);
    std::vector<std::int64_t> lengths;
    for (std::int64_t left = seq_length_; left > 0; left -= lengths.back())
        lengths.push_back(std::min(left, documents.next(bits)));
    return lengths;
}

std::int64_t Draw::document(int sample, std::int64_t multiple) const {
    RandomBits bits{static_cast<std::uint64_t>(imbalance_.seed), draw_,
                    static_cast<std::uint64_t>(Of::Sample), static_cast<std::uint64_t>(sample)};
    return Lengths(imbalance_, seq_length_, multiple).next(bits);
}

double Draw::attended_of_sequence(int micro_batch, int sample) const {
    double squares = 0;
    for (const std::int64_t length : documents(micro_batch, sample, 1))
        squares += static_cast<double>(length) * static_cast<double>(length);
    const auto whole = static_cast<double>(seq_length_);
    return squares / (whole * whole);
}

double Draw::jitter(Rank rank, const Compute& first, std::uint64_t kind) const {
    if (imbalance_.jitter == 0) return 1;
    RandomBits bits{static_cast<std::uint64_t>(imbalance_.seed),
                    draw_,
                    static_cast<std::uint64_t>(Of::Jitter),
                    kind,
                    static_cast<std::uint64_t>(rank.index),
                    static_cast<std::uint64_t>(first.pass),
                    static_cast<std::uint64_t>(first.stage.index),
                    static_cast<std::uint64_t>(first.micro_batch.index),
                    static_cast<std::uint64_t>(first.micro_batch.slice.value_or(0))};
    return lognormal(1, imbalance_.jitter)(bits);
}

double mean_attended(const scenarios::Scenario& scenario) {
    if (!scenario.imbalance.documents || scenarios::packs_in_step(scenario)) return 1;
    double sum = 0;
    for (int number = 0; number < scenario.imbalance.draws; ++number) {
        const Draw draw(scenario, {number});
        for (int mb = 0; mb < scenario.training.micro_batches; ++mb) sum += draw.attended(mb);
    }
    return sum / scenario.imbalance.draws / scenario.training.micro_batches;
}

}  // namespace debubble::sim
