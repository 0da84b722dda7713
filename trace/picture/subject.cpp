#include "trace/picture/subject.h"

#include <array>

namespace debubble::picture {
namespace {

/// The passes, then the other alternatives of Action in its order.
const std::array<std::string, 16> kKinds{"F",         "B",       "I",           "W",
                                         "RECOMPUTE", "OVERLAP", "SEND",        "RECV",
                                         "UNSHARD",   "RESHARD", "REDUCE_GRAD", "TIED_GRAD",
                                         "OFFLOAD",   "RELOAD",  "GRAD_NORM",   "OPTIMIZER_STEP"};
static_assert(std::variant_size_v<Action> == kKinds.size() - 3, "every alternative has a name");

}  // namespace

Subject subject_of(const Action& action) {
    return std::visit(Overloaded{
                          [](const Compute& c) {
                              return Subject{c.stage, c.micro_batch};
                          },
                          [](const Recompute& r) {
                              return Subject{r.stage, r.micro_batch};
                          },
                          [](const Overlap& o) {
                              return Subject{o.first.stage, o.first.micro_batch};
                          },
                          [](const Send& s) {
                              return Subject{s.message.producer, s.message.micro_batch};
                          },
                          [](const Recv& r) {
                              return Subject{r.message.producer, r.message.micro_batch};
                          },
                          [](const Unshard& u) {
                              return Subject{u.stage, {}};
                          },
                          [](const Reshard& r) {
                              return Subject{r.stage, {}};
                          },
                          [](const ReduceGrad& r) {
                              return Subject{r.stage, {}};
                          },
                          [](const TiedGradReduce& t) {
                              return Subject{t.stage, {}};
                          },
                          [](const Offload& o) {
                              return Subject{o.stage, o.micro_batch};
                          },
                          [](const Reload& r) {
                              return Subject{r.stage, r.micro_batch};
                          },
                          [](const GradNorm&) { return Subject{}; },
                          [](const OptimizerStep&) { return Subject{}; },
                      },
                      action);
}

const std::string& kind_of(const Action& action) {
    if (const auto* compute = std::get_if<Compute>(&action))
        return kKinds[position_of(compute->pass)];
    return kKinds[action.index() + 3];
}

std::span<const std::string> kinds() {
    return kKinds;
}

}  // namespace debubble::picture
