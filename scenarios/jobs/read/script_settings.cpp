#include "scenarios/jobs/read/script_settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;

bool is_flag(const ShellText& word) {
    return word.text.size() > 2 && word.text.starts_with("--") &&
           (std::isalpha(static_cast<unsigned char>(word.text[2])) != 0);
}

std::size_t flags_in(const ShellCommand& command) {
    return std::ranges::count_if(command.words, is_flag);
}

NodePtr scalar_of(const ShellText& text, const ShellScript& script) {
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::Scalar;
    node->scalar = text.text;
    node->place = script.place(text.offset());
    return node;
}

/// A value without quotes that stand around all of it, as they do where arguments were put into a
/// text: MORE="--moe-layer-freq '([1]*48)'".
ShellText unquoted(const ShellText& value) {
    const std::size_t size = value.text.size();
    const char mark = size > 1 ? value.text.front() : ' ';
    const bool around = (mark == '\'' || mark == '"') && value.text.back() == mark &&
                        value.text.find(mark, 1) == size - 1;
    return around ? value.part(1, size - 2) : value;
}

/// Adds the words of a variable that holds arguments. Those before its first flag belong to none of
/// them, but a program may be there.
void add_arguments(const std::vector<ShellText>& words, ShellCommand& command) {
    const auto first = std::ranges::find_if(words, is_flag);
    for (auto word = words.begin(); word != words.end(); ++word)
        if (word >= first || word->text.ends_with(".py")) command.words.push_back(*word);
}

/// "$EXTRA", which nothing in the script sets and which may hold more arguments.
bool holds_arguments(const ShellText& word, bool has_value) {
    for (std::size_t i = 0; i < word.text.size(); ++i)
        if (word.knows(i)) return false;
    if (!word.text.starts_with('$') || word.text.starts_with("$(")) return false;
    if (has_value) return true;
    std::string name = word.text;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    return std::ranges::any_of(std::array{"ARG", "OPT", "EXTRA", "FLAG"}, [&](const char* part) {
        return name.find(part) != std::string::npos;
    });
}

/// "-m", but no negative number.
bool is_short_option(const ShellText& word) {
    return word.text.size() > 1 && word.text[0] == '-' &&
           std::isalpha(static_cast<unsigned char>(word.text[1])) != 0;
}

/// Flags of a launcher take one value; what comes after it is the program.
bool is_launcher_flag(std::string_view name) {
    constexpr std::array<std::string_view, 10> kNames{
        "nnodes",        "nproc_per_node", "node_rank",    "master_addr",   "master_port",
        "num_processes", "num_machines",   "machine_rank", "rdzv_endpoint", "num_gpus"};
    return std::ranges::find(kNames, name) != kNames.end();
}

/// The flag at words[i], with what follows it up to the next flag. Words that may hold more
/// arguments go to `open`.
Setting setting_at(const std::vector<ShellText>& words, std::size_t& i, const ShellScript& script,
                   std::vector<ShellText>& open) {
    const ShellText& flag = words[i];
    const std::size_t equals = flag.text.find('=');
    Setting setting;
    setting.written = flag.text.substr(0, equals);
    setting.name = setting.written.substr(2);
    std::ranges::replace(setting.name, '-', '_');
    setting.place = script.place(flag.offset());
    std::vector<NodePtr> values;
    std::set<std::string> lacks;
    if (equals != std::string::npos && equals + 1 < flag.text.size()) {
        ShellText value = unquoted(flag.part(equals + 1, std::string::npos));
        setting.known = value.known;
        if (!value.known) lacks = lacking(value, script);
        values.push_back(scalar_of(value, script));
    }
    const bool launches = is_launcher_flag(setting.name);
    while (i + 1 < words.size() && !is_flag(words[i + 1])) {
        if (is_short_option(words[i + 1]) || (launches && !values.empty())) break;
        const ShellText& value = words[++i];
        const bool program =
            value.text.ends_with(".py") || value.text == "python" || value.text == "python3";
        if (program) break;
        if (value.text == "$@" || value.text == "$*") continue;  // whatever more is given
        if (holds_arguments(value, !values.empty())) {
            open.push_back(value);
            continue;
        }
        setting.known = setting.known && value.known;
        if (!value.known) lacks.merge(lacking(value, script));
        values.push_back(scalar_of(unquoted(value), script));
    }
    setting.lacks.assign(lacks.begin(), lacks.end());
    if (values.size() == 1) {
        setting.value = values.front();
        return setting;
    }
    auto node = std::make_shared<Node>();
    node->kind = values.empty() ? Node::Kind::Null : Node::Kind::List;
    node->items = std::move(values);
    node->place = setting.place;
    setting.value = node;
    return setting;
}

void add_variable(const ShellScript& script, std::string_view variable, Reading& job) {
    const auto found = script.variables.find(variable);
    if (found == script.variables.end() || found->second.texts.size() != 1) return;
    const ShellText& value = found->second.texts.front();
    if (!value.known) return;
    job.in.add({"$" + std::string(variable), std::string(variable), scalar_of(value, script),
                script.place(value.offset()), true});
}

