#include "exec/core/kernels.h"

#include <cstring>

#include "exec/cpu/fp32_operands.h"
#include "exec/cpu/row_walk.h"
#include "tests/exec/kernels/kernels_twins.h"

namespace debubble::exec {
namespace {

using Side = Twins::Side;

TEST_P(KernelsTest, Embeddings) {
    const Twins tokens = integers({3, 9, 0, 4, 4, 11, 2, 5});
    const Twins table = random({7, 33}), y = random({2, 4, 33}), dtable = fp32({7, 33});
    const Twins positions = random({9, 33}), dpositions = fp32({9, 33});
    const Twins both_embeddings = random({2, 4, 33}), dy = random({2, 4, 33});
    both([&](Kernels& kernels, Side side) {
        kernels.token_embedding_forward(side(tokens), 3, side(table), side(y));
        kernels.position_embedding_forward(2, side(y), side(positions), side(both_embeddings));
        kernels.token_embedding_backward_weight(side(tokens), 3, side(dy), side(dtable));
        kernels.position_embedding_backward_weight(2, side(dy), side(dpositions));
    });
    expect_alike(y, "tokens");
    expect_alike(both_embeddings, "with positions");
    expect_alike(dtable, "dtable");
    expect_alike(dpositions, "dpositions");
}

TEST_P(KernelsTest, Heads) {
    const Twins packed = random({2, 5, 12 + 2 * 6}), dpacked = random({2, 5, 24});
    const Twins q = random({2, 5, 2, 6}), k = random({2, 8, 1, 6}), v = random({2, 8, 1, 6});
    const Twins cosines = fp32({9, 3}), sines = fp32({9, 3}), turned = random({2, 5, 2, 6});
    const Twins half = random({2, 5, 4, 6});  // only its first heads turn
    both([&](Kernels& kernels, Side side) {
        kernels.split_heads_forward(3, side(packed), side(q), side(k), side(v));
        kernels.rope_forward({3, 2}, side(cosines), side(sines), side(q));
        kernels.rope_backward_input({4, 2}, side(cosines), side(sines), side(turned));
        kernels.rope_forward({2, 3}, side(cosines), side(sines), side(half));
        kernels.rope_backward_input({0, 1}, side(cosines), side(sines), side(half));
        kernels.split_heads_backward_input(3, side(q), side(k), side(v), side(dpacked));
    });
    expect_alike(q, "q");
    expect_alike(k, "k");
    expect_alike(v, "v");
    expect_alike(turned, "turned back");
    expect_alike(half, "turned in part");
    expect_alike(dpacked, "dpacked");
}

TEST_P(KernelsTest, ElementsOneByOne) {
    for (const auto kind : {Nonlinearity::Gelu, Nonlinearity::GeluTanh, Nonlinearity::Relu,
                            Nonlinearity::SquaredRelu}) {
        const Twins x = random({7, 331}), y = random({7, 331});
        const Twins dy = random({7, 331}), dx = random({7, 331});
        both([&](Kernels& kernels, Side side) {
            kernels.scale(4, side(x));  // where the nonlinearity bends
            kernels.activation_forward(kind, side(x), side(y));
            kernels.activation_backward_input(kind, side(dy), side(x), side(dx));
        });
        expect_alike(y, "y");
        expect_alike(dx, "dx");
    }
    for (const Gate kind : {Gate::Silu, Gate::Gelu, Gate::GeluTanh, Gate::ClampedSilu})
        for (const std::int64_t ffn : {53, 56}) {
            const Twins gate_up = random({7, 2 * ffn}), dgate_up = random({7, 2 * ffn});
            const Twins y = random({7, ffn}), dy = random({7, ffn});
            both([&](Kernels& kernels, Side side) {
                kernels.scale(4, side(gate_up));
                kernels.gated_forward(kind, side(gate_up), side(y));
                kernels.gated_backward_input(kind, side(dy), side(gate_up), side(dgate_up));
            });
            expect_alike(y, "gated");
            expect_alike(dgate_up, "dgate_up");
        }
    const Twins gated = random({7, 53}), gate = random({7, 53}), gated_y = random({7, 53});
    const Twins gated_dy = random({7, 53}), gated_dx = random({7, 53}), dgate = random({7, 53});
    both([&](Kernels& kernels, Side side) {
        kernels.scale(4, side(gate));
        kernels.output_gate_forward(side(gated), side(gate), side(gated_y));
        kernels.output_gate_backward_input(side(gated_dy), side(gated), side(gate), side(gated_dx),
                                           side(dgate));
    });
    expect_alike(gated_y, "behind an output gate");
    expect_alike(gated_dx, "dx of an output gate");
    expect_alike(dgate, "dgate");
    const Twins y = random({7, 53}), dy = random({7, 53}), total = fp32({7, 53});
    const Twins residual = random({7, 53});
    both([&](Kernels& kernels, Side side) {
        kernels.residual_forward(side(residual), side(y), side(residual));
        kernels.add(side(dy), side(total));
    });
    expect_alike(residual, "residual");
    expect_alike(total, "sum into fp32");
}

TEST_P(KernelsTest, SoftCaps) {
    const Twins x = random({7, 53}), y = random({7, 53}), dy = random({7, 53});
    const Twins dx = random({7, 53});
    both([&](Kernels& kernels, Side side) {
        kernels.scale(4, side(x));
        kernels.soft_cap_forward(3, side(x), side(y));
        kernels.soft_cap_backward_input(3, side(dy), side(x), side(dx));
    });
    expect_alike(y, "y");
    expect_alike(dx, "dx", 2);
}

TEST_P(KernelsTest, DropoutOfAWindow) {
    const Dropout how{0.3, stream_of(7, "dropout")};
    const Window window{11, 64, 3, 2, 5};
    const Twins x = random({2, 5, 37}), y = random({2, 5, 37});
    both([&](Kernels& kernels, Side side) { kernels.dropout(how, window, side(x), side(y)); });
    expect_alike(y, "y");
}

TEST_P(KernelsTest, CrossEntropy) {
    const CrossEntropy loss{
        .first_entry = 10, .ignore_index = -1, .gradient_scale = 0.125, .entries = 1003};
    std::vector<std::int32_t> ids(21);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 51);
    ids[4] = loss.ignore_index;
    ids[5] = 10 + 1005;  // a padding column cannot be a target
    const Twins targets = integers(ids), logits = random({21, 1009});
    const std::int64_t of_row_two = 2 * 1009 + ids[2] - 10;
    const Tensor winner({1}, DataType::Fp32);
    winner.as<float>()[0] = 1.5;
    convert(winner.view(), piece(logits.tested.view(), of_row_two, 1));
    logits.expected.as<double>()[of_row_two] = 1.5;
    const Twins largest = fp32({21}), sum = fp32({21}), target = fp32({21});
    const Twins total = totals(), correct = totals();
    both([&](Kernels& kernels, Side side) {
        kernels.scale(4, side(logits));
        kernels.count_correct(loss, side(targets), side(logits), side(correct));
        kernels.cross_entropy_softmax(loss, side(targets), side(logits), side(largest), side(sum),
                                      side(target));
        kernels.cross_entropy_loss(loss, side(targets), side(sum), side(target), side(total));
        kernels.cross_entropy_gradient(loss, side(targets), {}, side(largest), side(sum),
                                       side(logits));
    });
    expect_alike(sum, "sum");
    expect_alike(target, "target");
    expect_alike(total, "loss");
    expect_alike(logits, "gradient");
    EXPECT_EQ(correct.tested.as<double>()[0], 1);
}

/// Between the steps, tensor-parallel ranks reduce the largest logits and the sums: here those of
/// all shares are chosen.
TEST_P(KernelsTest, CrossEntropyOfAShareOfTheVocabulary) {
    for (const std::int64_t entries : {29, 0}) {  // of 32 columns; the rest is padding
        const CrossEntropy loss{.first_entry = 40, .gradient_scale = 0.5, .entries = entries};
        const Twins targets = integers({40, 68, 69, 39, 7, -100, 55});
        const Twins logits = random({7, 32}), own = fp32({7}), sum = fp32({7}), target = fp32({7});
        const Twins largest = fp32({7}), all_sums = fp32({7});
        for (std::int64_t token = 0; token < 7; ++token) {
            const float peak = 1 + 0.25F * static_cast<float>(token), total = 20 + peak;
            largest.tested.as<float>()[token] = peak;
            largest.expected.as<double>()[token] = peak;
            all_sums.tested.as<float>()[token] = total;
            all_sums.expected.as<double>()[token] = total;
        }
        both([&](Kernels& kernels, Side side) {
            kernels.cross_entropy_softmax(loss, side(targets), side(logits), side(own), side(sum),
                                          side(target));
            kernels.cross_entropy_rescale(loss, side(targets), side(own), side(largest), side(sum),
                                          side(target));
            kernels.cross_entropy_gradient(loss, side(targets), side(own), side(largest),
                                           side(all_sums), side(logits));
        });
        if (entries > 0) {
            expect_alike(sum, "sum");
            expect_alike(target, "target");
            expect_alike(logits, "gradient");
            continue;
        }
        for (const Twins* zero : {&sum, &target, &logits})
            EXPECT_TRUE(same_bits(zero->tested, Tensor(zero->tested.shape(), zero->tested.type())));
    }
}

TEST_P(KernelsTest, EndsOfAVisionTransformer) {
    const Twins images = fp32({2, 3, 8, 12}), patches = random({2, 6, 48});
    const Twins class_token = random({48}), positions = random({7, 48}), y = random({2, 7, 48});
    const Twins dpatches = random({2, 6, 48}), dclass = fp32({48}), dpositions = fp32({7, 48});
    const Twins first = random({2, 48}), dfirst = random({2, 7, 48});
    both([&](Kernels& kernels, Side side) {
        kernels.cut_patches(4, side(images), side(patches));
        kernels.class_token_forward(side(patches), side(class_token), side(positions), side(y));
        kernels.class_token_backward_input(side(y), side(dpatches));
        kernels.class_token_backward_weight(side(y), side(dclass), side(dpositions));
        kernels.first_row_forward(side(y), side(first));
        kernels.first_row_backward_input(side(first), side(dfirst));
    });
    for (const Twins* twins : {&patches, &y, &dpatches, &dclass, &dpositions, &first, &dfirst}) {
        expect_alike(*twins, twins->tested.shape().text());
    }
}

TEST_P(KernelsTest, Moves) {
    const Twins gathered = random({3, 5, 7}), joined = random({5, 21}), part = random({5, 7});
    const Twins wide = fp32({5, 7}), bf16 = random({5, 7}, DataType::Bf16);
    const Twins fp16 = random({5, 7}, DataType::Fp16);
    // Rows 1, 2 of blocks 0, 1, 2 to rows 0, 1 of blocks 2, 1, 0.
    const Twins blocks = random({3, 4, 8}), turned = random({3, 2, 8});
    const Blocks backwards{3, 2, 8, 4 * 8, -2 * 8};
    const auto part_of = [](TensorView x, std::int64_t first) {
        return TensorView{x.data + first * size_of(x.type), {2, 8}, x.type};
    };
    both([&](Kernels& kernels, Side side) {
        kernels.copy_blocks(backwards, part_of(side(blocks), 8), part_of(side(turned), 2 * 2 * 8));
        kernels.join_columns(3, side(gathered), side(joined));
        kernels.take_columns(1, 3, side(joined), side(part));
        kernels.copy(side(part), side(wide));
        kernels.copy(side(wide), side(bf16));
        kernels.copy(side(bf16), side(fp16));
        kernels.fill_zero(side(gathered));
    });
    for (const std::int64_t block : {0, 1, 2})
        EXPECT_EQ(std::memcmp(blocks.tested.view().data + (block * 4 + 1) * 8 * size_of(type()),
                              turned.tested.view().data + (2 - block) * 2 * 8 * size_of(type()),
                              static_cast<std::size_t>(2 * 8 * size_of(type()))),
                  0);
    expect_alike(joined, "joined");
    expect_alike(part, "part");
    expect_alike(wide, "widened");
    const Tensor through_both({5, 7});
    convert(fp16.tested.view(), through_both.view());
    EXPECT_LT(relative_difference(through_both, wide.tested), 1e-2);
    EXPECT_TRUE(same_bits(gathered.tested, Tensor(gathered.tested.shape(), type())));
}

TEST_P(KernelsTest, OptimizersStepMainAndItsCopy) {
    const AdamOptions adamw{0.01, 0.9, 0.95, 1e-8, 0.1, true};
    const AdamOptions adam{0.01, 0.9, 0.95, 1e-8, 0.1, false};
    const SgdOptions sgd{0.1, 0.9, 0.2, 0.01, true};
    const Twins gradient = random({3, 111}), main = fp32({3, 111}), copy = random({3, 111});
    const Twins first = random({3, 111}), second = random({3, 111}), velocity = fp32({3, 111});
    const Twins total = totals();
    both([&](Kernels& kernels, Side side) {
        kernels.sum_of_squares(side(gradient), side(total));
        kernels.fill_zero(side(first));
        kernels.fill_zero(side(second));
        for (const double decays_to : {0.0, 1.0}) {
            for (const AdamOptions& one : {adamw, adam})
                for (const std::int64_t step : {1, 2})
                    kernels.adam_step(one, step, 0.5, decays_to, side(gradient), side(main),
                                      side(first), side(second), side(copy));
            kernels.sgd_step(sgd, 2, 0.5, decays_to, side(gradient), side(main), side(velocity),
                             side(copy));
            kernels.sgd_step(sgd, 3, 0.5, decays_to, side(gradient), side(main), side(velocity),
                             {});
        }
    });
    expect_alike(total, "norm");
    expect_alike(main, "main");
    expect_alike(copy, "its copy");
    expect_alike(first, "first moment");
    expect_alike(second, "second moment");
    expect_alike(velocity, "velocity");
}

TEST_P(KernelsTest, SumOfSquaresShowsWhatIsNotFinite) {
    for (const float bad :
         {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::quiet_NaN()}) {
        const Twins gradient = fp32({1000}), total = totals();
        gradient.tested.as<float>()[777] = bad;
        gradient.expected.as<double>()[777] = static_cast<double>(bad);
        both([&](Kernels& kernels, Side side) {
            kernels.sum_of_squares(side(gradient), side(total));
        });
        EXPECT_FALSE(std::isfinite(total.tested.as<double>()[0]));
    }
}

INSTANTIATE_TEST_SUITE_P(All, KernelsTest,
                         testing::Combine(testing::ValuesIn(back_ends()),
                                          testing::Values(DataType::Fp32, DataType::Bf16,
                                                          DataType::Fp16)),
                         name_of);

}  // namespace
}  // namespace debubble::exec
