#include "exec/cuda/kernels/layers.h"

#include "exec/cuda/kernels/load.h"

namespace debubble::exec::cuda {

namespace {

template <class Body>
__global__ void each_run(std::int64_t elements, Body body) {
    const ElementRun run = run_of_thread(elements);
    if (run.count > 0) body(run);
}

template <class Body>
void launch_each(const char* name, Stream stream, std::int64_t elements, const Body& body) {
    launch(name, each_run<Body>, over_elements(elements), stream, elements, body);
}

/// y = f(x), element by element; y may be x.
template <class Function>
struct Map {
    Function f;
    Operand x;
    Result y;
    __device__ void operator()(ElementRun run) const {
        Vec8 values = load_run(x, run);
        for (float& value : values.at) value = f(value);
        store_run(y, run, values);
    }
};

/// y = f(a, b), element by element; y may be a or b.
template <class Function>
struct Combine {
    Function f;
    Operand a, b;
    Result y;
    __device__ void operator()(ElementRun run) const {
        Vec8 values = load_run(a, run);
        const Vec8 others = load_run(b, run);
        for (int i = 0; i < kElementsEach; ++i) values.at[i] = f(values.at[i], others.at[i]);
        store_run(y, run, values);
    }
};

struct Identity {
    __device__ float operator()(float x) const { return x; }
};

struct Times {
    float factor;
    __device__ float operator()(float x) const { return x * factor; }
};

struct AddBias {
    std::int64_t columns;
    Operand bias;
    Result y;
    __device__ void operator()(ElementRun run) const {
        Vec8 values = load_run(y, run);
        std::int64_t column = run.first % columns;
        // Over a number that is known, so that the values stay in registers.
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) {
            if (i < run.count) values.at[i] += load(bias, column);
            if (++column == columns) column = 0;
        }
        store_run(y, run, values);
    }
};

__device__ float sigmoid(float x) {
    return 1.F / (1.F + expf(-x));
}

constexpr float kCubic = 0.044715F;
constexpr float kTwoRootTwoOverPi = 1.59576912F;
constexpr float kDensityAtZero = 0.398942280F;
constexpr float kRootHalf = 0.707106781F;

/// Half of (1 + tanh(u)) is sigmoid(2u).
__device__ float value_at(Curve curve, float x) {
    switch (curve) {
        case Curve::Gelu: return 0.5F * x * erfcf(-x * kRootHalf);
        case Curve::GeluTanh: return x * sigmoid(kTwoRootTwoOverPi * (x + kCubic * x * x * x));
        case Curve::Silu: return x * sigmoid(x);
        case Curve::SquaredRelu: return x < 0.F ? 0.F : x * x;
        case Curve::ClampedSilu: {
            const float g = x > kCurveLimit ? kCurveLimit : x;
            return g * sigmoid(kCurveSlope * g);
        }
        case Curve::Relu: break;
    }
    return x < 0.F ? 0.F : x;  // NaN stays NaN
}

__device__ float slope_at(Curve curve, float x) {
    switch (curve) {
        case Curve::Gelu:
            return 0.5F * erfcf(-x * kRootHalf) + x * kDensityAtZero * expf(-0.5F * x * x);
        case Curve::GeluTanh: {
            const float s = sigmoid(kTwoRootTwoOverPi * (x + kCubic * x * x * x));
            return s + x * s * (1.F - s) * kTwoRootTwoOverPi * (1.F + 3.F * kCubic * x * x);
        }
        case Curve::Silu: {
            const float s = sigmoid(x);
            return s * (1.F + x * (1.F - s));
        }
        case Curve::SquaredRelu: return x > 0.F ? 2.F * x : 0.F;
        case Curve::ClampedSilu: {
            const float s = sigmoid(kCurveSlope * x);
            return x > kCurveLimit ? 0.F : s * (1.F + kCurveSlope * x * (1.F - s));
        }
        case Curve::Relu: break;
    }
    return x > 0.F ? 1.F : 0.F;
}

/// The value that is multiplied by the gate's curve, and its slope.
__device__ float gated_by(Curve curve, float up) {
    if (curve != Curve::ClampedSilu) return up;
    return (up > kCurveLimit ? kCurveLimit : up < -kCurveLimit ? -kCurveLimit : up) + 1.F;
}
__device__ float slope_of_gated(Curve curve, float up) {
    return curve == Curve::ClampedSilu && (up > kCurveLimit || up < -kCurveLimit) ? 0.F : 1.F;
}

struct Activation {
    Curve curve;
    __device__ float operator()(float x) const { return value_at(curve, x); }
};

struct ActivationGradient {
    Curve curve;
    __device__ float operator()(float x, float dy) const { return dy * slope_at(curve, x); }
};

struct OutputGate {
    __device__ float operator()(float x, float gate) const { return x * sigmoid(gate); }
};

struct OutputGateBackward {
    Operand dy, x, gate;
    Result dx, dgate;
    __device__ void operator()(ElementRun run) const {
        const Vec8 above = load_run(dy, run), values = load_run(x, run);
        Vec8 by = load_run(gate, run), down;
        for (int i = 0; i < kElementsEach; ++i) {
            const float s = sigmoid(by.at[i]);
            down.at[i] = above.at[i] * s;
            by.at[i] = above.at[i] * values.at[i] * s * (1.F - s);
        }
        store_run(dx, run, down);
        store_run(dgate, run, by);
    }
};

struct SoftCap {
    float cap;
    __device__ float operator()(float x) const { return cap * tanhf(x / cap); }
};

struct SoftCapGradient {
    float cap;
    __device__ float operator()(float x, float dy) const {
        const float t = tanhf(x / cap);
        return dy * (1.F - t * t);
    }
};

/// Calls `body` for the elements of a run, in parts that stay in their row [gates, up].
template <class Body>
__device__ void for_each_gates(std::int64_t ffn, ElementRun run, Body body) {
    const int each = ffn % kElementsEach == 0 ? kElementsEach : 1;
    for (int i = 0; i < run.count; i += each) {
        const std::int64_t at = run.first + i;
        const ElementRun gates{at / ffn * 2 * ffn + at % ffn, each};
        body(ElementRun{at, each}, gates, shifted(gates, ffn));
    }
}

struct GatedForward {
    Curve curve;
    std::int64_t ffn;
    Operand gate_up;
    Result y;
    __device__ void operator()(ElementRun run) const {
        for_each_gates(ffn, run, [&](ElementRun piece, ElementRun gates, ElementRun ups) {
            Vec8 values = load_run(gate_up, gates);
            const Vec8 up = load_run(gate_up, ups);
            DEBUBBLE_UNROLL
            for (int i = 0; i < kElementsEach; ++i)
                values.at[i] = value_at(curve, values.at[i]) * gated_by(curve, up.at[i]);
            store_run(y, piece, values);
        });
    }
};

struct GatedBackward {
    Curve curve;
    std::int64_t ffn;
    Operand dy, gate_up;
    Result dgate_up;
    __device__ void operator()(ElementRun run) const {
        for_each_gates(ffn, run, [&](ElementRun piece, ElementRun gates, ElementRun ups) {
            const Vec8 above = load_run(dy, piece);
            Vec8 gate = load_run(gate_up, gates), up = load_run(gate_up, ups);
            DEBUBBLE_UNROLL
            for (int i = 0; i < kElementsEach; ++i) {
                const float g = gate.at[i], u = up.at[i];
                gate.at[i] = above.at[i] * gated_by(curve, u) * slope_at(curve, g);
                up.at[i] = above.at[i] * value_at(curve, g) * slope_of_gated(curve, u);
            }
            store_run(dgate_up, gates, gate);
            store_run(dgate_up, ups, up);
        });
    }
};

}  // namespace

