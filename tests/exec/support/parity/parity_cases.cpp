#include "tests/exec/support/parity/parity_cases.h"

#include <cctype>

#include <fmt/format.h>

#include "schedule/generators/generators.h"
#include "tests/exec/support/parity/parity_variants.h"

namespace debubble::exec::parity {

namespace {

std::string legal(std::string name) {
    for (char& letter : name)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
    return name;
}

}  // namespace

Case layout(std::string name, std::string parallel, std::string schedule, std::string model,
            std::string training) {
    Case c;
    c.name = std::move(name);
    c.parallel = std::move(parallel);
    c.schedule = std::move(schedule);
    c.model = std::move(model);
    c.training = std::move(training);
    return c;
}

std::vector<Case> generator_cases() {
    std::vector<Case> cases;
    for (const Generator& generator : generators()) {
        for (const int p : {2, 4}) {
            const int v = generator.stages_per_rank.value_or(1);
            for (const int m : {p, 2 * p, 2 * p + 1}) {
                const bool sliced = generator.name == "seq-1f1b";
                const PipelineShape shape{p, v, m, sliced ? 2 : 1};
                if (generator.why_not(shape, {})) continue;
                Case c;
                c.name = legal(fmt::format("{}_p{}_m{}", generator.name, p, m));
                c.schedule = sliced ? fmt::format("{{name: {}, slices: 2}}", generator.name)
                                    : std::string(generator.name);
                c.parallel = fmt::format("{{pipeline: {}, data: 1, stages_per_rank: {}}}", p, v);
                c.micro_batches = m;
                cases.push_back(c);
            }
        }
    }
    return cases;
}

std::vector<Case> layout_cases() {
    return {
        layout("tp2", "{tensor: 2, data: 1}"),
        layout("tp4", "{tensor: 4, data: 1}"),
        layout("tp2_sp", "{tensor: 2, data: 1, sequence: true}"),
        layout("tp4_sp", "{tensor: 4, data: 1, sequence: true}"),
        layout("dp2", "{data: 2}"),
        layout("dp4", "{data: 4}"),
        layout("zero1", "{data: 2, zero_stage: 1}"),
        layout("zero2", "{data: 2, zero_stage: 2}"),
        layout("zero3", "{data: 2, zero_stage: 3}"),
        layout("zero3_dp4", "{data: 4, zero_stage: 3}"),
        layout("zero3_by_stage", "{data: 2, zero_stage: 3, wrap: stage}"),
        layout("pp2_zero2", "{pipeline: 2, data: 2, zero_stage: 2, wrap: stage}"),
        layout("pp2_zero3", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}"),
        layout("pp2_zero1_zb_h1", "{pipeline: 2, data: 2, zero_stage: 1}", "zb-h1"),
        layout("pp2_zero3_zb_v", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}", "zb-v"),
        layout("pp2_tp2_dp2", "{pipeline: 2, tensor: 2, data: 2}"),
        layout("pp2_tp2_dp2_sp_zero1",
               "{pipeline: 2, tensor: 2, data: 2, sequence: true, zero_stage: 1}"),
        layout("pipelines_inside_replicas",
               "{pipeline: 2, tensor: 2, data: 2, zero_stage: 1, order: tp-cp-ep-pp-dp}"),
        layout("pipelines_inside_contexts",
               "{pipeline: 2, context: 2, data: 2, order: tp-dp-ep-pp-cp}", "zb-h1"),
        of_batch(8, layout("dualpipe_dp2", "{pipeline: 2, data: 2}", "dualpipe")),
        of_batch(8, layout("dualpipe_v_tp2", "{pipeline: 2, tensor: 2, data: 1}", "dualpipe-v")),
        of_batch(8, layout("chimera_dp2_zero2",
                           "{pipeline: 4, data: 2, zero_stage: 2, wrap: stage}", "chimera")),
        of_batch(16, layout("dualpipe_dp2_zero2",
                            "{pipeline: 4, data: 2, zero_stage: 2, wrap: stage}", "dualpipe")),
        of_batch(16, layout("dualpipe_dp2_zero3",
                            "{pipeline: 4, data: 2, zero_stage: 3, wrap: stage}", "dualpipe")),
        layout("tp2_sp_pp2_zb_h1", "{tensor: 2, data: 1, pipeline: 2, sequence: true}", "zb-h1"),
        layout("tp2_sp_zb_v_dp2", "{tensor: 2, data: 2, pipeline: 2, sequence: true}", "zb-v"),
        layout("vit_tp2_pp2_zb_h1", "{tensor: 2, data: 1, pipeline: 2}", "zb-h1", "vit"),
        layout("recompute_tp2_sp_pp2", "{tensor: 2, data: 1, pipeline: 2, sequence: true}", "zb-h1",
               "gpt2", "recompute: full"),
        layout("llama_tp2", "{tensor: 2, data: 1}", "1f1b", "llama"),
        layout("llama_tp2_sp_pp2", "{tensor: 2, data: 1, pipeline: 2, sequence: true}", "zb-h1",
               "llama"),
        layout("llama_zero3", "{data: 2, zero_stage: 3}", "1f1b", "llama"),
        layout("heads_pp2", "{pipeline: 2, data: 1}", "zb-v", "heads"),
        layout("heads_tp2", "{tensor: 2, data: 1}", "1f1b", "heads"),
        layout("heads_tp2_sp_pp2", "{tensor: 2, data: 1, pipeline: 2, sequence: true}", "zb-h1",
               "heads"),
        layout("heads_tp2_zero3", "{tensor: 2, data: 2, zero_stage: 3}", "1f1b", "heads"),
        layout("heads_cp2_tp2", "{context: 2, tensor: 2, data: 1}", "1f1b", "heads"),
        of_samples(2, layout("heads_cp4_recompute", "{context: 4, data: 1}", "1f1b", "heads",
                             "recompute: full")),
        offloaded(layout("heads_slices_offload", "{pipeline: 2, data: 1}",
                         "{name: seq-1f1b, slices: 4}", "heads")),
        layout("heads_cp2_slices_tp2_sp",
               "{context: 2, tensor: 2, pipeline: 2, data: 1, sequence: true}",
               "{name: seq-1f1b, slices: 2}", "heads"),
        decaying("all", layout("places_pp2", "{pipeline: 2, data: 1}", "zb-v", "places")),
        decaying("matrices",
                 layout("places_tp2_sp_pp2", "{tensor: 2, data: 1, pipeline: 2, sequence: true}",
                        "zb-h1", "places")),
        decaying("all", layout("places_tp2_zero3", "{tensor: 2, data: 2, zero_stage: 3}", "1f1b",
                               "places")),
        of_samples(2, layout("places_cp2_tp2", "{context: 2, tensor: 2, data: 1}", "1f1b", "places",
                             "recompute: full")),
        offloaded(layout("places_slices_offload", "{pipeline: 2, data: 1}",
                         "{name: seq-1f1b, slices: 4}", "places")),
        layout("latent_pp2", "{pipeline: 2, data: 1}", "zb-v", "latent"),
        layout("latent_tp2", "{tensor: 2, data: 1}", "1f1b", "latent"),
        layout("latent_tp4_sp", "{tensor: 4, data: 1, sequence: true}", "1f1b", "latent"),
        layout("latent_tp2_sp_pp2", "{tensor: 2, data: 1, pipeline: 2, sequence: true}", "zb-h1",
               "latent"),
        layout("latent_pp2_zero1", "{pipeline: 2, data: 2, zero_stage: 1}", "zb-h1", "latent"),
        layout("latent_tp2_zero3", "{tensor: 2, data: 2, zero_stage: 3}", "1f1b", "latent"),
        layout("latent_cp2_tp2_sp", "{context: 2, tensor: 2, data: 1, sequence: true}", "1f1b",
               "latent"),
        of_samples(2, layout("latent_cp2_recompute", "{context: 2, pipeline: 2, data: 1}", "zb-h1",
                             "latent", "recompute: full")),
        offloaded(layout("latent_offload", "{pipeline: 2, data: 1}", "1f1b", "latent")),
        layout("latent_slices_tp2_sp", "{tensor: 2, pipeline: 2, data: 1, sequence: true}",
               "{name: seq-1f1b, slices: 4}", "latent"),
        layout("latent_cp2_slices", "{context: 2, pipeline: 2, data: 1}",
               "{name: seq-1f1b, slices: 2}", "latent", "recompute: full"),
        layout("experts_dp2", "{data: 2}", "1f1b", "mixtral"),
        layout("odd_experts_pp2", "{pipeline: 2, data: 1}", "zb-h1", "mixtral-odd"),
        layout("experts_pp2_dp2_zero3", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}",
               "zb-h1", "mixtral"),
        layout("experts_cp2_recompute", "{context: 2, pipeline: 2, data: 1}", "zb-v", "mixtral",
               "recompute: full"),
        offloaded(layout("experts_slices_offload", "{pipeline: 2, data: 1}",
                         "{name: seq-1f1b, slices: 2}", "mixtral")),
        of_batch(8, layout("experts_dualpipe_zero1", "{pipeline: 2, data: 2, zero_stage: 1}",
                           "dualpipe", "mixtral")),
        layout("shared_experts_dp2_zero2", "{data: 2, zero_stage: 2}", "1f1b", "shared-experts"),
        layout("shared_experts_pp2_zero3", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}",
               "zb-h1", "shared-experts"),
        layout("shared_experts_cp2_recompute", "{context: 2, pipeline: 2, data: 1}", "zb-v",
               "shared-experts", "recompute: full"),
        offloaded(layout("shared_experts_slices_offload", "{pipeline: 2, data: 1}",
                         "{name: seq-1f1b, slices: 2}", "shared-experts")),
        routed(layout("routers_dp2_zero2", "{data: 2, zero_stage: 2}", "1f1b", "sigmoid-experts")),
        routed(layout("routers_pp2_dp2_zero3", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}",
                      "zb-h1", "sigmoid-experts")),
        of_samples(2, routed(layout("routers_cp2_of_2", "{context: 2, pipeline: 2, data: 1}",
                                    "zb-v", "sigmoid-experts"))),
        of_batch(
            8, routed(layout("routers_dualpipe_dp2_zero1", "{pipeline: 2, data: 2, zero_stage: 1}",
                             "dualpipe", "sigmoid-experts"))),
        routed(offloaded(layout("routers_recompute_offload", "{pipeline: 2, data: 1}", "1f1b",
                                "sigmoid-experts", "recompute: full"))),
        of_samples(2, by_sequence(layout("sequence_routers_cp2_dp2", "{context: 2, data: 2}",
                                         "1f1b", "pre-softmax-experts"))),
        of_samples(2, by_sequence(layout("sequence_routers_pp2", "{pipeline: 2, data: 1}", "zb-h1",
                                         "mixtral"))),
        routed(layout("routers_slices", "{pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 2}",
                      "sigmoid-experts")),
        routed(layout("routers_slices_recompute_tp2_sp",
                      "{tensor: 2, pipeline: 2, data: 1, sequence: true}",
                      "{name: seq-1f1b, slices: 4}", "sigmoid-experts", "recompute: full")),
        of_samples(2,
                   by_sequence(offloaded(layout(
                       "sequence_routers_slices_cp2_offload", "{context: 2, pipeline: 2, data: 1}",
                       "{name: seq-1f1b, slices: 2}", "pre-softmax-experts")))),
        by_step(layout("step_routers_pp2", "{pipeline: 2, data: 1}", "zb-v", "sigmoid-experts")),
        by_step(layout("step_routers_interleaved", "{pipeline: 2, data: 1, stages_per_rank: 2}",
                       "interleaved-1f1b", "mixtral", "recompute: full")),
        of_samples(2, by_step(layout("step_routers_cp2_tp2_sp",
                                     "{context: 2, tensor: 2, data: 1, sequence: true}", "1f1b",
                                     "pre-softmax-experts"))),
        by_step(offloaded(
            layout("step_routers_offload", "{pipeline: 2, data: 1}", "1f1b", "sigmoid-experts"))),
        of_samples(2, by_step(layout("step_routers_slices", "{pipeline: 2, data: 1}",
                                     "{name: seq-1f1b, slices: 2}", "sigmoid-experts",
                                     "recompute: full"))),
        layout("shared_gates_pp2_zero3", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}",
               "zb-h1", "gated-shared-experts"),
        layout("shared_gates_cp2_recompute", "{context: 2, pipeline: 2, data: 1}", "1f1b",
               "gated-shared-experts", "recompute: full"),
        layout("squared_relu_experts_dp2_zero3", "{data: 2, zero_stage: 3}", "1f1b",
               "squared-relu-experts"),
        layout("clamped_experts_pp2", "{pipeline: 2, data: 1}", "zb-h1", "clamped-experts"),
        layout("pre_softmax_pp2", "{pipeline: 2, data: 1}", "zb-h1", "pre-softmax-experts"),
        padded_to(1, layout("unpadded_tp2_pp2", "{tensor: 2, pipeline: 2, data: 1}")),
        padded_to(128, layout("padded_pp2_zero3",
                              "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}", "zb-h1")),
        wide(layout("wide_pp2", "{pipeline: 2, data: 1}", "zb-h1")),
        wide(layout("wide_pp2_dp2_zero3", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}")),
        layout("vit_tp2", "{tensor: 2, data: 1}", "1f1b", "vit"),
        layout("vit_pp2_dp2", "{pipeline: 2, data: 2}", "gpipe", "vit"),
        layout("dropout_pp2", "{pipeline: 2, data: 1}", "zb-h1", "gpt2-dropout"),
        layout("dropout_tp2_sp", "{tensor: 2, data: 1, sequence: true}", "1f1b", "gpt2-dropout"),
        layout("dropout_dp2", "{data: 2}", "1f1b", "gpt2-dropout"),
        layout("recompute_pp2", "{pipeline: 2, data: 1}", "zb-h1", "gpt2", "recompute: full"),
        offloaded(layout("offload_pp2", "{pipeline: 2, data: 1}", "1f1b", "gpt2")),
        layout("slices_recompute", "{pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 4}", "gpt2",
               "recompute: full"),
        offloaded(layout("slices_offload", "{pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 2}",
                         "gpt2")),
        layout("slices_llama_tp2_sp", "{tensor: 2, pipeline: 2, data: 1, sequence: true}",
               "{name: seq-1f1b, slices: 4}", "llama"),
        layout("slices_dropout_zero3", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}",
               "{name: seq-1f1b, slices: 2}", "gpt2-dropout"),
        layout("cp2", "{context: 2, data: 1}"),
        layout("cp4", "{context: 4, data: 1}"),
        layout("cp2_dp2_zero3", "{context: 2, data: 2, zero_stage: 3}"),
        layout("cp2_pp2_zero2", "{context: 2, pipeline: 2, data: 1, zero_stage: 2, wrap: stage}",
               "zb-h1"),
        layout("cp2_tp2_sp_llama", "{context: 2, tensor: 2, data: 1, sequence: true}", "1f1b",
               "llama"),
        layout("cp4_pp2_llama", "{context: 4, pipeline: 2, data: 1}", "zb-v", "llama"),
        layout("cp2_dropout_tp2_sp", "{context: 2, tensor: 2, data: 1, sequence: true}", "1f1b",
               "gpt2-dropout"),
        layout("cp2_recompute", "{context: 2, pipeline: 2, data: 1}", "zb-h1", "gpt2",
               "recompute: full"),
        offloaded(layout("cp2_offload", "{context: 2, pipeline: 2, data: 1}", "1f1b", "llama")),
        of_samples(2, layout("cp2_of_2", "{context: 2, pipeline: 2, data: 1}", "zb-h1", "llama")),
        of_samples(3, layout("cp4_dropout_of_3", "{context: 4, data: 1}", "1f1b", "gpt2-dropout")),
        of_samples(2, layout("cp2_tp2_sp_of_2", "{context: 2, tensor: 2, data: 1, sequence: true}",
                             "1f1b", "gpt2-dropout")),
        layout("cp2_slices", "{context: 2, pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 2}"),
        layout("cp2_slices_llama_tp2_sp_recompute",
               "{context: 2, tensor: 2, pipeline: 2, data: 1, sequence: true}",
               "{name: seq-1f1b, slices: 2}", "llama", "recompute: full"),
        of_samples(
            2, offloaded(layout("cp2_slices_dropout_offload", "{context: 2, pipeline: 2, data: 1}",
                                "{name: seq-1f1b, slices: 2}", "gpt2-dropout"))),
        of_samples(2, layout("slices_of_2", "{pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 2}",
                             "llama")),
        of_batch(8, layout("cp2_dualpipe", "{context: 2, pipeline: 2, data: 1}", "dualpipe")),
        over(Transport::Own, layout("rendezvous_zb_v", "{pipeline: 4, data: 1}", "zb-v")),
        over(Transport::Own, layout("rendezvous_pp2_tp2_dp2", "{pipeline: 2, tensor: 2, data: 2}")),
        layout("clipped_pp2", "{pipeline: 2, data: 1}", "1f1b", "gpt2", "clip_norm: 0.1"),
        layout("clipped_tp2_pp2_dp2", "{pipeline: 2, tensor: 2, data: 2}", "zb-h1", "gpt2",
               "clip_norm: 0.1")};
}

}  // namespace debubble::exec::parity
