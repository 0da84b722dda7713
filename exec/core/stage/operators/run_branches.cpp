#include "exec/core/stage/operators/operator_call.h"

/// The ends of a layer's branches, and of the network: moves and sums, apart from norms.
namespace debubble::exec {

/// The branch reads the residual stream itself.
void forward(const OperatorCall& /*call*/, const op::OpenBranch& /*roles*/) {}

void backward_input(const OperatorCall& call, const op::OpenBranch& roles) {
    call.kernels().residual_forward(call.stream(roles.through), call.stream(roles.y.gradient),
                                    call.stream(roles.x.gradient));
}

namespace {

TensorView logits_at(const OperatorCall& call, const op::SoftCap& roles, int index) {
    return call.tensor(index, {roles.rows, roles.columns});
}

}  // namespace

void forward(const OperatorCall& call, const op::SoftCap& roles) {
    call.kernels().soft_cap_forward(roles.cap, logits_at(call, roles, roles.x.tensor),
                                    logits_at(call, roles, roles.y.tensor));
}

void backward_input(const OperatorCall& call, const op::SoftCap& roles) {
    call.kernels().soft_cap_backward_input(roles.cap, logits_at(call, roles, roles.y.gradient),
                                           logits_at(call, roles, roles.x.tensor),
                                           logits_at(call, roles, roles.x.gradient));
}

}  // namespace debubble::exec
