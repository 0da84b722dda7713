#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"

namespace debubble::models {
namespace {

constexpr std::int64_t kSamples = 2, kCutTokens = 64, kCutHidden = 256, kVocab = 50257,
                       kPositions = 1024;
constexpr int kRanks = 4;
constexpr std::int64_t kStream = 4 * kSamples * kCutTokens * kCutHidden;  ///< bytes, in fp32

/// Hugging Face's GPT-2 as Colossal-AI's ColoTensor tutorial cuts it.
Architecture colotensor(int layers) {
    Architecture model = gpt(layers, kCutHidden, 8, kVocab, kPositions);
    model.sharding = {
        {"wte.weight", Sharding::Column},        {"wpe.weight", Sharding::Column},
        {"h.*.attn.c_attn.*", Sharding::Column}, {"h.*.attn.c_proj.*", Sharding::Column},
        {"h.*.mlp.c_fc.*", Sharding::Column},    {"h.*.mlp.c_proj.weight", Sharding::Row}};
    return model;
}

Execution eager(int tensor) {
    Execution how;
    how.micro_batch = kSamples;
    how.seq_length = kCutTokens;
    how.tensor = tensor;
    how.compute = DataType::Fp32;
    how.kernels.loss = LossKernel::EagerPyTorch;
    how.kernels.vocabulary_multiple = 1;
    how.kernels.gradient_accumulation_fusion = false;
    return how;
}

struct Message {
    std::string kernel;
    Collective::Kind kind;
    std::int64_t bytes;
    friend bool operator==(const Message&, const Message&) = default;
};

void PrintTo(const Message& message, std::ostream* out) {
    *out << message.kernel << " kind " << static_cast<int>(message.kind) << " of " << message.bytes;
}

std::vector<Message> messages(const PassSteps& pass) {
    std::vector<Message> all;
    for (const Kernel& kernel : pass.kernels) {
        if (const auto* work = std::get_if<Collective>(&kernel.work)) {
            all.push_back({kernel.name, work->kind, work->bytes.count});
        }
    }
    return all;
}

double executed_flops(const StageGraph& graph) {
    double sum = 0;
    for (const PassSteps& pass : {forward_steps(graph), backward_steps(graph)}) {
        for (const Kernel& kernel : pass.kernels) sum += flops(kernel);
    }
    return sum;
}

std::int64_t elements_of(const StageGraph& graph, const std::string& name) {
    for (const Parameter& parameter : graph.parameters) {
        if (parameter.name == name) return parameter.elements_of_rank(graph.execution);
    }
    ADD_FAILURE() << "no parameter " << name;
    return 0;
}

/// Column-cut outputs are gathered where the next operator needs them whole: both
/// embeddings, the context, the attention's projection. A column-cut product reduces its
/// input's gradient; the row-cut one, and the tied head whose inputs are cut, their output.
TEST(Sharding, OfColoTensorCommunicatesAsWorkedOutByHand) {
    using enum Collective::Kind;
    const StageGraph graph = build_stage(colotensor(1), eager(kRanks), {0, 1, true, true});
    const std::int64_t logits = 4 * kSamples * kCutTokens * kVocab;
    const std::vector<Message> forward = {
        {"embedding.out.gather", AllGather, kStream},
        {"embedding.positions.gather", AllGather, kStream / kSamples},
        {"attn.proj.in.gather", AllGather, kStream},
        {"attn.proj.out.gather", AllGather, kStream},
        {"mlp.fc2.reduce", AllReduce, kStream},
        {"head.reduce", AllReduce, logits}};
    const std::vector<Message> backward = {{"head.in.dx.gather", AllGather, kStream},
                                           {"mlp.fc1.dx.reduce", AllReduce, kStream},
                                           {"attn.proj.dx.reduce", AllReduce, kStream},
                                           {"attn.qkv.dx.reduce", AllReduce, kStream}};
    EXPECT_EQ(messages(forward_steps(graph)), forward);
    EXPECT_EQ(messages(backward_steps(graph)), backward);
}

/// Nothing is computed twice, so ranks share parameters and FLOPs evenly; only norms and
/// the bias of the row-cut product are on every rank.
TEST(Sharding, OfColoTensorLeavesARankItsPart) {
    for (const int layers : {1, 3}) {
        const StageContent content{0, layers, true, true};
        const StageGraph whole = build_stage(colotensor(layers), eager(1), content);
        const StageGraph part = build_stage(colotensor(layers), eager(kRanks), content);
        const std::int64_t cut = (kVocab + kPositions) * kCutHidden +
                                 layers * (12 * kCutHidden * kCutHidden + 8 * kCutHidden);
        const std::int64_t on_every_rank = layers * 5 * kCutHidden + 2 * kCutHidden;
        EXPECT_EQ(whole.parameter_elements(), cut + on_every_rank);
        EXPECT_EQ(part.parameter_elements(), cut / kRanks + on_every_rank);
        EXPECT_EQ(executed_flops(part), executed_flops(whole) / kRanks);
        EXPECT_TRUE(messages(forward_steps(whole)).empty());
    }
}

/// The default is Megatron-LM's cut, so writing that out changes nothing.
TEST(Sharding, OfMegatronWrittenOutIsTheDefault) {
    Architecture plain = gpt(2, kCutHidden, 8);
    Architecture written = plain;
    written.sharding = {{"*.c_attn.*", Sharding::Column}, {"*.attn.c_proj.weight", Sharding::Row},
                        {"*.c_fc.*", Sharding::Column},   {"*.mlp.c_proj.*", Sharding::Row},
                        {"wte.*", Sharding::Vocabulary},  {"wpe.*", Sharding::Replicated},
                        {"*.ln_*", Sharding::Replicated}};
    for (const bool sequence : {false, true}) {
        for (const LossKernel loss :
             {LossKernel::Unfused, LossKernel::EagerPyTorch, LossKernel::Chunked}) {
            Execution how = eager(kRanks);
            how.sequence_parallel = sequence;
            how.kernels.loss = loss;
            const StageGraph a = build_stage(plain, how, {0, 2, true, true});
            const StageGraph b = build_stage(written, how, {0, 2, true, true});
            EXPECT_EQ(forward_steps(a).kernels, forward_steps(b).kernels);
            EXPECT_EQ(forward_steps(a).steps, forward_steps(b).steps);
            EXPECT_EQ(backward_steps(a).kernels, backward_steps(b).kernels);
            EXPECT_EQ(a.parameter_elements(), b.parameter_elements());
        }
    }
}

/// Whole parameters everywhere: each rank does what one rank alone would.
TEST(Sharding, ReplicatedCutsAndSendsNothing) {
    for (Architecture model : {gpt(2, kCutHidden, 8), llama(2, kCutHidden, 8, 4, 512, 32000)}) {
        model.sharding = {{"*", Sharding::Replicated}};
        const StageGraph alone = build_stage(model, eager(1), {0, 2, true, true});
        const StageGraph replica = build_stage(model, eager(kRanks), {0, 2, true, true});
        EXPECT_EQ(forward_steps(replica).kernels, forward_steps(alone).kernels);
        EXPECT_EQ(backward_steps(replica).kernels, backward_steps(alone).kernels);
        EXPECT_EQ(replica.parameter_elements(), alone.parameter_elements());
    }
}

/// A row-cut product behind a whole input slices it, and gathers its gradient.
TEST(Sharding, OfOneLayerLeavesTheOthersAlone) {
    using enum Collective::Kind;
    Architecture model = gpt(3, kCutHidden, 8);
    model.sharding = {{"h.1.mlp.c_fc.weight", Sharding::Row},
                      {"h.1.mlp.c_proj.*", Sharding::Replicated}};
    for (int layer = 0; layer < 3; ++layer) {
        const StageGraph graph = build_stage(model, eager(kRanks), {layer, 1, false, false});
        std::vector<Message> forward = {{"attn.proj.reduce", AllReduce, kStream}};
        std::vector<Message> backward;
        if (layer == 1) {
            forward.push_back({"mlp.fc1.reduce", AllReduce, 4 * kStream});
            backward.push_back({"mlp.fc1.in.dx.gather", AllGather, kStream});
        } else {
            forward.push_back({"mlp.fc2.reduce", AllReduce, kStream});
            backward.push_back({"mlp.fc1.dx.reduce", AllReduce, kStream});
        }
        backward.push_back({"attn.qkv.dx.reduce", AllReduce, kStream});
        EXPECT_EQ(messages(forward_steps(graph)), forward);
        EXPECT_EQ(messages(backward_steps(graph)), backward);
        const std::string name = "h." + std::to_string(layer) + ".mlp.c_proj.weight";
        EXPECT_EQ(elements_of(graph, name),
                  4 * kCutHidden * kCutHidden / (layer == 1 ? 1 : kRanks));
    }
}

/// Heads that are not cut need not divide.
TEST(Sharding, LetsWhatIsWholeBeOfAnyNumber) {
    Architecture model = gpt(1, 300, 25);
    EXPECT_THROW(build_stage(model, eager(4), {0, 1, true, true}), InputError);
    model.sharding = {{"h.*.attn.c_attn.*", Sharding::Replicated},
                      {"h.*.attn.c_proj.*", Sharding::Column}};
    EXPECT_NO_THROW(build_stage(model, eager(4), {0, 1, true, true}));
}

TEST(Sharding, RefusesInWordsWhatCannotBeCutSo) {
    struct Mistake {
        std::vector<ShardingOverride> table;
        bool sequence_parallel;
        const char* sentence;
    };
    const Mistake mistakes[] = {
        {{{"wte.weight", Sharding::Row}},
         false,
         "'wte.weight' cannot be row, only vocabulary or column or replicated"},
        {{{"h.*.ln_1.bias", Sharding::Column}},
         false,
         "'h.0.ln_1.bias' cannot be column, only replicated"},
        {{{"h.*.mlp.c_fc.weight", Sharding::Vocabulary}},
         false,
         "'h.0.mlp.c_fc.weight' cannot be vocabulary, only column or row or replicated"},
        {{{"h.0.mlp.c_fc.bias", Sharding::Replicated}},
         false,
         "'h.0.mlp.c_fc.bias' cannot be replicated with a weight that is column"},
        {{{"wte.weight", Sharding::Column}},
         true,
         "'wte.weight' cannot be column with sequence parallelism, which needs it vocabulary"},
        {{{"wpe.weight", Sharding::Column}}, false, "hidden columns cannot be split into 3"},
    };
    for (const Mistake& mistake : mistakes) {
        const bool thirds = std::string_view(mistake.sentence).ends_with("3");
        Architecture model = gpt(1, thirds ? 256 : 240, thirds ? 8 : 12);
        if (thirds) {
            change_layers(model, [](LayerKeys& keys) {
                keys.heads = keys.kv_heads = 9;
                keys.ffn = 900;
            });
        }
        model.sharding = mistake.table;
        Execution how = eager(thirds ? 3 : 4);
        how.sequence_parallel = mistake.sequence_parallel;
        try {
            build_stage(model, how, {0, 1, true, true});
            ADD_FAILURE() << "accepted: " << mistake.sentence;
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr(mistake.sentence));
        }
    }
    Architecture model = llama(1, kCutHidden, 8, 4, 512, 32000);
    model.sharding = {{"*.k_proj.weight", Sharding::Replicated}};
    EXPECT_THROW(build_stage(model, eager(4), {0, 1, true, true}), InputError);
    model = colotensor(1);
    Execution chunked = eager(4);
    chunked.kernels.loss = LossKernel::Chunked;
    EXPECT_THROW(build_stage(model, chunked, {0, 1, true, true}), InputError);
}

}  // namespace
}  // namespace debubble::models
