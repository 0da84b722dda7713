#include "exec/cuda/kernels/experts.h"

#include <cfloat>

#include "exec/cuda/kernels/load.h"

/// A warp takes a token; a lane reads and writes what belongs to the experts lane, lane + 32 ...
namespace debubble::exec::cuda {

namespace {

constexpr float kNoSum = 1e-20F;  ///< keeps a sum of sigmoids from being zero

/// Whether `a` is larger, with NaN the largest: all lanes agree on the order.
__device__ bool larger(float a, float b) {
    return a > b || (a != a && b == b);
}
/// The weight, but at least the smallest normal number: a chosen expert has some weight. NaN stays.
__device__ float at_least_normal(float weight) {
    return weight < FLT_MIN ? FLT_MIN : weight;
}
__device__ float logistic(float x) {
    return 1 / (1 + expf(-x));
}

/// Experts are chosen by the largest keys.
struct Keys {
    Score score;
    Operand logits;
    const float* correction;
    std::int64_t row;

    __device__ float operator()(std::int64_t expert) const {
        const float logit = load(logits, row + expert);
        if (score != Score::Sigmoid) return logit;
        return logistic(logit) + (correction != nullptr ? correction[expert] : 0.F);
    }
};

/// A bit for each group that the token goes to. A lane takes a group, and counts those that come
/// before it.
__device__ unsigned chosen_groups(const RouteShape& shape, const Keys& key_of) {
    if (shape.groups_chosen >= shape.groups) return ~0U;
    const int lane = lane_of_warp(), groups = static_cast<int>(shape.groups);
    const std::int64_t each = shape.experts / shape.groups;
    float best = -INFINITY, second = -INFINITY;
    for (std::int64_t i = 0; lane < groups && i < each; ++i) {
        const float key = key_of(lane * each + i);
        if (!larger(key, best)) {
            if (larger(key, second)) second = key;
            continue;
        }
        second = best;
        best = key;
    }
    const float mine = shape.score == Score::Sigmoid && each > 1 ? best + second : best;
    int before = 0;
    for (int distance = 1; distance < kWarp; ++distance) {
        const float other = warp_xor(mine, distance);
        const int group = lane ^ distance;
        if (group >= groups) continue;
        if (larger(other, mine) || (group < lane && !larger(mine, other))) ++before;
    }
    return warp_ballot(lane < groups && before < shape.groups_chosen);
}

/// Largest of all logits of a token, and the sum of e^(logit - largest) over them.
struct AllLogits {
    float largest = -INFINITY;
    float sum = 0;

    __device__ AllLogits(const RouteShape& shape, const Operand& logits, std::int64_t row) {
        for (std::int64_t e = lane_of_warp(); e < shape.experts; e += kWarp)
            largest = Larger{}(largest, load(logits, row + e));
        largest = over_lanes(largest, Larger{});
        for (std::int64_t e = lane_of_warp(); e < shape.experts; e += kWarp)
            sum += expf(load(logits, row + e) - largest);
        sum = over_lanes(sum, Add{});
    }
    __device__ float share(float logit) const { return expf(logit - largest) / sum; }
    __device__ float log_of_sum() const { return largest + logf(sum); }
};

/// The probabilities of a token in the balance loss.
struct Probabilities {
    Score score;
    AllLogits all;
    float of_sigmoids = 1;

