#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/deepspeed/deepspeed.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/script_settings.h"
#include "scenarios/jobs/read/zoo_names.h"
#include "scenarios/jobs/verl/verl.h"
#include "text/document_readers.h"

/// volcengine/verl's launch scripts (b178a3cd5, verl/trainer/config): of a step of reinforcement
/// learning the actor's update, or a step of its supervised trainers, by FSDP or Megatron-Core.
namespace debubble::jobs {
namespace {

using text::Node;

/// Where the settings of one of verl's trainers lie, and its defaults.
struct VerlTrainer {
    std::string_view model, strategy, engine, optimizer;
    std::string_view micro, tokens, dynamic, sequence, shard;
    std::int64_t usual_tokens;  ///< 0: none
};
constexpr VerlTrainer kRollouts{"actor_rollout_ref.model.path",
                                "actor_rollout_ref.actor.strategy",
                                "actor_rollout_ref.actor.megatron.",
                                "actor_rollout_ref.actor.optim.override_optimizer_config.",
                                "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu",
                                "actor_rollout_ref.actor.ppo_max_token_len_per_gpu",
                                "actor_rollout_ref.actor.use_dynamic_bsz",
                                "actor_rollout_ref.actor.ulysses_sequence_parallel_size",
                                "actor_rollout_ref.actor.fsdp_config.fsdp_size",
                                16384};
constexpr VerlTrainer kSupervised{"model.partial_pretrain",
                                  "model.strategy",
                                  "engine.",
                                  "optim.override_optimizer_config.",
                                  "data.micro_batch_size_per_gpu",
                                  "data.max_token_len_per_gpu",
                                  "data.use_dynamic_bsz",
                                  "ulysses_sequence_parallel_size",
                                  "model.fsdp_config.fsdp_size",
                                  0};
constexpr VerlTrainer kSupervisedByEngine{"model.path",
                                          "engine",
                                          "engine.",
                                          "optim.override_optimizer_config.",
                                          "data.micro_batch_size_per_gpu",
                                          "data.max_token_len_per_gpu",
                                          "data.use_dynamic_bsz",
                                          "engine.ulysses_sequence_parallel_size",
                                          "engine.fsdp_size",
                                          0};

class VerlJob {
public:
    VerlJob(Reading& job, const JobText& text) : job_(job), in_(job.in), text_(text) {}

    void read() {
        add_settings();
        trainer_ = in_.contains("model.partial_pretrain")         ? &kSupervised
                   : in_.contains("actor_rollout_ref.model.path") ? &kRollouts
                   : in_.contains("model.path")                   ? &kSupervisedByEngine
                                                                  : &kRollouts;
        refuse_others();
        layers_ = read_network();
        const std::string strategy = strategy_of();
        if (trainer_ == &kRollouts)
            job_.note(
                "only the actor's update of a step is planned, without rollouts and without passes "
                "and weights of the reference and the critic",
                Harm::Plan);
        if (strategy == "megatron")
            read_by_megatron();
        else
            read_by_fsdp(strategy);
    }

private:
    const Setting* find(std::string_view name) { return in_.find(name); }
    std::optional<std::int64_t> whole(std::string_view name, std::int64_t least = 1) {
        return in_.whole(name, least, kMost);
    }

    void add_settings() {
        const auto source = text::checked_source(text_.text, text_.file.string());
        for (Setting& setting : hydra_overrides(follow_script(source, job_.started)))
            if (!says_none(setting)) in_.add(std::move(setting));
        add_script(source, job_, [&](const Setting& setting) {
            // The words after the value are overrides.
            if (setting.name == "config_name")
                config_ = setting.value->is(Node::Kind::List) ? setting.value->items.front()->scalar
                                                              : setting.value->scalar;
            return setting.name == "nnodes" || setting.name.starts_with("nproc") ||
                   setting.name.starts_with('$');
        });
    }

