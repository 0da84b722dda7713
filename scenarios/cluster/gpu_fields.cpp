#include <algorithm>

#include <fmt/format.h>

#include "scenarios/cluster/fields.h"
#include "scenarios/cluster/kernel_table.h"
#include "text/quantity.h"
#include "text/shipped_files.h"

/// The keys of a cluster's `gpu`.
namespace debubble::scenarios {
namespace {

using text::bytes;
using text::custom;
using text::described;
using text::duration;
using text::Fields;
using text::flag;
using text::flop_rate;
using text::Form;
using text::free_text;
using text::MappingReader;
using text::Node;
using text::NodePtr;
using text::rate;
using text::read_fields;
using text::real;
using text::required;
using text::whole;

/// The keys of `gpu.attention_rates`.
constexpr std::pair<std::string_view, AttentionKernelOf> kRatedAttention[] = {
    {"cudnn", {models::FusedAttention::Cudnn, false}},
    {"cudnn-2024", {models::FusedAttention::Cudnn2024, false}},
    {"cudnn-fp8", {models::FusedAttention::Cudnn, true}},
    {"chosen-keys", {models::FusedAttention::ChosenKeys, false}},
    {"flash-1", {models::FusedAttention::Flash1, false}},
    {"flash-2", {models::FusedAttention::Flash2, false}},
    {"flash-3", {models::FusedAttention::Flash3, false}},
    {"flash-3-fp8", {models::FusedAttention::Flash3, true}},
    {"sdpa-efficient", {models::FusedAttention::SdpaEfficient, false}},
    {"triton", {models::FusedAttention::Triton, false}}};

constexpr std::int64_t kLongestMeasured = 1 << 24;
constexpr double kMostAttention = 2;  ///< in 8 bits, of the peak of 16

/// Reads a map such as {2048: 0.49, 8192: 0.65}.
void read_shares(MappingReader& rates_in, std::string_view key,
                 std::map<std::int64_t, double>& shares) {
    rates_in.demand(key);
    const NodePtr map = rates_in.value(key);
    if (!map) return;
    MappingReader in(map, key, rates_in.mistakes());
    if (in.mapping()->entries.empty()) rates_in.complain(key, "a rate needs at least one length");
    for (const Node::Entry& entry : in.mapping()->entries) {
        const auto tokens = text::parse_whole(entry.key);
        if (!tokens || *tokens < 1 || *tokens > kLongestMeasured) {
            in.mistakes().add(entry.place,
                              fmt::format("'{}' is not a number of tokens from 1 to {}", entry.key,
                                          kLongestMeasured));
            continue;
        }
        double share = 1;
        if (in.real(entry.key, share, kLeastShare, kMostAttention)) shares[*tokens] = share;
    }
}

void read_forward_shares(MappingReader& in, std::string_view key, AttentionRates& rates) {
    read_shares(in, key, rates.forward);
}
void read_backward_shares(MappingReader& in, std::string_view key, AttentionRates& rates) {
    read_shares(in, key, rates.backward);
}

const Fields<AttentionRates>& attention_rate_fields() {
    static const std::vector<Form> kTable{Form{text::TableForm{
        "TOKENS", "^[1-9][0-9]*$", {Form{text::RealForm{kLeastShare, kMostAttention, "share"}}}}}};
    static const Fields<AttentionRates> kFields{
        {"forward", required(custom(read_forward_shares, kTable)), "Shares in the forward.",
         "{4096: 0.6, 8192: 0.65}"},
        {"backward", required(custom(read_backward_shares, kTable)), "Shares in the backward.",
         "{4096: 0.48, 8192: 0.55}"}};
    return kFields;
}

/// The names of the kernels of attention whose rates a cluster may have.
std::vector<text::Key> attention_rate_keys() {
    std::vector<text::Key> keys;
    for (const auto& [name, kernel] : kRatedAttention) {
        text::Key key;
        key.name = name;
        key.meaning = "The shares of the peak that this kernel reaches.";
        key.example = "{forward: {8192: 0.65}, backward: {8192: 0.55}}";
        key.otherwise = "as the kernel-independent shares";
        key.forms = {Form{text::MapForm{described(attention_rate_fields())}}};
        keys.push_back(std::move(key));
    }
    return keys;
}

void read_attention_rates(MappingReader& gpu_in, std::string_view key, Gpu& gpu) {
    const NodePtr map = gpu_in.value(key);
    if (!map) return;
    MappingReader in(map, key, gpu_in.mistakes());
    for (const auto& [name, kernel] : kRatedAttention) {
        const NodePtr value = in.value(name);
        if (!value) continue;
        MappingReader of_kernel(value, name, in.mistakes());
        AttentionRates rates;
        read_fields(of_kernel, attention_rate_fields(), rates);
        of_kernel.finish();
        gpu.attention_rates[kernel] = std::move(rates);
    }
    in.finish();
}

void read_kernels(MappingReader& in, std::string_view key, Gpu& gpu) {
    const NodePtr value = in.scalar(key, "the path of a table");
    if (!value) return;
    try {
        gpu.kernels_file = text::data_seen_from(value->place, value->scalar).string();
        gpu.kernels = shared_kernel_table(gpu.kernels_file);
    } catch (const InputError& error) {
        in.mistakes().add(error);
    }
}

}  // namespace

const Fields<Gpu>& gpu_fields() {
    static const Fields<Gpu> kFields{
        {"name", free_text(&Gpu::name), "The name of the device.", "NVIDIA A100-SXM4-80GB", "none"},
        {"sms", required(whole(&Gpu::sms, 1, 100'000)),
         "The number of streaming multiprocessors, which run the tiles of a GEMM in waves.", "108"},
        {"fp16_flops", zero_unsets(flop_rate(&Gpu::fp16_flops_per_s)),
         "The dense fp16 and bf16 peak; 0 FLOP/s: unknown.", "312 TFLOP/s"},
        {"fp8_flops", zero_unsets(flop_rate(&Gpu::fp8_flops_per_s)),
         "The dense 8-bit peak; 0 FLOP/s: not supported.", "1979 TFLOP/s"},
        {"fp4_flops", zero_unsets(flop_rate(&Gpu::fp4_flops_per_s)),
         "The dense 4-bit peak with block scales; 0 FLOP/s: neither this nor MXFP8 is supported.",
         "9000 TFLOP/s"},
        {"fp32_flops", zero_unsets(flop_rate(&Gpu::fp32_flops_per_s)),
         "The rate of fp32 GEMMs; 0 FLOP/s: unknown.", "19.5 TFLOP/s"},
        {"bf16", flag(&Gpu::bf16), "The device has matrix units for bf16.", "false"},
        {"memory", required(bytes(&Gpu::memory)), "The memory that a process can allocate.",
         "79.15 GiB"},
        {"memory_bandwidth", required(rate(&Gpu::memory_bandwidth)),
         "The device's memory bandwidth, from the datasheet.", "2039 GB/s"},
        {"gemm_efficiency", real(&Gpu::gemm_efficiency, kLeastShare, 1, "share"),
         "The share of the peak that a very large GEMM reaches.", "0.8"},
        {"fp8_gemm_efficiency", real(&Gpu::fp8_gemm_efficiency, kLeastShare, 1, "share"),
         "The share of the fp8 peak that a very large GEMM reaches.", "0.75"},
        {"fp4_gemm_efficiency", real(&Gpu::fp4_gemm_efficiency, kLeastShare, 1, "share"),
         "The share of the fp4 peak that a very large GEMM reaches.", "0.4"},
        {"gemm_fill", real(&Gpu::gemm_fill, 0, 1, "share"),
         "The fraction of a GEMM's last, partly filled wave that costs nothing.", "0.8"},
        {"gemm_depth", real(&Gpu::gemm_depth, 0, 1e5, "values"),
         "The reduction length (k) that takes as long as a tile's prologue and epilogue.", "160"},
        {"fp8_gemm_depth", real(&Gpu::fp8_gemm_depth, 0, 1e5, "values"),
         "The same for 8-bit GEMMs.", "400"},
        {"sustained_clock", real(&Gpu::sustained_clock, kLeastShare, 1, "share"),
         "The share of the rates of isolated GEMMs and attentions that a long training keeps under "
         "the power limit.",
         "0.85"},
        {"fp8_sustained_clock", zero_unsets(real(&Gpu::fp8_sustained_clock, 0, 1, "share")),
         "The same share for 8-bit and 4-bit GEMMs, which draw power differently; 0: as "
         "sustained_clock.",
         "0.8"},
        {"clock_spread", real(&Gpu::clock_spread, 0, 0.2, "share"),
         "The standard deviation of the clocks of such devices: a step waits for the slowest of "
         "its devices.",
         "0.01"},
        {"power", zero_unsets(text::power(&Gpu::power)),
         "The power limit at which sustained_clock was measured; 0 W: unknown.", "700 W"},
        {"power_limit", zero_unsets(text::power(&Gpu::power_limit)),
         "The power limit, where an operator has set a lower one: GEMMs and attentions slow down "
         "by the cube root of the power above a fifth of gpu.power.",
         "500 W"},
        {"attention_forward_efficiency",
         real(&Gpu::attention_forward_efficiency, kLeastShare, 1, "share"),
         "The share of the peak that flash attention reaches in the forward on long sequences.",
         "0.7"},
        {"attention_backward_efficiency",
         real(&Gpu::attention_backward_efficiency, kLeastShare, 1, "share"),
         "The share of the peak that flash attention reaches in the backward on long sequences.",
         "0.6"},
        {"attention_narrow_heads", real(&Gpu::attention_narrow_heads, kLeastShare, 1, "share"),
         "The rate of head dimensions up to 64 relative to larger ones.", "0.8"},
        {"attention_rates",
         custom(read_attention_rates, {Form{text::MapForm{attention_rate_keys()}}}),
         "Shares of the fp16 peak that fused attention kernels reach, by tokens of the sequence: "
         "causal heads of dimension 128, counting half of the FLOPs.",
         "{cudnn: {forward: {4096: 0.6, 8192: 0.65}, backward: {4096: 0.48, 8192: 0.55}}}",
         "attention_forward_efficiency and attention_backward_efficiency, for every kernel"},
        {"kernels", custom(read_kernels, {Form{text::PathForm{}}}),
         "A table of GEMMs, grouped GEMMs and attentions measured on such a GPU, one line of JSON "
         "each (bench/measure_kernels.py, calibrate --from-trace): kernels of the nearest shapes "
         "correct the rates.",
         "my-gpu.jsonl", "none: all times follow from the rates"},
        {"memory_efficiency", real(&Gpu::memory_efficiency, kLeastShare, 1, "share"),
         "The share of the memory bandwidth that elementwise kernels reach on average.", "0.8"},
        {"recurrence_efficiency", real(&Gpu::recurrence_efficiency, kLeastShare, 10, "ratio"),
         "The rate of Triton kernels of linear recurrences per memory bandwidth, relative to H100.",
         "0.6"},
        {"gemm_overhead", duration(&Gpu::gemm_overhead), "Time added to each GEMM.", "3 us"},
        {"kernel_overhead", duration(&Gpu::kernel_overhead),
         "Time added to each memory-bound kernel.", "2 us"},
        {"host_link", rate(&Gpu::host_link),
         "The bandwidth between the device and pinned host memory, in one direction.", "25 GB/s"},
        {"threads", whole(&Gpu::threads, 1, 100'000, "threads"),
         "The number of processor threads that make up one such device.", "4",
         "none: the device is a real GPU"}};
    return kFields;
}

}  // namespace debubble::scenarios
