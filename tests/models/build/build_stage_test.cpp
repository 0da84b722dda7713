#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/diagnostic.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"

namespace debubble::models {
namespace {

using Change = std::function<void(Architecture&, Execution&, StageContent&)>;

struct Mistake {
    const char* sentence;
    Change change;
};

/// What cannot be cut, or would not fit any integer, is said in words and never computed.
TEST(BuildStage, RefusesInWords) {
    const Mistake mistakes[] = {
        {"25 heads cannot be split into 2",
         [](auto& m, auto& e, auto&) {
             change_layers(m, [](LayerKeys& keys) { keys.heads = keys.kv_heads = 25; });
             e.tensor = 2;
         }},
        {"8 heads cannot share 3 key-value heads",
         [](auto& m, auto&, auto&) {
             change_layers(m, [](LayerKeys& keys) { keys.kv_heads = 3; });
         }},
        {"512 columns of the MLP cannot be split into 3",
         [](auto&, auto& e, auto&) { e.tensor = 3; }},
        {"100 tokens of a sequence cannot be split into 3",
         [](auto&, auto& e, auto&) { e.seq_length = 100, e.slices = 3; }},
        {"slice 2 of 2 does not exist", [](auto&, auto& e, auto&) { e.slices = e.slice = 2; }},
        {"tokens of the rank cannot be split into 4",
         [](auto&, auto& e, auto&) { e.seq_length = 2, e.tensor = 4, e.sequence_parallel = true; }},
        {"layers 2 to 5 are outside the model's 4",
         [](auto&, auto&, auto& c) { c.first_layer = 2, c.layers = 4; }},
        {"a size of 0 is outside 1 to", [](auto& m, auto&, auto&) { m.hidden = 0; }},
        {"a size of -1 is outside 1 to", [](auto&, auto& e, auto&) { e.micro_batch = -1; }},
        {"beyond any machine",
         [](auto& m, auto&, auto&) {
             m.hidden = std::int64_t{1} << 32;
             change_layers(m, [](LayerKeys& keys) { keys.ffn = std::int64_t{1} << 32; });
         }},
        {"beyond any machine",
         [](auto&, auto& e, auto&) {
             e.seq_length = std::int64_t{1} << 31, e.attention = AttentionKernel::Unfused;
         }},
        {"exceed the 4096 that a stage may hold",
         [](auto& m, auto&, auto& c) { set_layer_count(m, c.layers = 5000); }},
        {"cannot hold grouped key-value heads",
         [](auto& m, auto&, auto&) { m.family = Family::Gpt2; }},
        {"exceed the 8192 learned positions",
         [](auto& m, auto& e, auto&) { m.learned_positions = true, e.seq_length = 9000; }},
    };
    for (const Mistake& mistake : mistakes) {
        Architecture model = llama(4, 256, 8, 4, 512, 32000);
        Execution how;
        how.seq_length = 64;
        StageContent content{0, 4, true, true};
        mistake.change(model, how, content);
        try {
            build_stage(model, how, content);
            ADD_FAILURE() << "accepted: " << mistake.sentence;
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr(mistake.sentence));
        }
    }
}

TEST(BuildStage, RefusesToCutTheSequenceOfAViT) {
    Execution how;
    how.seq_length = 197;
    how.tensor = 2;
    EXPECT_NO_THROW(build_stage(vit_base(10), how, {0, 12, true, true}));
    how.sequence_parallel = true;
    EXPECT_THROW(build_stage(vit_base(10), how, {0, 12, true, true}), InputError);
}

/// Stages side by side hold the whole model; a tied embedding is held twice.
TEST(BuildStage, CutsAModelIntoStagesWithoutLoss) {
    Architecture vit = vit_base(10);
    set_layer_count(vit, 6);
    for (const Architecture& model : {gpt(6, 256, 8), llama(6, 256, 8, 4, 512, 32000), vit}) {
        Execution how;
        how.seq_length = model.family == Family::Vit ? 197 : 64;
        how.kernels.vocabulary_multiple = 1;
        std::int64_t sum = 0, tied = 0;
        for (int stage = 0; stage < 3; ++stage) {
            const StageGraph graph =
                build_stage(model, how, {2 * stage, 2, stage == 0, stage == 2});
            sum += graph.parameter_elements();
            for (const Parameter& parameter : graph.parameters) {
                if (!parameter.tied_to.empty()) tied += parameter.elements();
            }
        }
        EXPECT_EQ(sum - tied, parameter_count(model));
    }
}

}  // namespace
}  // namespace debubble::models