    void refuse_others() {
        for (const Setting& setting : in_.all())
            if (setting.name == kEntryPoint &&
                (setting.value->scalar.find("generation") != std::string::npos ||
                 setting.value->scalar.find("main_eval") != std::string::npos))
                job_.refuse(setting,
                            fmt::format("{}: this program generates text and does not train",
                                        setting.value->scalar));
        for (const char* name : {"actor_rollout_ref.model.lora_rank",
                                 "actor_rollout_ref.model.lora.rank", "model.lora_rank"})
            if (const auto rank = whole(name, 0); rank && *rank > 0)
                job_.refuse(*find(name), "adapters are not supported in a job of verl");
        if (in_.is_on("actor_rollout_ref.model.mtp.enable_train"))
            job_.refuse_network(*find("actor_rollout_ref.model.mtp.enable_train"),
                                "multi-token prediction is not supported in a job of verl");
    }

    std::string strategy_of() {
        std::string word = config_.find("megatron") == std::string::npos ? "fsdp" : "megatron";
        if (const auto given = in_.word(trainer_->strategy)) word = *given;
        if (word != "fsdp" && word != "fsdp2" && word != "megatron")
            job_.refuse(
                *find(trainer_->strategy),
                fmt::format("the strategy '{}' is not supported; fsdp, fsdp2 and megatron are",
                            word));
        return word;
    }

    /// Returns the layers; 0 if they are not known.
    std::int64_t read_network() {
        const Setting* const path = find(trainer_->model);
        if (job_.has_model()) return layers_of_given_model(job_, text_.folder);
        if (path == nullptr || !path->value->is(Node::Kind::Scalar)) {
            job_.ask(fmt::format(
                "which model? The job does not give {}; give its config.json by --set model=FILE",
                trainer_->model));
            return 0;
        }
        // The last part of a path is the network's name, whatever the folders before it are.
        if (const auto known = zoo_model_of(path->value->scalar)) {
            job_.set("model", std::string(known->zoo), path, "the model of that name");
            return known->layers;
        }
        job_.ask(fmt::format(
            "the model '{}' is not in the zoo; give its config.json by --set model=FILE",
            path->value->scalar));
        return 0;
    }

    /// The longest sample.
    std::int64_t length() {
        if (const auto given = job_.given_whole("training.seq_length")) return *given;
        if (trainer_ != &kRollouts) return whole("data.max_length").value_or(1024);
        return whole("data.max_prompt_length").value_or(512) +
               whole("data.max_response_length").value_or(512);
    }

    const Setting* length_from() {
        return find(trainer_ == &kRollouts ? "data.max_response_length" : "data.max_length");
    }

    /// The samples of an update.
    std::int64_t samples() {
        if (trainer_ != &kRollouts) return whole("data.train_batch_size").value_or(256);
        return batch_of(whole("actor_rollout_ref.actor.ppo_mini_batch_size").value_or(256),
                        whole("actor_rollout_ref.rollout.n").value_or(1), 1);
    }

    const Setting* samples_from() {
        return find(trainer_ == &kRollouts ? "actor_rollout_ref.actor.ppo_mini_batch_size"
                                           : "data.train_batch_size");
    }

    /// The samples of a microbatch on `ranks` GPUs that share a sample, of `replicas` replicas.
    void set_micro_batch(std::int64_t ranks, std::optional<std::int64_t> replicas) {
        const auto micro = whole(trainer_->micro);
        const bool dynamic = in_.is_on(trainer_->dynamic);
        const std::int64_t all = job_.given_whole("training.global_batch").value_or(samples());
        const std::int64_t share = std::max<std::int64_t>(all / replicas.value_or(1), 1);
        if (!dynamic) {
            if (micro)
                job_.set("training.micro_batch", *micro, find(trainer_->micro));
            else if (!job_.given("training.micro_batch"))
                job_.ask(
                    fmt::format("how many samples does a microbatch have? The job does not give "
                                "{}; set it by --set training.micro_batch=N",
                                trainer_->micro));
            return;
        }
        const std::int64_t tokens =
            whole(trainer_->tokens).value_or(trainer_->usual_tokens) * ranks;
        std::int64_t made = std::clamp<std::int64_t>(tokens / length(), 1, share);
        while (share % made != 0) --made;
        job_.set("training.micro_batch", made, find(trainer_->dynamic),
                 fmt::format("full-length samples in {} tokens", tokens));
    }