    __device__ Probabilities(const RouteShape& shape, const Operand& logits, std::int64_t row)
        : score(shape.score), all(shape, logits, row) {
        if (score != Score::Sigmoid) return;
        float sum = 0;
        for (std::int64_t e = lane_of_warp(); e < shape.experts; e += kWarp)
            sum += logistic(load(logits, row + e));
        of_sigmoids = over_lanes(sum, Add{}) + kNoSum;
    }
    __device__ float of(float logit) const {
        return score == Score::Sigmoid ? logistic(logit) / of_sigmoids : all.share(logit);
    }
};

__global__ void route_kernel(RouteShape shape, Operand logits, const float* correction,
                             float* weights) {
    const std::int64_t token = token_of_warp(), row = token * shape.experts;
    if (token >= shape.tokens) return;  // holds for the whole warp
    const int lane = lane_of_warp(), experts = static_cast<int>(shape.experts);
    const Keys key_of{shape.score, logits, correction, row};
    const unsigned groups = chosen_groups(shape, key_of);
    const int each = experts / static_cast<int>(shape.groups);
    for (int e = lane; e < experts; e += kWarp) weights[row + e] = 0;  // until one is chosen
    float largest = 0, sum = 0;
    for (std::int64_t choice = 0; choice < shape.chosen; ++choice) {
        float best = 0;
        int at = -1;
        for (int e = lane; e < experts; e += kWarp) {
            if (weights[row + e] != 0) continue;
            if (groups != ~0U && (groups >> (e / each) & 1U) == 0) continue;
            const float key = key_of(e);
            if (at >= 0 && !larger(key, best)) continue;
            best = key;
            at = e;
        }
        for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
            const float other = warp_xor(best, lanes);
            const int other_at = warp_xor(at, lanes);
            const bool first = other_at < at && !larger(best, other);
            if (other_at < 0 || (at >= 0 && !larger(other, best) && !first)) continue;
            best = other;
            at = other_at;
        }
        const float logit = load(logits, row + at);
        if (choice == 0) largest = logit;
        const float weight = at_least_normal(shape.score == Score::Sigmoid ? logistic(logit)
                                                                           : expf(logit - largest));
        sum += weight;
        if (at % kWarp == lane) weights[row + at] = weight;
    }
    if (shape.score == Score::PreSoftmax) sum = AllLogits(shape, logits, row).sum;
    if (shape.score == Score::Sigmoid) sum = shape.renormalised ? sum + kNoSum : 1;
    for (int e = lane; e < experts; e += kWarp)
        if (weights[row + e] != 0)
            weights[row + e] = at_least_normal(weights[row + e] / sum * shape.scaling);
}

__global__ void route_backward_kernel(RouteShape shape, const float* dweights, const float* weights,
                                      Operand logits, float* dlogits) {
    const std::int64_t token = token_of_warp(), row = token * shape.experts;
    if (token >= shape.tokens) return;
    float mean = 0;
    for (std::int64_t e = lane_of_warp(); e < shape.experts; e += kWarp)
        mean += weights[row + e] * dweights[row + e];
    mean = over_lanes(mean, Add{});
    if (shape.score == Score::PreSoftmax) {
        const AllLogits all(shape, logits, row);
        for (std::int64_t e = lane_of_warp(); e < shape.experts; e += kWarp) {
            const float above = weights[row + e] != 0 ? shape.scaling * dweights[row + e] : 0.F;
            dlogits[row + e] = all.share(load(logits, row + e)) * (above - mean);
        }
        return;
    }
    const bool sigmoids = shape.score == Score::Sigmoid;
    mean = sigmoids && !shape.renormalised ? 0.F : mean / shape.scaling;
    for (std::int64_t e = lane_of_warp(); e < shape.experts; e += kWarp) {
        const float slope = sigmoids ? 1 - logistic(load(logits, row + e)) : 1.F;
        dlogits[row + e] = weights[row + e] * (dweights[row + e] - mean) * slope;
    }
}

/// A block counts the tokens of an expert.
__global__ void count_kernel(RouteShape shape, const float* weights, float* counts) {
    const std::int64_t expert = block_index();
    int mine = 0;
    for (std::int64_t token = thread_index(); token < shape.tokens; token += thread_count())
        mine += weights[token * shape.experts + expert] != 0 ? 1 : 0;
    const int all = over_block(mine, Add{}, shared_memory<int>());
    if (thread_index() == 0) counts[expert] += static_cast<float>(all);
}

/// The mean of the experts' counts under a token's probabilities; all lanes of the warp call it.
__device__ float mean_count(const RouteShape& shape, const Probabilities& p, const Operand& logits,
                            std::int64_t row, const float* counts) {
    float mean = 0;
    for (std::int64_t e = lane_of_warp(); e < shape.experts; e += kWarp)
        mean += counts[e] * p.of(load(logits, row + e));
    return over_lanes(mean, Add{});
}

__global__ void values_kernel(RouteShape shape, LossFactors factors, Operand logits,
                              const float* counts, float* values) {
    const std::int64_t token = token_of_warp(), row = token * shape.experts;
    if (token >= shape.tokens) return;
    const Probabilities p(shape, logits, row);
    const float balance = factors.balance != 0 ? mean_count(shape, p, logits, row, counts) : 0.F;
    if (lane_of_warp() != 0) return;
    const float log = p.all.log_of_sum();
    values[token] = balance;
    values[shape.tokens + token] = log * log;
}

struct Scaled {
    const float* values;
    float factor;
    __device__ double operator()(std::int64_t i) const {
        return static_cast<double>(factor) * values[i];
    }
};

__global__ void losses_backward_kernel(RouteShape shape, LossFactors factors, Operand logits,
                                       const float* counts, float* dlogits) {
    const std::int64_t token = token_of_warp(), row = token * shape.experts;
    if (token >= shape.tokens) return;
    const Probabilities p(shape, logits, row);
    const float mean = factors.balance != 0 ? mean_count(shape, p, logits, row, counts) : 0.F;
    const float of_square = 2 * factors.z * p.all.log_of_sum();
    for (std::int64_t e = lane_of_warp(); e < shape.experts; e += kWarp) {
        const float logit = load(logits, row + e);
        float sum = dlogits[row + e];
        if (factors.balance != 0) {
            const float slope = shape.score == Score::Sigmoid ? 1 - logistic(logit) : 1.F;
            sum += factors.balance * p.of(logit) * (counts[e] - mean) * slope;
        }
        if (factors.z != 0) sum += of_square * p.all.share(logit);
        dlogits[row + e] = sum;
    }
}

/// The product of two rows of `hidden` elements, with all lanes together.
__device__ float product_of(std::int64_t hidden, const Operand& a, std::int64_t first_a,
                            const Operand& b, std::int64_t first_b) {
    float sum = 0;
    for (std::int64_t j = lane_of_warp() * kElementsEach; j < hidden; j += kWarp * kElementsEach) {
        const ElementRun run = run_from(j, hidden);
        const Vec8 left = load_run(a, shifted(run, first_a));
        const Vec8 right = load_run(b, shifted(run, first_b));
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) sum += left.at[i] * right.at[i];
    }
    return over_lanes(sum, Add{});
}

