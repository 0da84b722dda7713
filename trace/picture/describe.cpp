#include "trace/picture/wording.h"

#include <string_view>

#include <fmt/format.h>

#include "base/overloaded.h"

namespace debubble::picture {
namespace {

std::string_view words_of(Pass pass) {
    switch (pass) {
        case Pass::Forward: return "forward";
        case Pass::Backward: return "backward";
        case Pass::BackwardInput: return "backward-input";
        case Pass::BackwardWeight: return "backward-weight";
    }
    return "";
}

std::string words_of(const MicroBatch& mb) {
    return mb.slice ? fmt::format("microbatch {}, slice {}", mb.index, *mb.slice)
                    : fmt::format("microbatch {}", mb.index);
}

std::string words_of(const Compute& c) {
    return fmt::format("{} of stage {}, {}", words_of(c.pass), c.stage.index,
                       words_of(c.micro_batch));
}

std::string words_of(const Message& m) {
    return fmt::format("{} of stage {}, {}",
                       m.kind == Message::Kind::Activation ? "activation" : "gradient",
                       m.producer.index, words_of(m.micro_batch));
}

}  // namespace

std::string describe(const Action& action) {
    const auto of_stage = [](std::string_view what, Stage stage) {
        return fmt::format("{} of stage {}", what, stage.index);
    };
    return std::visit(
        Overloaded{
            [](const Compute& c) { return words_of(c); },
            [](const Recompute& r) {
                return fmt::format("recomputed forward of stage {}, {}", r.stage.index,
                                   words_of(r.micro_batch));
            },
            [](const Overlap& o) {
                return words_of(o.first) + ", together with " + words_of(o.second);
            },
            [](const Send& s) {
                return fmt::format("sends to rank {}: {}", s.to.index, words_of(s.message));
            },
            [](const Recv& r) {
                return fmt::format("receives from rank {}: {}", r.from.index, words_of(r.message));
            },
            [&](const Unshard& u) { return of_stage("gathers the parameters", u.stage); },
            [&](const Reshard& r) { return of_stage("drops the gathered parameters", r.stage); },
            [&](const ReduceGrad& r) { return of_stage("reduces the gradients", r.stage); },
            [&](const TiedGradReduce& t) {
                return of_stage("sums the gradient of tied tensors", t.stage);
            },
            [](const Offload& o) {
                return fmt::format("offloads stage {}, {}", o.stage.index, words_of(o.micro_batch));
            },
            [](const Reload& r) {
                return fmt::format("reloads stage {}, {}", r.stage.index, words_of(r.micro_batch));
            },
            [](const GradNorm&) { return std::string("norm of all gradients"); },
            [](const OptimizerStep&) { return std::string("optimizer step"); },
        },
        action);
}

}  // namespace debubble::picture
