#include <algorithm>

#include "models/build/linear_casts.h"

namespace debubble::models {

namespace {

using Kind = Collective::Kind;

/// Bytes that adding one weight's gradient into the main gradient costs beyond the
/// product itself: a fused product reads and writes the main gradient instead of
/// writing its result; an unfused one is read again and added.
std::int64_t accumulation_bytes(const Execution& how) {
    const std::int64_t gradient = size_of(how.gradients);
    const std::int64_t element = size_of(how.compute);
    return how.kernels.gradient_accumulation_fusion ? 2 * gradient - element
                                                    : element + 2 * gradient;
}

struct LinearBuilder {
    GraphBuilder& builder;
    const OperatorPlace& place;
    const LinearShape& shape;
    Value x;
    Value y;
    Operator op;
    models::op::Linear roles;
    std::size_t weight_count = 1;
    std::optional<LinearCasts> casts;  ///< of a 8-bit or 4-bit GEMM

    std::int64_t tokens() const { return shape.rows.value_or(builder.size.tokens); }
    bool gathers_input() const {
        return builder.size.scattered &&
               (shape.sharding == Sharding::Column || shape.sharding == Sharding::Vocabulary);
    }
    bool cuts_outputs() const {
        return shape.sharding == Sharding::Column || shape.sharding == Sharding::Vocabulary;
    }
    bool scatters_output() const {
        return builder.size.scattered && shape.sharding == Sharding::Row;
    }
    std::int64_t input_bytes() const {
        return builder.size.element * shape.products * tokens() * shape.inputs;
    }
    std::int64_t output_bytes() const {
        return builder.size.element * shape.products * tokens() * shape.outputs;
    }
    std::vector<Kernel> communicate(const char* suffix, Kind kind, std::int64_t bytes,
                                    Collective::Pieces pieces = Collective::Pieces::None) const {
        std::vector<Kernel> made =
            collective(builder, place.kernel + suffix, place.layer, kind, bytes);
        // The head's GEMM is not split into chunks.
        if (shape.sharding != Sharding::Vocabulary)
            for (Kernel& kernel : made) std::get<Collective>(kernel.work).pieces = pieces;
        return made;
    }

    /// A row's scale needs the whole row, and torchao casts what was gathered in the compute type.
    bool casts_gathered() const {
        return casts && builder.how().low_precision.recipe == Recipe::Fp8Rowwise;
    }
    Collective::Pieces pieces_of_next() const {
        return casts_gathered() ? Collective::Pieces::None : Collective::Pieces::OfNext;
    }
    /// Bytes of the input as it is gathered.
    std::int64_t gathered_bytes() const {
        return casts && !casts_gathered() ? casts->bytes(shape.products * tokens() * shape.inputs)
                                          : input_bytes();
    }
    /// Only GEMMs in layers are split into chunks that communication may place.
    bool may_place() const { return shape.sharding != Sharding::Vocabulary; }
    std::optional<int> gather_into(std::vector<int>& uses, const char* suffix) {
        if (shape.own_gather_buffer && !keeps_gathered()) return {};
        add_pieces(builder, uses, place.kernel + suffix, gathered_bytes(), may_place());
        uses.push_back(builder.scratch(place.kernel + suffix, gathered_bytes()));
        return uses.back();
    }
    Kernel product(const char* suffix, Gemm work) const {
        if (casts) work.operands = casts->rule.type;
        if (shape.products > 1) work.group_rows = tokens();
        return gemm(builder, place.kernel + suffix, place.layer, work);
    }
    /// True if torchao converts the layer's modules to the recipe: torchtitan b5bcd76 leaves those
    /// out whose weights have other sizes (module_filter_fn, components/quantization/utils.py).
    bool converted(const LinearParameters& parameters) const {
        const LowPrecision& how = builder.how().low_precision;
        if (how.keeps_casts) return true;
        const std::int64_t multiple = width_multiple(how.recipe);
        return std::ranges::all_of(parameters.weights, [&](int weight) {
            return std::ranges::all_of(builder.graph.parameters[weight].shape,
                                       [&](std::int64_t size) { return size % multiple == 0; });
        });
    }
    bool keeps_gathered() const { return gathers_input() && builder.how().kernels.keeps_gathered; }

