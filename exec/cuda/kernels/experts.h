#pragma once

#include "exec/cuda/kernels/operands.h"

/// The launchers of mixtures of experts: routers, and the rows of experts.
namespace debubble::exec::cuda {

// Routers of experts, with the meaning of exec/core/kernels/experts.h. Logits [tokens, experts];
// weights and gradients fp32 of the same shape, zero for experts that a token does not go to.

enum class Score : std::uint8_t { Softmax, PreSoftmax, Sigmoid };

struct RouteShape {
    std::int64_t tokens = 0;
    std::int64_t experts = 0;
    std::int64_t chosen = 1;
    std::int64_t groups = 1;  ///< at most kWarp, since a lane takes a group
    std::int64_t groups_chosen = 1;
    Score score = Score::Softmax;
    bool renormalised = true;
    float scaling = 1;
};

/// Factors of the terms that a router adds to the loss.
struct LossFactors {
    float balance = 0;
    float z = 0;
};

/// `correction` fp32 [experts] may be null.
void route_forward(Stream stream, const RouteShape& shape, Operand logits, const float* correction,
                   float* weights);
/// dlogits may be dweights; logits may be null where the chosen logits' softmax is the weight.
void route_backward(Stream stream, const RouteShape& shape, const float* dweights,
                    const float* weights, Operand logits, float* dlogits);
/// kept = weights, of each expert the `capacity` largest alone, of equal ones the first.
void drop_over_capacity(Stream stream, const RouteShape& shape, std::int64_t capacity,
                        const float* weights, float* kept);
/// Adds to counts fp32 [experts].
void count_chosen(Stream stream, const RouteShape& shape, const float* weights, float* counts);
/// Adds to both totals, fp64; `values` fp32 [2, tokens] is scratch.
void router_losses_forward(Stream stream, const RouteShape& shape, const LossFactors& factors,
                           Operand logits, const float* counts, float* values, double* balance,
                           double* z);
/// Adds to dlogits.
void router_losses_backward(Stream stream, const RouteShape& shape, const LossFactors& factors,
                            Operand logits, const float* counts, float* dlogits);

/// The gate of shared experts: y = score x branch over rows of `hidden` elements.
void shared_gate_forward(Stream stream, std::int64_t tokens, std::int64_t hidden, Operand x,
                         Operand weight, Operand branch, Result y, float* scores);
/// Adds to dx; dlogits fp32 [tokens] are for the weight's gradient.
void shared_gate_backward(Stream stream, std::int64_t tokens, std::int64_t hidden, Operand dy,
                          Operand weight, Operand branch, const float* scores, Result dbranch,
                          Result dx, float* dlogits);

// A mixture of experts, with the meaning of exec/core/kernels/experts.h. weights fp32 [tokens,
// experts], zero for experts that a token does not go to.

struct ExpertShape {
    std::int64_t tokens = 0;
    std::int64_t experts = 0;
    std::int64_t hidden = 0;
};

/// The places of rows: first [experts + 1], where each expert's rows start and where all end;
/// places [tokens, experts], the index of a token's row among its expert's.
struct ExpertPlaces {
    int* first = nullptr;
    int* places = nullptr;
};

void place_rows(Stream stream, const ExpertShape& shape, const float* weights,
                const ExpertPlaces& at);
void permute_forward(Stream stream, const ExpertShape& shape, const float* weights,
                     const ExpertPlaces& at, Operand x, Result rows);
void permute_backward(Stream stream, const ExpertShape& shape, const float* weights,
                      const ExpertPlaces& at, Operand drows, Result dx);
void combine_forward(Stream stream, const ExpertShape& shape, const float* weights,
                     const ExpertPlaces& at, Operand rows, Result y);
/// Leaves out drows or dweights if it is empty; `rows` is then read for dweights alone.
void combine_backward(Stream stream, const ExpertShape& shape, const float* weights,
                      const ExpertPlaces& at, Operand dy, Operand rows, Result drows,
                      float* dweights);

}  // namespace debubble::exec::cuda