/// `#SBATCH --nodes=8` and its like.
void add_slurm(const ShellScript& script, Reading& job) {
    constexpr std::string_view kMark = "#SBATCH";
    const std::string& text = script.source->text;
    for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string::npos;) {
        const std::size_t begin = at + kMark.size();
        at = std::min(text.find('\n', begin), text.size());
        ShellText line;
        for (std::size_t i = begin; i < at && text[i] != '#'; ++i)
            line.add(text[i] == '=' ? ' ' : text[i], static_cast<std::uint32_t>(i));
        std::vector<ShellText> words = split_as_shell(line);
        for (std::size_t i = 0; i + 1 < words.size(); ++i) {
            const std::string& name = words[i].text;
            const char* known = name == "--nodes" || name == "-N"     ? "$slurm_nodes"
                                : name == "--ntasks-per-node"         ? "$slurm_tasks"
                                : name.starts_with("--gpus-per-node") ? "$slurm_gpus"
                                : name == "--gres"                    ? "$slurm_gres"
                                                                      : nullptr;
            if (known == nullptr) continue;
            ShellText value = words[i + 1];
            if (const std::size_t colon = value.text.rfind(':'); colon != std::string::npos)
                value = value.part(colon + 1, std::string::npos);
            if (number_of(value.text))
                job.in.add({known, "#SBATCH " + name, scalar_of(value, script),
                            script.place(words[i].offset()), true});
        }
    }
}

/// "line 12", or "model.sh:3" in a sourced file.
std::string line_of(const ShellScript& script, std::uint32_t offset) {
    const text::SourcePosition place = script.place(offset);
    if (place.source == script.source) return fmt::format("line {}", place.line);
    return fmt::format("{}:{}", std::filesystem::path(place.source->file).filename().string(),
                       place.line);
}

/// Unknown parts of the script, as notes, and as questions if the job is refused.
void add_remarks(const ShellScript& script, Reading& job) {
    for (const auto& [offset, sentence] : script.remarks)
        job.note(fmt::format("{}: {}", line_of(script, offset), sentence));
    for (const auto& [offset, name] : script.missing) {
        const std::string sentence = fmt::format(
            "the sourced file '{}' is not in the script's folder or a parent folder, and its "
            "settings are unknown: put it there",
            name);
        job.note(fmt::format("{}: {}", line_of(script, offset), sentence));
        job.suspect(script.place(offset), sentence);
    }
    for (const ShellText& text : script.deciding)
        for (const std::string& name : lacking(text, script))
            job.decides(name, fmt::format("a condition in {}", line_of(script, text.offset())));
    job.reads_arguments(script.most_arguments);
    if (!script.unset.empty())
        job.note(fmt::format(
            "conditions treat {} as empty, since nothing sets {}; --env NAME=VALUE would",
            fmt::join(script.unset, ", "), script.unset.size() == 1 ? "it" : "them"));
    for (const auto& [name, value] : job.started.environment)
        if (!script.used.contains(name) && name.find("ALLOC_CONF") == std::string::npos)
            job.note(
                fmt::format("--env {}: the script never reads this variable, or sets it "
                            "itself",
                            name));
    if (!job.started.arguments.empty() && !script.reads_arguments)
        job.note("the script reads none of the arguments after --");
}

}  // namespace

void add_script(const std::shared_ptr<const text::SourceText>& source, Reading& job) {
    add_script(source, job, [](const Setting&) { return true; });
}

