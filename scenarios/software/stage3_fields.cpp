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
         "Maximum number of elements that ZeRO-3 prefetches, in whole parameters; 0: no prefetch. "
         "If one of the five limits is given, the others have DeepSpeed's defaults. They apply "
         "where parallel.wrap is 'layer', without a pipeline and slices; `debubble run` gathers "
         "layer by layer.",
         "200000000", "one layer is prefetched; 50000000 if another limit is given"},
        {"stage3_max_live_parameters", elements(&S::max_live_parameters),
         "Maximum number of gathered elements, beyond which nothing more is prefetched.",
         "3000000000", "no limit; 1000000000 if another limit is given"},
        {"stage3_max_reuse_distance", elements(&S::max_reuse_distance),
         "A gathered parameter is kept if fewer elements than this are used before it is used "
         "again, such as those of the last layers between forward and backward; 0: none is kept.",
         "0", "the embeddings and the head are kept; 1000000000 if another limit is given"},
        {"stage3_param_persistence_threshold", elements(&S::param_persistence_threshold),
         "Parameters of at most this many elements stay unsharded on every rank and are gathered "
         "once after each step.",
         "40000", "none; 100000 if another limit is given"},
        {"stage3_model_persistence_threshold", elements(&S::model_persistence_threshold),
         "Maximum number of elements kept unsharded because their parameter is small.", "10000000",
         "no limit"}};
}

}  // namespace debubble::scenarios