/// Weights are not negative, so that they are ordered as these are.
__device__ int bits_of_weight(float weight) {
    return static_cast<int>(bits_of_float(weight));
}

/// The number of tokens whose weight for an expert has at least these bits.
__device__ int tokens_from(const RouteShape& shape, const float* weights, std::int64_t expert,
                           int bits, int* of_warps) {
    int mine = 0;
    for (std::int64_t token = thread_index(); token < shape.tokens; token += thread_count())
        mine += bits_of_weight(weights[token * shape.experts + expert]) >= bits ? 1 : 0;
    return over_block(mine, Add{}, of_warps);
}

/// A block takes an expert: it finds the smallest weight that stays bit by bit, and then goes
/// through the tokens in their order, of which as many with just that weight stay as have room.
__global__ void drop_kernel(RouteShape shape, std::int64_t capacity, const float* weights,
                            float* kept) {
    int* const of_warps = shared_memory<int>();
    const std::int64_t expert = block_index();
    int least = 0;
    for (int bit = 30; bit >= 0; --bit) {
        const int more = least | 1 << bit;
        if (tokens_from(shape, weights, expert, more, of_warps) >= capacity) least = more;
    }
    const int larger = tokens_from(shape, weights, expert, least + 1, of_warps);
    const int warp = thread_index() / kWarp;
    int before = 0;  // tokens with just that weight
    for (std::int64_t first = 0; first < shape.tokens; first += thread_count()) {
        const std::int64_t token = first + thread_index();
        const bool there = token < shape.tokens;
        const float weight = there ? weights[token * shape.experts + expert] : 0.F;
        const bool equal = there && bits_of_weight(weight) == least;
        const unsigned mask = warp_ballot(equal);
        block_barrier();  // no thread still reads the counts before
        if (lane_of_warp() == 0) of_warps[warp] = bit_count(mask);
        block_barrier();
        int place = before + bit_count(mask & ((1U << lane_of_warp()) - 1));
        for (int w = 0; w < thread_count() / kWarp; ++w) {
            if (w < warp) place += of_warps[w];
            before += of_warps[w];
        }
        const bool stays = bits_of_weight(weight) > least || (equal && larger + place < capacity);
        if (there) kept[token * shape.experts + expert] = stays ? weight : 0.F;
    }
}