    bool adapts() const { return builder.how().lora && shape.adapter; }
    bool trains() const { return !builder.how().lora || shape.adapter; }
    std::int64_t rank() const { return builder.how().lora->rank; }
    Kernel adapter_gemm(const char* suffix, std::int64_t m, std::int64_t n, std::int64_t k) const {
        return gemm(builder, place.kernel + suffix, place.layer, {1, m, n, k, {}});
    }

    /// The adapter's parameters: the narrow product is cut where the wide one's inputs are, and the
    /// one out of it where its outputs are.
    void add_adapter() {
        if (!adapts()) return;
        const int t = builder.size.tensor;
        const bool by_rows = shape.sharding == Sharding::Row;
        const std::int64_t inputs = shape.inputs * (by_rows ? t : 1);
        const std::int64_t outputs = shape.outputs * (cuts_outputs() ? t : 1);
        const auto add = [&](const char* name, std::vector<std::int64_t> sizes, Sharding cut,
                             int dimension) {
            const int index =
                builder.parameter({place.name + name, std::move(sizes), cut, dimension, 1, {}});
            builder.graph.parameters[index].frozen = false;
            op.parameters.push_back(index);
        };
        add(".lora_A.weight", {rank(), inputs}, by_rows ? Sharding::Row : Sharding::Replicated, 1);
        add(".lora_B.weight", {outputs, rank()},
            cuts_outputs() ? Sharding::Column : Sharding::Replicated, 0);
        const std::int64_t narrow = builder.size.element * tokens() * rank();
        const int kept = builder.tensor(place.kernel + ".lora.narrow", narrow);
        op.saved.push_back(kept);
        op.forward_uses.push_back(kept);
        op.forward_uses.push_back(builder.scratch(place.kernel + ".lora.out", output_bytes()));
        append(op.forward, {adapter_gemm(".lora_A", tokens(), rank(), shape.inputs),
                            adapter_gemm(".lora_B", tokens(), shape.outputs, rank()),
                            moves(place.kernel + ".lora.add", place.layer, 2 * output_bytes(),
                                  output_bytes())});
        const int d_narrow = builder.tensor("d." + place.kernel + ".lora.narrow", narrow);
        op.backward_input_uses.push_back(d_narrow);
        append(op.backward_input, {adapter_gemm(".lora_B.dx", tokens(), rank(), shape.outputs),
                                   adapter_gemm(".lora_A.dx", tokens(), shape.inputs, rank()),
                                   moves(place.kernel + ".lora.dx.add", place.layer,
                                         2 * input_bytes(), input_bytes())});
        op.backward_weight_uses.push_back(kept);
        op.backward_weight_uses.push_back(d_narrow);
    }

    void forward() {
        if (trains()) op.saved = {x.tensor};
        op.forward_uses = {x.tensor};
        if (casts && !casts_gathered()) casts->forward(op);
        if (!trains()) op.saved.clear();
        if (gathers_input()) {
            roles.gathered = gather_into(op.forward_uses, ".gathered");
            if (keeps_gathered()) {
                if (trains()) op.saved = {*roles.gathered};
                roles.gathered_again = roles.gathered;
            }
            append(op.forward,
                   communicate(".gather", Kind::AllGather, gathered_bytes(), pieces_of_next()));
        }
        if (casts_gathered()) casts->forward(op);
        op.forward.push_back(
            product("", {shape.products, tokens(), shape.outputs, shape.inputs, {}}));
        if (scatters_output()) {
            roles.partial = builder.scratch(place.kernel + ".partial", output_bytes());
            op.forward_uses.push_back(*roles.partial);
            add_pieces(builder, op.forward_uses, place.kernel + ".partial", output_bytes(),
                       may_place());
            append(op.forward, communicate(".scatter", Kind::ReduceScatter, output_bytes(),
                                           Collective::Pieces::OfPrevious));
        } else if (shape.sharding == Sharding::Row) {
            append(op.forward, communicate(".reduce", Kind::AllReduce, output_bytes()));
        }
        op.forward_uses.push_back(y.tensor);
    }