    void set_batch() {
        job_.set("training.global_batch", samples(), samples_from(),
                 trainer_ == &kRollouts ? "prompts x rollout.n" : "");
        job_.set("training.seq_length", length(), length_from(),
                 trainer_ == &kRollouts ? "prompt and response" : "");
        if (const Setting* const from = length_from())
            job_.note(*from, "samples have up to this many tokens; all are planned at full length");
    }

    World world_of(std::int64_t per_replica, std::string product) {
        World world;
        world.per_replica = per_replica;
        world.product = std::move(product);
        const auto each = whole("trainer.n_gpus_per_node");
        const auto nodes = whole("trainer.nnodes");
        if (each) {
            world.of_job = *each * nodes.value_or(1);
            world.from = find("trainer.n_gpus_per_node");
            world.launcher = fmt::format("{} nodes of {} GPUs", nodes.value_or(1), *each);
        } else {
            read_launcher(job_, world);
        }
        return world;
    }

    void read_by_fsdp(const std::string& strategy) {
        const std::int64_t ranks = whole(trainer_->sequence).value_or(1);
        if (ranks > 1) {
            job_.set("parallel.context", ranks, find(trainer_->sequence));
            job_.set("framework.context_communication", std::string("all-to-all"),
                     find(trainer_->sequence), "DeepSpeed-Ulysses");
        }
        settle_cluster(job_);
        const std::optional<std::int64_t> data =
            settle_world(job_, world_of(ranks, fmt::format("context {}", ranks)));
        job_.set("parallel.zero_stage", std::int64_t{3}, find(trainer_->strategy), strategy);
        job_.set("parallel.wrap", std::string("layer"));
        if (const auto shard = whole(trainer_->shard, -1);
            shard && *shard > 0 && data && *shard < *data * ranks)
            job_.set("parallel.shard", *shard, find(trainer_->shard));
        job_.set("schedule", std::string("1f1b"));
        set_micro_batch(ranks, data);
        set_batch();
        job_.set("framework.base",
                 std::string(strategy == "fsdp2" ? "pytorch-fsdp2" : "pytorch-fsdp1"), nullptr,
                 "verl");
        job_.set("framework.vocabulary_multiple", std::int64_t{1});
        job_.set("training.precision", std::string("bf16"), nullptr,
                 "fp32 parameters, gathered in bf16");
        job_.set("training.attention", std::string("flash"));
        const char* const recomputes = trainer_ == &kRollouts
                                           ? "actor_rollout_ref.model.enable_gradient_checkpointing"
                                           : "model.enable_gradient_checkpointing";
        job_.set("training.recompute",
                 std::string(in_.flag(recomputes).value_or(true) ? "full" : "none"),
                 find(recomputes));
        if (const auto clip = in_.real("actor_rollout_ref.actor.grad_clip"); clip && *clip > 0)
            job_.set_real("training.clip_norm", *clip, find("actor_rollout_ref.actor.grad_clip"));
        note_offload("actor_rollout_ref.actor.fsdp_config.");
        count_left();
    }

    void note_offload(const std::string& start) {
        for (const char* name : {"param_offload", "grad_offload", "optimizer_offload"})
            if (in_.is_on(start + name))
                job_.note(*find(start + name),
                          "it is on the host only between the phases of a step", Harm::Harmless);
    }

    void count_left() {
        for (const Setting* const setting : in_.left()) {
            if (setting->name.starts_with(trainer_->engine) ||
                setting->name.starts_with("actor_rollout_ref.actor.fsdp_config.tensor"))
                job_.note(fmt::format("{} is not a known setting of verl's engine; it is ignored",
                                      origin_of(*setting)),
                          Harm::Unknown);
            else
                job_.count_silent();
        }
    }