__global__ void shared_gate_kernel(std::int64_t tokens, std::int64_t hidden, Operand x,
                                   Operand weight, Operand branch, Result y, float* scores) {
    const std::int64_t token = token_of_warp(), first = token * hidden;
    if (token >= tokens) return;
    const float score = logistic(product_of(hidden, x, first, weight, 0));
    for (std::int64_t j = lane_of_warp() * kElementsEach; j < hidden; j += kWarp * kElementsEach) {
        const ElementRun run = shifted(run_from(j, hidden), first);
        Vec8 values = load_run(branch, run);
        DEBUBBLE_UNROLL
        for (float& value : values.at) value *= score;
        store_run(y, run, values);
    }
    if (lane_of_warp() == 0) scores[token] = score;
}

__global__ void shared_gate_backward_kernel(std::int64_t tokens, std::int64_t hidden, Operand dy,
                                            Operand weight, Operand branch, const float* scores,
                                            Result dbranch, Result dx, float* dlogits) {
    const std::int64_t token = token_of_warp(), first = token * hidden;
    if (token >= tokens) return;
    const float score = scores[token];
    const float dlogit = product_of(hidden, dy, first, branch, first) * score * (1 - score);
    for (std::int64_t j = lane_of_warp() * kElementsEach; j < hidden; j += kWarp * kElementsEach) {
        const ElementRun columns = run_from(j, hidden), run = shifted(columns, first);
        Vec8 up = load_run(dy, run), sum = load_run(dx, run);
        const Vec8 by = load_run(weight, columns);
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) {
            sum.at[i] += dlogit * by.at[i];
            up.at[i] *= score;
        }
        store_run(dbranch, run, up);
        store_run(dx, run, sum);
    }
    if (lane_of_warp() == 0) dlogits[token] = dlogit;
}

}  // namespace

void shared_gate_forward(Stream stream, std::int64_t tokens, std::int64_t hidden, Operand x,
                         Operand weight, Operand branch, Result y, float* scores) {
    launch("shared_gate_forward", shared_gate_kernel, over_tokens(tokens), stream, tokens, hidden,
           x, weight, branch, y, scores);
}

void shared_gate_backward(Stream stream, std::int64_t tokens, std::int64_t hidden, Operand dy,
                          Operand weight, Operand branch, const float* scores, Result dbranch,
                          Result dx, float* dlogits) {
    launch("shared_gate_backward", shared_gate_backward_kernel, over_tokens(tokens), stream, tokens,
           hidden, dy, weight, branch, scores, dbranch, dx, dlogits);
}

void route_forward(Stream stream, const RouteShape& shape, Operand logits, const float* correction,
                   float* weights) {
    launch("route_forward", route_kernel, over_tokens(shape.tokens), stream, shape, logits,
           correction, weights);
}

void route_backward(Stream stream, const RouteShape& shape, const float* dweights,
                    const float* weights, Operand logits, float* dlogits) {
    launch("route_backward", route_backward_kernel, over_tokens(shape.tokens), stream, shape,
           dweights, weights, logits, dlogits);
}

void drop_over_capacity(Stream stream, const RouteShape& shape, std::int64_t capacity,
                        const float* weights, float* kept) {
    launch("drop_over_capacity", drop_kernel, over_experts(shape.experts), stream, shape, capacity,
           weights, kept);
}

void count_chosen(Stream stream, const RouteShape& shape, const float* weights, float* counts) {
    launch("count_chosen", count_kernel, over_experts(shape.experts), stream, shape, weights,
           counts);
}

void router_losses_forward(Stream stream, const RouteShape& shape, const LossFactors& factors,
                           Operand logits, const float* counts, float* values, double* balance,
                           double* z) {
    launch("router_losses_forward", values_kernel, over_tokens(shape.tokens), stream, shape,
           factors, logits, counts, values);
    launch("router_losses_forward (balance)", add_to_total<Scaled>, over_rows(1), stream,
           shape.tokens, Scaled{values, factors.balance}, balance);
    launch("router_losses_forward (z)", add_to_total<Scaled>, over_rows(1), stream, shape.tokens,
           Scaled{values + shape.tokens, factors.z}, z);
}

void router_losses_backward(Stream stream, const RouteShape& shape, const LossFactors& factors,
                            Operand logits, const float* counts, float* dlogits) {
    launch("router_losses_backward", losses_backward_kernel, over_tokens(shape.tokens), stream,
           shape, factors, logits, counts, dlogits);
}

}  // namespace debubble::exec::cuda