    /// The input gradients of other weights that exist at the same time: a compiled layer adds all
    /// of them in one kernel, an eager one adds each to the running sum.
    int gradients_to_add() const {
        const KernelOptions& kernels = builder.how().kernels;
        if (!kernels.separate_products || shape.products > 1) return 0;
        const int others = static_cast<int>(weight_count) - 1;
        return kernels.fused_bias_dropout_add ? others : std::min(others, 1);
    }

    /// `dy` is the output gradient, gathered where sequence parallelism scattered it.
    void backward_input(int dy) {
        op.backward_input_uses = {y.gradient};
        if (dy != y.gradient) {
            roles.y_gradient_gathered = dy;
            add_pieces(builder, op.backward_input_uses, "d." + place.kernel + ".gathered",
                       output_bytes(), may_place());
            op.backward_input_uses.push_back(dy);
            append(op.backward_input,
                   communicate(".dy.gather", Kind::AllGather, output_bytes(), pieces_of_next()));
        }
        if (casts) casts->backward_input(op, dy);
        if (!shape.input_gradient) return;
        op.backward_input.push_back(
            product(".dx", {shape.products, tokens(), shape.inputs, shape.outputs, {}}));
        const int summed = gradients_to_add();
        for (int i = 0; i < summed; ++i)
            op.backward_input_uses.push_back(
                builder.scratch("d." + place.kernel + ".in.other", input_bytes()));
        if (gathers_input()) {
            roles.x_gradient_partial =
                builder.scratch("d." + place.kernel + ".partial", input_bytes());
            op.backward_input_uses.push_back(*roles.x_gradient_partial);
            // A sum of several products is reduced apart from them.
            add_pieces(builder, op.backward_input_uses, "d." + place.kernel + ".partial",
                       input_bytes(), may_place() && summed == 0);
            append(op.backward_input,
                   communicate(".dx.scatter", Kind::ReduceScatter, input_bytes()));
        } else if (cuts_outputs()) {
            append(op.backward_input, communicate(".dx.reduce", Kind::AllReduce, input_bytes()));
        }
        if (shape.adds_gradient) {
            const std::int64_t bytes = builder.graph.tensors[x.tensor].bytes.count;
            roles.x_gradient_part = builder.scratch("d." + place.kernel + ".in.part", bytes);
            op.backward_input_uses.push_back(*roles.x_gradient_part);
            op.backward_input.push_back(
                moves(place.kernel + ".dx.add", place.layer, 2 * bytes, bytes));
        }
        op.backward_input_uses.push_back(x.gradient);
    }

    /// Of the adapter alone, whose products are narrow.
    void backward_adapter(int dy) {
        op.backward_weight_uses = {keeps_gathered() ? *roles.gathered : x.tensor, dy};
        if (gathers_input() && !keeps_gathered()) {
            roles.gathered_again = gather_into(op.backward_weight_uses, ".regathered");
            append(op.backward_weight, communicate(".dw.gather", Kind::AllGather, input_bytes()));
        }
        append(op.backward_weight, {adapter_gemm(".lora_A.dw", rank(), shape.inputs, tokens()),
                                    adapter_gemm(".lora_B.dw", shape.outputs, rank(), tokens())});
    }

    void backward_weight(int dy) {
        if (adapts()) return backward_adapter(dy);
        if (!trains()) return;
        op.backward_weight_uses = {keeps_gathered() ? *roles.gathered : x.tensor, dy};
        if (casts) {
            op.backward_weight_uses.clear();
            if (keeps_gathered()) op.backward_weight_uses = {*roles.gathered};
            if (!casts_gathered()) casts->backward_weight_begins(op, keeps_gathered());
        }
        if (gathers_input() && !keeps_gathered()) {
            roles.gathered_again = gather_into(op.backward_weight_uses, ".regathered");
            append(op.backward_weight,
                   communicate(".dw.gather", Kind::AllGather, gathered_bytes()));
        }
        if (casts_gathered()) casts->backward_weight_begins(op, false);
        if (casts) casts->backward_weight_reads(op);
        const std::int64_t weights = shape.products * shape.inputs * shape.outputs;
        const std::int64_t extra = weights * accumulation_bytes(builder.how());
        Gemm work{shape.products, shape.inputs, shape.outputs, tokens(), {}};
        if (builder.how().kernels.gradient_accumulation_fusion) work.accumulated = Bytes{extra};
        op.backward_weight.push_back(product(".dw", work));
        if (!builder.how().kernels.gradient_accumulation_fusion) {
            const std::int64_t written = weights * size_of(builder.how().gradients);
            roles.weight_gradient =
                builder.scratch("d." + place.kernel + ".weight", builder.size.element * weights);
            op.backward_weight_uses.push_back(*roles.weight_gradient);
            op.backward_weight.push_back(
                moves(place.kernel + ".dw.accumulate", place.layer, extra - written, written));
        }
        if (shape.bias && !casts) {
            op.backward_weight.push_back(
                moves(place.kernel + ".db", place.layer, output_bytes(), 0));
        }
        if (shape.bias && casts) casts->backward_bias(op, y.gradient);
    }

