#pragma once

#include <string>

#include "tests/exec/support/parity/parity_job.h"

/// What a case has that differs from most.
namespace debubble::exec::parity {

inline Case of_batch(int micro_batches, Case c) {
    c.micro_batches = micro_batches;
    return c;
}

inline Case of_samples(int micro_batch, Case c) {
    c.micro_batch = micro_batch;
    return c;
}

/// Messages of 16 KiB: the bytes of small ones travel with what announces them.
inline Case wide(Case c) {
    c.model = "gpt2-wide";
    c.seq_length = 64;
    return c;
}

inline Case padded_to(int vocabulary_multiple, Case c) {
    c.vocabulary_multiple = vocabulary_multiple;
    return c;
}

inline Case over(Transport transport, Case c) {
    c.transport = transport;
    return c;
}

/// Routers with both losses, and biases that move by steps that change choices.
inline Case routed(Case c) {
    c.training += (c.training.empty() ? "" : "\n  ") +
                  std::string(
                      "moe_aux_loss_coeff: 0.3\n  moe_z_loss_coeff: 0.01\n  "
                      "moe_router_bias_update_rate: 0.05");
    return c;
}

/// Norms decay to 1, or not at all, beside matrices that decay to 0.
inline Case decaying(const char* of, Case c) {
    c.optimizer =
        std::string("{name: sgd, lr: 0.1, weight_decay: 0.2, weight_decay_of: ") + of + "}";
    return c;
}

/// Experts take as many tokens of a microbatch as routers that are even would send them.
inline Case dropping(Case c) {
    c.framework = ", capacity_factor: 1";
    return c;
}

inline Case by_sequence(Case c) {
    c.training += "moe_aux_loss_coeff: 0.3\n  moe_router_load_balancing_type: seq_aux_loss";
    return c;
}

/// Over all microbatches so far.
inline Case by_step(Case c) {
    c.training += (c.training.empty() ? "" : "\n  ");
    c.training += "moe_aux_loss_coeff: 0.3\n  moe_router_load_balancing_type: global_aux_loss";
    return c;
}

/// Shared experts beside the exchange, which processors compute in their order.
inline Case overlapped(Case c) {
    c.framework = ", moe_shared_expert_overlap: true";
    return c;
}

}  // namespace debubble::exec::parity