void add_script(const std::shared_ptr<const text::SourceText>& source, Reading& job,
                const std::function<bool(const Setting&)>& wanted) {
    const ShellScript script = follow_script(source, job.started);
    const ShellCommand* best = nullptr;
    ShellCommand together;  // a list of arguments has one on every line
    std::size_t rivals = 0;
    for (const ShellCommand& command : script.commands) {
        if (command.words.front().text == "echo") continue;
        if (is_flag(command.words.front())) {
            together.words.insert(together.words.end(), command.words.begin(), command.words.end());
        } else if (best == nullptr || flags_in(command) >= flags_in(*best)) {
            best = &command;
        }
    }
    for (const ShellCommand& command : script.commands)
        if (best != nullptr && &command != best && !is_flag(command.words.front()) &&
            command.words.front().text != "echo" && flags_in(command) > 4)
            ++rivals;
    ShellCommand arrays;
    ShellCommand texts;  // MODEL_OPTIONS="--num-layers 32 ..."
    for (const auto& [name, variable] : script.variables)
        if (variable.is_array)
            add_arguments(variable.texts, arrays);
        else if (variable.texts.size() == 1)
            add_arguments(split_as_shell(variable.texts.front()), texts);
    if (best == nullptr || flags_in(*best) < flags_in(together)) best = &together;
    if (flags_in(*best) == 0) best = flags_in(arrays) > 0 ? &arrays : &texts;
    if (rivals > 0)
        job.note(
            fmt::format("the script starts {} programs with many flags; the one in line {} is "
                        "read",
                        rivals + 1, script.place(best->words.front().offset()).line));
    add_entry_points(*best, script, job.in);
    std::vector<ShellText> open;
    job.in.notes_twice = true;
    for (std::size_t i = 0; i < best->words.size(); ++i)
        if (is_flag(best->words[i]))
            if (Setting setting = setting_at(best->words, i, script, open); wanted(setting))
                job.in.add(std::move(setting));
    job.in.notes_twice = false;
    for (const ShellText& word : open)
        job.note(fmt::format(
            "line {}: the value of {} is known only when the script runs; its settings are ignored",
            script.place(word.offset()).line, word.text));
    if (best != &together && !together.words.empty())
        job.note(
            fmt::format("line {}: these flags are not passed to any program, since the command "
                        "before them has ended",
                        script.place(together.words.front().offset()).line));
    for (const char* name :
         {"WORLD_SIZE", "NNODES", "NUM_NODES", "GPUS_PER_NODE", "NPROC_PER_NODE", "NGPU",
          "NCCL_NVLS_ENABLE", "CUDA_DEVICE_MAX_CONNECTIONS", "NCCL_GRAPH_REGISTER",
          "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"})
        add_variable(script, name, job);
    add_slurm(script, job);
    for (const auto& [name, made] : script.files)
        job.written_files[name] = {made.text, script.place(made.offset()).line};
    add_remarks(script, job);
}

void read_allocator(Reading& job) {
    for (const char* name :
         {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"}) {
        const auto given = job.started.environment.find(name);
        const Setting* const setting = job.in.find(std::string("$") + name);
        const bool written = setting != nullptr && setting->value->is(Node::Kind::Scalar);
        std::string value = written                                  ? setting->value->scalar
                            : given != job.started.environment.end() ? given->second
                                                                     : "";
        std::erase_if(value, [](char c) { return c == ' ' || c == '"' || c == '\''; });
        if (value.find("expandable_segments:True") != std::string::npos ||
            value.find("expandable_segments:true") != std::string::npos)
            job.set("framework.allocator", std::string("pytorch-expandable"), setting,
                    written ? "" : std::string("--env ") + name);
    }
}

void read_launcher(Reading& job, World& world) {
    using Names = std::initializer_list<const char*>;
    const auto first = [&](Names names) -> const Setting* {
        for (const char* name : names) {
            const Setting* const setting = job.in.find(name);
            if (setting != nullptr && setting->known && setting->value->is(Node::Kind::Scalar) &&
                number_of(setting->value->scalar))
                return setting;
        }
        return nullptr;
    };
    const auto lacking_one = [&](Names names) -> const Setting* {
        for (const char* name : names)
            if (const Setting* const setting = job.in.find(name);
                setting != nullptr && !setting->known)
                return setting;
        return nullptr;
    };
    const Names of_nodes = {"nnodes",       "num_nodes", "nodes",
                            "$slurm_nodes", "$NNODES",   "$NUM_NODES"};
    const Names of_node = {
        "actor_num_gpus_per_node", "nproc_per_node",  "gpus_per_node", "num_gpus",
        "ntasks_per_node",         "$slurm_gpus",     "$slurm_gres",   "$slurm_tasks",
        "$GPUS_PER_NODE",          "$NPROC_PER_NODE", "$NGPU"};
    const Setting* const nodes = first(of_nodes);
    const Setting* const per_node = first(of_node);
    const Setting* const all = first({"num_processes", "world_size", "$WORLD_SIZE"});
    const auto whole = [&](const Setting* setting) {
        return setting == nullptr ? std::optional<std::int64_t>()
                                  : job.in.whole(setting->name, 1, kMost);
    };
    const std::optional<std::int64_t> count = whole(nodes);
    const std::optional<std::int64_t> each = whole(per_node);
    // Without a number of nodes there is one, but not where it is only not known.
    const Setting* const open_nodes = count ? nullptr : lacking_one(of_nodes);
    if (each && (count || (all == nullptr && open_nodes == nullptr))) {
        const std::int64_t n = count.value_or(1);
        world.of_job = n * *each;
        world.from = per_node;
        world.launcher = fmt::format("{} node{} of {} GPUs", n, n == 1 ? "" : "s", *each);
    } else if (const std::optional<std::int64_t> total = whole(all)) {
        world.of_job = total;
        world.from = all;
        world.launcher = fmt::format("{} processes", *total);
    }
    if (world.of_job || job.given("gpus")) return;
    const Setting* const open_node = each ? nullptr : lacking_one(of_node);
    for (const Setting* const open : {open_nodes, open_node})
        if (open != nullptr) job.in.unknown.push_back(*open);
}

}  // namespace debubble::jobs
