#include "base/diagnostic.h"
#include "scenarios/jobs/primus/files.h"
#include "scenarios/jobs/torchtitan/torchtitan.h"

/// Jobs of Primus's torchtitan backend (fd1eeabb): torchtitan's sections in YAML, over the chains
/// of primus/configs/models/torchtitan and modules/torchtitan.
namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;

/// Primus-Turbo's replacements of torchtitan's layers.
void read_turbo(Reading& job) {
    Settings& in = job.in;
    if (in.is_on("primus_turbo.use_classic_attention") &&
        in.word("model.name").value_or("") == "deepseek_v3") {
        Setting classic = *in.find("primus_turbo.use_classic_attention");
        classic.name = "model.name";
        classic.value = text::make_scalar("deepseek_v3_classic", classic.place);
        in.add(std::move(classic));
    }
    for (const auto& [name, what] : {std::pair{"primus_turbo.enable_attention_float8",
                                               "8-bit attention is planned in 16 bits"},
                                     std::pair{"primus_turbo.use_turbo_mx_linear",
                                               "MX formats apply only with their converter"}})
        if (in.is_on(name) && !in.find(name)->is_default) job.note(*in.find(name), what);
    for (const char* name :
         {"enable_primus_turbo", "use_turbo_attention", "use_classic_attention",
          "use_turbo_async_tp", "use_turbo_float8_linear", "use_turbo_grouped_mm", "use_moe_fp8",
          "enable_embedding_autocast", "enable_attention_float8", "use_turbo_mx_linear"})
        in.find(std::string("primus_turbo.") + name);
}

}  // namespace

void read_primus_titan(const Node& module, const JobText& text, Reading& job) {
    add_primus_file(module, "config", "modules", "torchtitan", text, add_primus_sections, job);
    job.in.transform([](Setting& setting) {
        setting.is_default = true;  // of Primus
        return true;
    });
    add_primus_file(module, "model", "models", "torchtitan", text, add_primus_sections, job);
    job.mistakes().throw_if_any();
    if (const NodePtr overrides = module.get("overrides");
        overrides && overrides->is(Node::Kind::Map))
        add_primus_sections(*overrides, "", job, false);
    job.in.transform([](Setting& setting) {
        if (setting.name == "model.n_layers")
            setting.name = "primus.n_layers";  // torchtitan has none
        return true;
    });
    read_turbo(job);
    read_torchtitan(job);
}

}  // namespace debubble::jobs
