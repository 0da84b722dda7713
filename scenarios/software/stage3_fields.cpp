#include "scenarios/software/fields.h"

namespace debubble::scenarios {
namespace {

auto elements(std::optional<std::int64_t> Stage3Limits::*limit) {
    return text::whole(
        [limit](Framework & f) -> auto& { return f.stage3.*limit; }, 0, kMostElements, "elements");
}

}  // namespace

text::Fields<Framework> stage3_fields() {
    using S = Stage3Limits;
    return {
        {"stage3_prefetch_bucket_size", elements(&S::prefetch_bucket_size),
         "The elements that each operator of ZeRO-3's passes has gathered ahead, whole parameters "
         "until there are so many; 0: every gather is waited for. Where one of the five limits is "
         "given, the others are DeepSpeed's defaults. They are planned where parallel.wrap is "
         "'layer', without a pipeline and slices; `debubble run` gathers layer by layer.",
         "200000000", "one layer is gathered ahead; 50000000 if another limit is given"},
        {"stage3_max_live_parameters", elements(&S::max_live_parameters),
         "Gathered elements beyond which nothing more is gathered ahead.", "3000000000",
         "no limit; 1000000000 if another limit is given"},
        {"stage3_max_reuse_distance", elements(&S::max_reuse_distance),
         "A gathered parameter is kept if fewer elements than this are used until it is used "
         "again, "
         "as those of the last layers from the forward to the backward; 0: none is.",
         "0", "the embeddings and the head are kept; 1000000000 if another limit is given"},
        {"stage3_param_persistence_threshold", elements(&S::param_persistence_threshold),
         "Parameters of at most so many elements stay whole on every rank, and are gathered once "
         "after each step.",
         "40000", "none does; 100000 if another limit is given"},
        {"stage3_model_persistence_threshold", elements(&S::model_persistence_threshold),
         "The most elements of a model that stay whole for being in small parameters.", "10000000",
         "no limit"}};
}

}  // namespace debubble::scenarios