    void name_roles(const LinearParameters& parameters) {
        roles.x = x.tensor;
        if (shape.input_gradient) roles.x_gradient = x.gradient;
        roles.y = y;
        roles.weights = parameters.weights;
        roles.biases = parameters.biases;
        roles.rows = tokens();
        roles.inputs = shape.inputs;
        roles.outputs = shape.outputs;
        roles.sharding = shape.sharding;
        roles.transposed = builder.graph.parameters[parameters.weights.front()].transposed;
        roles.gathers_x = gathers_input();
        if (!casts) return;
        roles.narrow = casts->roles;
        for (const int weight : parameters.weights) builder.graph.parameters[weight].narrow = true;
    }
};

}  // namespace

Value linear(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
             const LinearParameters& parameters, Value x, std::optional<int> output_gradient) {
    const OperatorPlace input{place.name, place.kernel + ".in", place.layer};
    x = shape.sharding == Sharding::Row ? sliced(builder, input, x) : gathered(builder, input, x);
    LinearBuilder part{builder, place, shape, x, {}, start(place), {}, parameters.weights.size(),
                       {}};
    const LowPrecision& narrow = builder.how().low_precision;
    if (place.layer && narrow.quantises(*place.layer) && part.converted(parameters)) {
        part.casts.emplace(builder, place, shape, x.tensor, part.tokens(),
                           part.gathers_input() && narrow.recipe != Recipe::Fp8Rowwise,
                           part.scatters_output() && narrow.recipe != Recipe::Fp8Rowwise);
        part.casts->check_widths();
    }
    const std::int64_t bytes =
        part.scatters_output() ? part.output_bytes() / builder.size.tensor : part.output_bytes();
    part.y.tensor = builder.tensor(place.kernel + ".out", bytes);
    part.y.gradient =
        output_gradient ? *output_gradient : builder.tensor("d." + place.kernel + ".out", bytes);
    part.y.cut = part.cuts_outputs() && builder.size.tensor > 1;
    part.op.inputs = {x.tensor};
    part.op.parameters = parameters.all();
    const int dy = part.scatters_output() && (!part.casts || part.casts_gathered())
                       ? builder.tensor("d." + place.kernel + ".gathered", part.output_bytes())
                       : part.y.gradient;
    part.forward();
    part.backward_input(dy);
    part.backward_weight(dy);
    part.add_adapter();
    part.name_roles(parameters);
    part.op.roles = std::move(part.roles);
    builder.graph.operators.push_back(std::move(part.op));
    return part.y;
}

Value expert_products(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
                      const LinearParameters& parameters, Value x) {
    const Value y = linear(builder, place, shape, parameters, x);
    Roles& roles = builder.graph.operators.back().roles;
    const auto product = std::get<op::Linear>(std::move(roles));
    roles = op::ExpertProducts{x,
                               y,
                               parameters.weights,
                               parameters.biases,
                               shape.products,
                               shape.products * product.rows,
                               shape.inputs,
                               shape.outputs,
                               product.weight_gradient,
                               product.narrow};
    return y;
}

Value linear_to_stream(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
                       const LinearParameters& parameters, Value x, int output_gradient) {
    if (shape.sharding != Sharding::Column || builder.size.tensor == 1) {
        return linear(builder, place, shape, parameters, x, output_gradient);
    }
    const Value y = linear(builder, place, shape, parameters, x);
    return gathered(builder, {place.name, place.kernel + ".out", place.layer}, y, output_gradient);
}

}  // namespace debubble::models
