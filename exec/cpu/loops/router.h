#pragma once

#include "exec/core/kernels/router.h"
#include "exec/cpu/loops/operands.h"

/// Routers of experts (exec/core/kernels/router.h): tokens do not depend on each other.
namespace debubble::exec::loops {

/// A weight below the smallest normal number becomes that number, so that it still shows the
/// choice. `correction` may be empty.
void route_forward(const RouterChoice& choice, In logits, In correction, Out weights);
/// dlogits may be dweights; logits may be empty where the chosen logits' softmax is the weight.
void route_backward(const RouterChoice& choice, In dweights, In weights, In logits, Out dlogits);

/// `kept` may not be `weights`.
void drop_over_capacity(std::int64_t capacity, In weights, Out kept);

void count_chosen(In weights, Out counts);

/// The sums over the tokens, each times its factor.
double balance_loss(const RouterLosses& losses, In logits, In counts);
double z_loss(const RouterLosses& losses, In logits);
void router_losses_backward(const RouterLosses& losses, In logits, In counts, Out dlogits);

}  // namespace debubble::exec::loops
