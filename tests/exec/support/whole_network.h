#pragma once

#include <map>
#include <string>

#include "exec/core/kernels.h"
#include "exec/core/tensor.h"
#include "exec/io/checkpoint/piece_source.h"
#include "models/network/architecture.h"

/// A network whose weights were saved, as one stage on one rank.
namespace debubble::exec {

/// Its parameters and buffers in fp32, by their canonical names.
std::map<std::string, Tensor> named_weights(const models::Architecture& model,
                                            const PieceSource& source);

struct Trained {
    double loss = 0;   ///< mean over the targets
    double ahead = 0;  ///< that of multi-token prediction, summed over its depths
    std::map<std::string, Tensor> gradients;
};

/// One forward and one backward of a microbatch of tokens [samples, rows].
Trained train_once(const models::Architecture& model, const std::map<std::string, Tensor>& weights,
                   const Tensor& inputs, const Tensor& targets, Kernels& kernels,
                   double mtp_loss_scaling_factor = 0.1);

}  // namespace debubble::exec
