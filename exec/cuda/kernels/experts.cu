#include "exec/cuda/kernels/experts.h"

#include "exec/cuda/kernels/load.h"

/// A warp takes a token. The token's experts are found by a vote over its weights, so that all
/// lanes go through them in one order.
namespace debubble::exec::cuda {

namespace {

/// A block counts the rows of an expert, in the order of the tokens.
__global__ void places_kernel(ExpertShape shape, const float* weights, ExpertPlaces to) {
    int* const of_warps = shared_memory<int>();
    const int warp = thread_index() / kWarp, lane = lane_of_warp();
    const std::int64_t expert = block_index();
    int before = 0;
    for (std::int64_t first = 0; first < shape.tokens; first += thread_count()) {
        const std::int64_t at = (first + thread_index()) * shape.experts + expert;
        const bool goes = first + thread_index() < shape.tokens && weights[at] != 0;
        const unsigned mask = warp_ballot(goes);
        block_barrier();  // no thread still reads the counts before
        if (lane == 0) of_warps[warp] = bit_count(mask);
        block_barrier();
        int place = before + bit_count(mask & ((1U << lane) - 1));
        for (int w = 0; w < thread_count() / kWarp; ++w) {
            if (w < warp) place += of_warps[w];
            before += of_warps[w];
        }
        if (goes) to.places[at] = place;
    }
    if (thread_index() == 0) to.first[expert + 1] = before;
}

/// Replaces the counts by the first row of each expert.
__global__ void first_rows_kernel(std::int64_t experts, int* first) {
    if (thread_index() != 0) return;
    first[0] = 0;
    for (std::int64_t e = 0; e < experts; ++e) first[e + 1] += first[e];
}

/// Calls body(expert, its weight, the token's row at it), with all lanes together.
template <class Body>
__device__ void each_expert(const ExpertShape& shape, const float* weights, const ExpertPlaces& at,
                            std::int64_t token, const Body& body) {
    const std::int64_t row = token * shape.experts;
    for (std::int64_t begin = 0; begin < shape.experts; begin += kWarp) {
        const std::int64_t mine = begin + lane_of_warp();
        unsigned mask = warp_ballot(mine < shape.experts && weights[row + mine] != 0);
        for (; mask != 0; mask &= mask - 1) {
            const std::int64_t expert = begin + lowest_bit(mask);
            body(expert, weights[row + expert],
                 std::int64_t{at.first[expert]} + at.places[row + expert]);
        }
    }
}

/// The lane's `turn`-th run of a row, 0 .. turns_of_row() - 1; empty beyond its end.
__device__ ElementRun run_of_lane(const ExpertShape& shape, std::int64_t turn) {
    return run_from((turn * kWarp + lane_of_warp()) * kElementsEach, shape.hidden);
}
__device__ std::int64_t turns_of_row(const ExpertShape& shape) {
    return ceil_div(shape.hidden, std::int64_t{kWarp} * kElementsEach);
}

__global__ void permute_kernel(ExpertShape shape, const float* weights, ExpertPlaces at, Operand x,
                               Result rows) {
    const std::int64_t token = token_of_warp();
    if (token >= shape.tokens) return;
    each_expert(shape, weights, at, token, [&](std::int64_t, float, std::int64_t row) {
        for (std::int64_t turn = 0; turn < turns_of_row(shape); ++turn) {
            const ElementRun run = run_of_lane(shape, turn);
            store_run(rows, shifted(run, row * shape.hidden),
                      load_run(x, shifted(run, token * shape.hidden)));
        }
    });
}

/// y = the sum of a token's rows, by their weights or as they are.
template <bool kWeighted>
__global__ void join_kernel(ExpertShape shape, const float* weights, ExpertPlaces at, Operand rows,
                            Result y) {
    const std::int64_t token = token_of_warp();
    if (token >= shape.tokens) return;
    for (std::int64_t turn = 0; turn < turns_of_row(shape); ++turn) {
        const ElementRun run = run_of_lane(shape, turn);
        Vec8 sum{};
        each_expert(shape, weights, at, token, [&](std::int64_t, float weight, std::int64_t row) {
            const Vec8 part = load_run(rows, shifted(run, row * shape.hidden));
            DEBUBBLE_UNROLL
            for (int i = 0; i < kElementsEach; ++i)
                sum.at[i] += kWeighted ? weight * part.at[i] : part.at[i];
        });
        store_run(y, shifted(run, token * shape.hidden), sum);
    }
}

__global__ void combine_backward_kernel(ExpertShape shape, const float* weights, ExpertPlaces at,
                                        Operand dy, Operand rows, Result drows, float* dweights) {
    const std::int64_t token = token_of_warp(), line = token * shape.experts;
    if (token >= shape.tokens) return;
    for (std::int64_t e = lane_of_warp(); dweights != nullptr && e < shape.experts; e += kWarp)
        if (weights[line + e] == 0) dweights[line + e] = 0;
    each_expert(shape, weights, at, token,
                [&](std::int64_t expert, float weight, std::int64_t row) {
                    float dweight = 0;
                    for (std::int64_t turn = 0; turn < turns_of_row(shape); ++turn) {
                        const ElementRun run = run_of_lane(shape, turn),
                                         of_row = shifted(run, row * shape.hidden);
                        const Vec8 above = load_run(dy, shifted(run, token * shape.hidden));
                        Vec8 part{}, down;
                        if (dweights != nullptr) part = load_run(rows, of_row);
                        DEBUBBLE_UNROLL
                        for (int i = 0; i < kElementsEach; ++i) {
                            dweight += above.at[i] * part.at[i];
                            down.at[i] = weight * above.at[i];
                        }
                        if (drows) store_run(drows, of_row, down);
                    }
                    if (dweights == nullptr) return;
                    dweight = over_lanes(dweight, Add{});
                    if (lane_of_warp() == 0) dweights[line + expert] = dweight;
                });
}

}  // namespace

void place_rows(Stream stream, const ExpertShape& shape, const float* weights,
                const ExpertPlaces& at) {
    launch("place_rows", places_kernel, over_experts(shape.experts), stream, shape, weights, at);
    launch("place_rows (first)", first_rows_kernel, Geometry{1, kWarp, 0}, stream, shape.experts,
           at.first);
}

void permute_forward(Stream stream, const ExpertShape& shape, const float* weights,
                     const ExpertPlaces& at, Operand x, Result rows) {
    launch("permute_forward", permute_kernel, over_tokens(shape.tokens), stream, shape, weights, at,
           x, rows);
}

void permute_backward(Stream stream, const ExpertShape& shape, const float* weights,
                      const ExpertPlaces& at, Operand drows, Result dx) {
    launch("permute_backward", join_kernel<false>, over_tokens(shape.tokens), stream, shape,
           weights, at, drows, dx);
}

void combine_forward(Stream stream, const ExpertShape& shape, const float* weights,
                     const ExpertPlaces& at, Operand rows, Result y) {
    launch("combine_forward", join_kernel<true>, over_tokens(shape.tokens), stream, shape, weights,
           at, rows, y);
}

void combine_backward(Stream stream, const ExpertShape& shape, const float* weights,
                      const ExpertPlaces& at, Operand dy, Operand rows, Result drows,
                      float* dweights) {
    launch("combine_backward", combine_backward_kernel, over_tokens(shape.tokens), stream, shape,
           weights, at, dy, rows, drows, dweights);
}

}  // namespace debubble::exec::cuda