    void read_by_megatron() {
        note_offload(std::string(trainer_->engine));
        keep_megatron_fields();
        rename_to_fields(in_);
        const MegatronDialect dialect{
            .tool = "verl", .framework = "megatron-2026", .names_network = true};
        MegatronCut cut = read_megatron_cut(job_, dialect);
        for (const auto& [name, key] :
             {std::pair{"expert_model_parallel_size", "parallel.expert"},
              std::pair{"expert_tensor_parallel_size", "parallel.expert_tensor"}})
            if (const auto degree = in_.whole(name, 1, kMostDegree);
                degree && has_experts_here() && (*degree > 1 || cut.tensor > 1))
                job_.set(key, *degree, in_.find(name));
        read_megatron_training(job_, dialect, cut);
        read_megatron_framework(job_, dialect, cut);
        sort_left_settings(job_, dialect.tool);
        note_megatron_refusals(job_, dialect, cut);
    }

    bool has_experts_here() {
        const auto degree = in_.whole("expert_model_parallel_size", 1, kMostDegree);
        return degree && *degree > 1;
    }

    /// A field of Megatron-Core that the setting `from` of verl says; verl's default without one.
    Setting field(const char* name, std::string value, std::string_view from) {
        const Setting* const said = from.empty() ? nullptr : find(from);
        Setting made = said != nullptr ? *said : in_.all().front();
        made.name = name;
        if (said == nullptr) made.written = std::string(name) + " (verl's default)";
        made.value = text::make_scalar(std::move(value), made.place);
        made.known = true;
        made.lacks.clear();
        made.is_default = said == nullptr;
        return made;
    }

    /// Leaves the fields of Megatron-Core under their own names, and adds verl's defaults.
    void keep_megatron_fields() {
        std::vector<Setting> more;
        const auto add = [&](const char* name, std::string value, std::string_view from = {}) {
            more.push_back(field(name, std::move(value), from));
        };
        const bool rollouts = trainer_ == &kRollouts;
        add("global_batch_size", std::to_string(samples()),
            rollouts ? "actor_rollout_ref.actor.ppo_mini_batch_size" : "data.train_batch_size");
        add("seq_length", std::to_string(length()),
            rollouts ? "data.max_response_length" : "data.max_length");
        if (in_.is_on(trainer_->dynamic)) {
            add("use_dynamic_batch_size", "true", trainer_->dynamic);
            add("max_tokens_per_gpu",
                std::to_string(whole(trainer_->tokens).value_or(trainer_->usual_tokens)),
                trainer_->tokens);
        } else if (const auto micro = whole(trainer_->micro)) {
            add("micro_batch_size", std::to_string(*micro), trainer_->micro);
        }
        if (layers_ > 0) add("num_layers", std::to_string(layers_), trainer_->model);
        for (const auto& [name, from] : {std::pair{"nproc_per_node", "trainer.n_gpus_per_node"},
                                         std::pair{"nnodes", "trainer.nnodes"}})
            if (const Setting* const setting = find(from)) {
                more.push_back(*setting);
                more.back().name = name;
            }
        std::vector<Setting> usual;
        for (const auto& [name, value] : {std::pair{"sequence_parallel", "true"},
                                          {"use_distributed_optimizer", "true"},
                                          {"bf16", "true"},
                                          {"attention_backend", "flash"},
                                          {"hidden_dropout", "0"},
                                          {"attention_dropout", "0"},
                                          {"create_attention_mask_in_dataloader", "false"}})
            usual.push_back(field(name, value, {}));
        in_.transform([&](Setting& setting) {
            const bool kept = name_by_megatron(setting, trainer_->engine, trainer_->optimizer);
            if (!kept) job_.count_silent();
            return kept;
        });
        refuse_changes_of_network(job_);
        for (Setting& setting : more) in_.add(std::move(setting));
        for (Setting& setting : usual)
            if (!in_.contains(setting.name)) in_.add(std::move(setting));
    }

    Reading& job_;
    Settings& in_;
    const JobText& text_;
    const VerlTrainer* trainer_ = &kRollouts;
    std::string config_;  ///< of hydra, by its name
    std::int64_t layers_ = 0;
};

}  // namespace

void read_verl_job(const JobText& text, Reading& job) {
    VerlJob(job, text).read();
}

}  // namespace debubble::jobs
