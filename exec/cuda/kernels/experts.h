#pragma once

#include "exec/cuda/kernels/operands.h"

/// A mixture of experts, with the meaning of exec/core/kernels/experts.h. weights fp32 [tokens,
/// experts], zero for experts that a token does not go to.
namespace debubble::exec::cuda {

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
