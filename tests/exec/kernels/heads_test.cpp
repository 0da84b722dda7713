#include "exec/core/kernels.h"
#include "tests/exec/kernels/kernels_twins.h"

/// What is done to heads before their attention, and to its results after it.
namespace debubble::exec {
namespace {

using Side = Twins::Side;

struct RotaryCase {
    std::string name;
    Shape x;  ///< [samples, rows, heads, head_dim]
    std::int64_t pairs = 1;
    Rotary how;
};

TEST_P(KernelsTest, PartlyRotatedHeads) {
    constexpr auto kNeighbours = RotaryPairs::Neighbours;
    const std::vector<RotaryCase> cases{
        {"first half of a head", {2, 5, 3, 32}, 8, {3, 2}},
        {"last columns of a head", {2, 5, 3, 24}, 4, {0, 3, 16}},
        {"neighbours", {2, 5, 3, 16}, 8, {1, 2, 0, kNeighbours}},
        {"the last neighbours", {1, 7, 2, 22}, 3, {4, 2, 16, kNeighbours}}};
    for (const RotaryCase& test : cases) {
        const Twins x = random(test.x), dx = random(test.x);
        const Twins cosines = fp32({12, test.pairs}), sines = fp32({12, test.pairs});
        both([&](Kernels& kernels, Side side) {
            kernels.rope_forward(test.how, side(cosines), side(sines), side(x));
            kernels.rope_backward_input(test.how, side(cosines), side(sines), side(dx));
        });
        expect_alike(x, test.name + ": x");
        expect_alike(dx, test.name + ": dx");
    }
}

/// Norms of the queries, then of the keys, of a packed product whose values stay.
TEST_P(KernelsTest, NormsOfHeads) {
    for (const std::int64_t width : {3, 16, 64, 130}) {
        const std::int64_t tokens = 37, heads = 3, keys = 2;
        const HeadRun queries{0, 0, heads, width}, of_keys{heads * width, heads, keys, width};
        const Shape packed{tokens, (heads + 2 * keys) * width};
        const Twins x = random(packed), dx = random(packed);
        const Twins kept = random({tokens, (heads + keys) * width});
        const Twins statistics = fp32({tokens, heads + keys});
        const Twins gain = random({width}), dgain = fp32({width});
        both([&](Kernels& kernels, Side side) {
            kernels.head_norm_forward(1e-2, queries, side(gain), side(x), side(kept),
                                      side(statistics));
            kernels.head_norm_forward(1e-2, of_keys, {}, side(x), side(kept), side(statistics));
            kernels.head_norm_backward(queries, side(gain), side(kept), side(statistics), side(dx),
                                       side(dgain));
            kernels.head_norm_backward(of_keys, {}, side(kept), side(statistics), side(dx), {});
        });
        const std::string name = std::to_string(width);
        expect_alike(x, "x of " + name);
        expect_alike(kept, "kept of " + name);
        expect_alike(statistics, "statistics of " + name);
        expect_alike(dx, "dx of " + name, 4);
        expect_alike(dgain, "dgain of " + name, 4);
    }
}

/// The same where a gate stands beside the queries of each head.
TEST_P(KernelsTest, NormsOfHeadsBesideGates) {
    for (const std::int64_t width : {3, 16, 130}) {
        const std::int64_t tokens = 37, heads = 3, keys = 2;
        const HeadRun queries{0, 0, heads, width, width};
        const HeadRun of_keys{2 * heads * width, heads, keys, width, 0, heads * width};
        const Shape packed{tokens, 2 * (heads + keys) * width};
        const Twins x = random(packed), dx = random(packed);
        const Twins kept = random({tokens, (heads + keys) * width});
        const Twins statistics = fp32({tokens, heads + keys});
        const Twins gain = random({width}), dgain = fp32({width});
        both([&](Kernels& kernels, Side side) {
            for (const HeadRun& run : {queries, of_keys}) {
                kernels.head_norm_forward(1e-2, run, side(gain), side(x), side(kept),
                                          side(statistics));
                kernels.head_norm_backward(run, side(gain), side(kept), side(statistics), side(dx),
                                           side(dgain));
            }
        });
        const std::string name = std::to_string(width);
        expect_alike(x, "x of " + name);
        expect_alike(kept, "kept of " + name);
        expect_alike(dx, "dx of " + name, 4);
        expect_alike(dgain, "dgain of " + name, 4);
    }
}

/// Two ranks have the columns of a norm: their sums are added up between the calls.
TEST_P(KernelsTest, NormsOfTheWidthOfHeads) {
    const std::int64_t tokens = 21, heads = 3, width = 10;
    const HeadRun queries{0, 0, heads, width}, keys{heads * width, 1, 1, width};
    const Shape packed{tokens, (heads + 2) * width};
    const Twins x = random(packed), dx = random(packed);
    const Twins kept = random({tokens, (heads + 1) * width}), statistics = fp32({tokens, 2});
    const Twins gain = random({heads * width}), key_gain = random({width});
    const Twins dgain = fp32({heads * width}), dkey_gain = fp32({width});
    const Twins sums = fp32({tokens, 2}), gradient_sums = fp32({tokens, 2});
    both([&](Kernels& kernels, Side side) {
        const auto run_gains = {std::tuple{queries, side(gain), side(dgain)},
                                std::tuple{keys, side(key_gain), side(dkey_gain)}};
        for (const auto& [run, weight, dweight] : run_gains) {
            kernels.width_norm_sums(run, side(x), side(sums));
            kernels.width_norm_forward(1e-2, 50, run, weight, side(sums), side(x), side(kept),
                                       side(statistics));
            kernels.width_norm_gradient_sums(run, weight, side(kept), side(dx),
                                             side(gradient_sums));
            kernels.width_norm_backward(50, run, weight, side(kept), side(statistics),
                                        side(gradient_sums), side(dx), dweight);
        }
    });
    for (const Twins* twins : {&x, &kept, &statistics, &sums})
        expect_alike(*twins, twins->tested.shape().text());
    expect_alike(gradient_sums, "sums of gradients", 4);
    for (const Twins* twins : {&dx, &dgain, &dkey_gain})
        expect_alike(*twins, twins->tested.shape().text(), 4);
}

TEST_P(KernelsTest, QueriesThatGrowWithTheirPosition) {
    for (const std::int64_t width : {5, 8}) {
        const Twins x = random({2, 19, 4, width});
        both([&](Kernels& kernels, Side side) { kernels.grow_queries({4, 0.5, 3, 2}, side(x)); });
        expect_alike(x, "x");
    }
}

/// A norm of the first columns of wider rows, whose other columns stay.
TEST_P(KernelsTest, NormsOfColumns) {
    for (const std::int64_t hidden : {5, 16, 512}) {
        const Shape wide{19, hidden + 8}, narrow{19, hidden};
        const Twins x = random(wide), dx = random(wide), y = random(narrow), dy = random(narrow);
        const Twins weight = random({hidden}), dweight = fp32({hidden}), statistics = fp32({19});
        both([&](Kernels& kernels, Side side) {
            kernels.rms_norm_forward(1e-2, side(x), side(weight), side(y), side(statistics));
            kernels.rms_norm_backward(side(dy), side(x), side(weight), side(statistics), {},
                                      side(dx), side(dweight));
        });
        expect_alike(y, "y");
        expect_alike(statistics, "statistics");
        expect_alike(dx, "dx");
        expect_alike(dweight, "dweight");
    }
}

TEST_P(KernelsTest, HeadsOfLatentAttention) {
    struct Widths {
        std::int64_t heads, own, pairs, values, shared;
    };
    for (const Widths& w : {Widths{2, 5, 2, 3, 11}, Widths{3, 16, 4, 8, 8}}) {
        const Shape keys{2, 5, w.heads, w.own + 2 * w.pairs}, values{2, 5, w.heads, w.values};
        const Shape pairs{2, 5, w.heads, w.own + w.values}, shared{2, 5, w.shared};
        const Twins cosines = fp32({9, w.pairs}), sines = fp32({9, w.pairs});
        const Twins queries = random(keys), keys_values = random(pairs), of_all = random(shared);
        const Twins q = random(keys), k = random(keys), v = random(values);
        const Twins dq = random(keys), dk = random(keys), dv = random(values);
        const Twins dqueries = random(keys), dpairs = random(pairs), dshared = random(shared);
        both([&](Kernels& kernels, Side side) {
            kernels.latent_heads_forward(3, side(cosines), side(sines), side(queries),
                                         side(keys_values), side(of_all), side(q), side(k),
                                         side(v));
            kernels.latent_heads_backward_input(4, side(cosines), side(sines), side(dq), side(dk),
                                                side(dv), side(dqueries), side(dpairs),
                                                side(dshared));
        });
        for (const Twins* twins : {&q, &k, &v, &dqueries, &dpairs, &dshared})
            expect_alike(*twins, twins->tested.shape().text());
    }
}

TEST_P(KernelsTest, SinksOfAttention) {
    for (const std::int64_t width : {5, 16, 72}) {
        const Twins sinks = random({3}), dsinks = fp32({3});
        const Twins out = random({2, 21, 3, width}), dout = random({2, 21, 3, width});
        const Twins log_sum = fp32({2, 3, 21});
        both([&](Kernels& kernels, Side side) {
            kernels.sinks_forward(side(sinks), side(out), side(log_sum));
            kernels.sinks_backward_weight(side(dout), side(out), side(log_sum), side(sinks),
                                          side(dsinks));
        });
        expect_alike(out, "out");
        expect_alike(log_sum, "log_sum");
        expect_alike(dsinks, "dsinks", 4);
    }
}

}  // namespace
}  // namespace debubble::exec