void convert(Stream stream, std::int64_t n, Operand from, Result to) {
    launch_each("convert", stream, n, Map<Identity>{{}, from, to});
}

void sum(Stream stream, std::int64_t n, Operand a, Operand b, Result y) {
    launch_each("sum", stream, n, Combine<Add>{{}, a, b, y});
}

void scale(Stream stream, std::int64_t n, float factor, Result x) {
    launch_each("scale", stream, n, Map<Times>{{factor}, x, x});
}

void add_bias(Stream stream, std::int64_t rows, std::int64_t columns, Operand bias, Result y) {
    launch_each("add_bias", stream, rows * columns, AddBias{columns, bias, y});
}

void activation_forward(Stream stream, Curve curve, std::int64_t n, Operand x, Result y) {
    launch_each("activation_forward", stream, n, Map<Activation>{{curve}, x, y});
}

void activation_backward_input(Stream stream, Curve curve, std::int64_t n, Operand dy, Operand x,
                               Result dx) {
    launch_each("activation_backward_input", stream, n,
                Combine<ActivationGradient>{{curve}, x, dy, dx});
}

void output_gate_forward(Stream stream, std::int64_t n, Operand x, Operand gate, Result y) {
    launch_each("output_gate_forward", stream, n, Combine<OutputGate>{{}, x, gate, y});
}

void output_gate_backward(Stream stream, std::int64_t n, Operand dy, Operand x, Operand gate,
                          Result dx, Result dgate) {
    launch_each("output_gate_backward_input", stream, n,
                OutputGateBackward{dy, x, gate, dx, dgate});
}

void soft_cap_forward(Stream stream, float cap, std::int64_t n, Operand x, Result y) {
    launch_each("soft_cap_forward", stream, n, Map<SoftCap>{{cap}, x, y});
}

void soft_cap_backward(Stream stream, float cap, std::int64_t n, Operand dy, Operand x, Result dx) {
    launch_each("soft_cap_backward_input", stream, n, Combine<SoftCapGradient>{{cap}, x, dy, dx});
}

void gated_forward(Stream stream, Curve curve, std::int64_t tokens, std::int64_t ffn,
                   Operand gate_up, Result y) {
    launch_each("gated_forward", stream, tokens * ffn, GatedForward{curve, ffn, gate_up, y});
}

void gated_backward_input(Stream stream, Curve curve, std::int64_t tokens, std::int64_t ffn,
                          Operand dy, Operand gate_up, Result dgate_up) {
    launch_each("gated_backward_input", stream, tokens * ffn,
                GatedBackward{curve, ffn, dy, gate_up, dgate_up});
}

}  // namespace debubble::exec::cuda
