#include "exec/core/stage/operators/run_operator.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/diagnostic.h"
#include "base/overloaded.h"
#include "models/network/weight_format.h"

namespace debubble::exec {

namespace {

using models::Part;

/// Called for an operator that executor_scenario() never leaves in a graph.
void refuse_unplanned() {
    DEBUBBLE_CHECK(
        false, "operators of this kind cannot be executed, and no graph that is executed has them");
}

void run_forward(const OperatorCall& call) {
    std::visit(Overloaded{[&](const auto& roles) { forward(call, roles); },
                          [](const op::Convolution&) { refuse_unplanned(); },
                          [](const op::StateSpaceScan&) { refuse_unplanned(); },
                          [](const op::DeltaRule&) { refuse_unplanned(); },
                          [](const op::GroupedNorm&) { refuse_unplanned(); },
                          [](const op::ExchangeHeads&) { refuse_unplanned(); },
                          [](const op::CopyContext&) { refuse_unplanned(); },
                          [](const op::Cast&) { refuse_unplanned(); },
                          [](const op::Planned&) { refuse_unplanned(); }},
               call.op.roles);
}

void run_backward_input(const OperatorCall& call) {
    std::visit(Overloaded{[&](const auto& roles) { backward_input(call, roles); },
                          [](const op::TokenEmbedding&) {},
                          [&](const op::PatchEmbedding& patches) {
                              backward_input(call, patches.product);
                          },
                          [](const op::Convolution&) { refuse_unplanned(); },
                          [](const op::StateSpaceScan&) { refuse_unplanned(); },
                          [](const op::DeltaRule&) { refuse_unplanned(); },
                          [](const op::GroupedNorm&) { refuse_unplanned(); },
                          [](const op::AddBranches&) {},  // the gradient of the sum is both
                          [](const op::ExchangeHeads&) { refuse_unplanned(); },
                          [](const op::CopyContext&) { refuse_unplanned(); },
                          [](const op::Cast&) { refuse_unplanned(); },
                          [](const op::Planned&) { refuse_unplanned(); }},
               call.op.roles);
}

void run_backward_weight(const OperatorCall& call) {
    std::visit(
        Overloaded{
            [&](const auto& roles) { backward_weight(call, roles); },
            [&](const op::PatchEmbedding& patches) { backward_weight(call, patches.product); },
            // Computed by backward_input, which reads the same tensors.
            [](const op::Norm&) {}, [](const op::HeadNorm&) {}, [](const op::ChunkedLoss&) {},
            // Operators without weights.
            [](const op::SplitHeads&) {}, [](const op::OpenBranch&) {}, [](const op::WidthNorm&) {},
            [](const op::HeadL2Norm&) {}, [](const op::SoftCap&) {}, [](const op::Cast&) {},
            [](const op::Concat&) {}, [](const op::ScatterTokens&) {},
            [](const op::StackStreams&) {}, [](const op::SplitStreams&) {},
            [](const op::LatentHeads&) {}, [](const op::AddBranches&) {}, [](const op::Rope&) {},
            [](const op::Attention&) {}, [](const op::Activation&) {}, [](const op::Residual&) {},
            [](const op::GatherColumns&) {}, [](const op::SliceColumns&) {},
            [](const op::OutputGate&) {}, [](const op::SharedGate&) {},
            [](const op::Convolution&) {}, [](const op::StateSpaceScan&) {},
            [](const op::DeltaRule&) {}, [](const op::GroupedNorm&) {},
            [](const op::ExchangeHeads&) {}, [](const op::CopyContext&) {},
            [](const op::PickClassToken&) {}, [](const op::Permute&) {}, [](const op::Dispatch&) {},
            [](const op::Combine&) {}, [](const op::Loss&) {}, [](const op::Planned&) {}},
        call.op.roles);
}

}  // namespace

namespace {

/// The part of a layer that cannot be executed; empty if there is none.
std::string_view unsupported_part(const models::Layer& layer) {
    if (layer.as<models::Mamba>() != nullptr) return "state-space layers";
    if (layer.as<models::DeltaNet>() != nullptr) return "gated delta nets";
    if (!layer.mixes() || !layer.has_mlp()) return "layers with only a mixer or only an MLP";
    if (const auto* attention = layer.as<models::Attention>()) {
        if (attention->output_gate && attention->qk_norm == models::QkNorm::Width)
            return "output gates together with norms over the whole width";
    }
    if (const auto* experts = layer.as<models::Experts>()) {
        if (experts->groups_chosen < experts->groups && experts->groups > kMostExpertGroups)
            return "more than 32 groups of experts";
    }
    return "";
}

}  // namespace

std::string unsupported_part(const models::Architecture& network) {
    if (const std::string_view part = models::planned_part(network); !part.empty())
        return fmt::format("{} has {}", network.name, part);
    for (const models::Layer& layer : network.layers.kinds())
        if (const std::string_view part = unsupported_part(layer); !part.empty())
            return fmt::format("{} has {}", network.name, part);
    return {};
}

void check_supported(const models::Architecture& network) {
    if (const std::string part = unsupported_part(network); !part.empty())
        throw InputError(
            fmt::format("{}: 'debubble simulate' models it, but it cannot be executed yet", part));
}

std::string unsupported_part(const scenarios::Precision& precision) {
    std::string asked;
    if (precision.recipe != models::Recipe::None)
        asked = fmt::format("GEMMs with the recipe {}", models::name_of(precision.recipe));
    else if (precision.fp8_attention)
        asked = "attention in fp8";
    else if (precision.moments == models::DataType::Fp8)
        asked = "moments in fp8";
    if (asked.empty()) return {};
    return fmt::format(
        "training.precision asks for {}: 'debubble simulate' models them, but 8-bit arithmetic "
        "cannot be executed yet",
        asked);
}

void check_supported(const scenarios::Precision& precision) {
    if (std::string part = unsupported_part(precision); !part.empty())
        throw InputError(std::move(part));
}

void run_operator(const OperatorCall& call, Part part) {
    switch (part) {
        case Part::Forward:
        case Part::Again: return run_forward(call);
        case Part::Input: return run_backward_input(call);
        case Part::Weight: return run_backward_weight(call);
        case Part::Fused: run_backward_input(call); return run_backward_weight(call);
    }
}

void run_pair(OperatorPair::Kind kind, const OperatorCall& first, const OperatorCall& second,
              Part part) {
    switch (kind) {
        case OperatorPair::Kind::LinearActivation: return linear_activation_forward(first, second);
        case OperatorPair::Kind::ActivationLinear:
            linear_activation_backward_input(first, second);
            if (part == Part::Fused) run_backward_weight(first);
            return;
        case OperatorPair::Kind::ResidualNorm: return residual_norm_forward(first, second);
    }
}

}  // namespace debubble::exec
