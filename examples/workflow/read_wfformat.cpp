// SPDX-License-Identifier: BSL-1.0
#include "read_wfformat.hpp"

#include "../statements.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace workflow {
namespace {

using nlohmann::json;
using statements::in_quotes;

/// Sees every token before a document is made of them: the document would have the last of two members.
struct token_check {
    std::string_view text;
    std::vector<std::set<std::string>> members = {}; // of each object that is open

    static bool null() { return true; }
    static bool boolean(bool) { return true; }
    static bool number_integer(std::int64_t) { return true; }
    static bool number_unsigned(std::uint64_t) { return true; }
    static bool number_float(double, std::string const&) { return true; }
    static bool string(std::string const&) { return true; }
    static bool binary(json::binary_t const&) { return true; }
    static bool start_array(std::size_t) { return true; }
    static bool end_array() { return true; }
    bool start_object(std::size_t)
    {
        members.emplace_back();
        return true;
    }
    bool end_object()
    {
        members.pop_back();
        return true;
    }
    bool key(std::string const& name)
    {
        if (!members.back().insert(name).second)
            throw input_error("an object has two members " + in_quotes(name));
        return true;
    }
    bool parse_error(std::size_t position, std::string const&, json::exception const& e) const
    {
        std::string_view const read = text.substr(0, position == 0 ? 0 : position - 1);
        std::size_t const line = read.rfind('\n') + 1; // from 0 if it is the first
        throw input_error("line " + std::to_string(1 + std::count(read.begin(), read.end(), '\n')) +
                          ", column " + std::to_string(read.size() - line + 1) + ": " +
                          (e.id == 406 ? "this number exceeds a 64-bit floating point" : "this is no JSON"));
    }
};

/// Throws: input_error if the text is no JSON, or an object has two members of one name.
json parsed(std::string_view text)
{
    token_check check{text};
    json::sax_parse(text.begin(), text.end(), &check);
    return json::parse(text.begin(), text.end());
}

/// Null if it is absent.
json const* find(json const& object, char const* name)
{
    auto const at = object.find(name);
    return at == object.end() ? nullptr : &*at;
}

/// A member that is an object or a list; null if it is absent.
json const* find(json const& object, char const* name, json::value_t type, std::string const& where)
{
    json const* const member = find(object, name);
    if (member != nullptr && member->type() != type)
        throw input_error(where + ": " + name + " is no " +
                          (type == json::value_t::array ? "list" : "object"));
    return member;
}

std::string text_of(json const* value, char const* name, std::string const& where)
{
    if (value == nullptr) throw input_error(where + " has no " + name);
    if (!value->is_string()) throw input_error(where + ": " + name + " is no text");
    return value->get<std::string>();
}

/// Calls `take(text)` for each item of a list of texts, which may be absent.
template <class Take>
void for_each_text(json const& object, char const* name, std::string const& where, Take take)
{
    json const* const list = find(object, name, json::value_t::array, where);
    if (list == nullptr) return;
    for (json const& item : *list) take(text_of(&item, name, where));
}

/// What an item of a list is called until its name is known.
std::string item_of(char const* list, std::size_t i)
{
    return std::string(list) + '[' + std::to_string(i) + ']';
}

json const& object_at(json const& list, char const* name, std::size_t i)
{
    if (!list[i].is_object()) throw input_error(item_of(name, i) + " is no object");
    return list[i];
}

void read_size(graph_builder& graph, std::size_t f, json const* size, std::string const& where)
{
    if (size == nullptr || size->is_null()) return; // missing
    if (size->is_number_integer() && !size->is_number_unsigned())
        throw input_error(where + " has a negative size: " + std::to_string(size->get<std::int64_t>()));
    if (!size->is_number_unsigned())
        throw input_error("the size of " + where + " is no number of bytes below 2^64");
    graph.say_size(f, size->get<std::uint64_t>());
}

/// The tasks by what refers to them; `none`: it is the name of several.
using references = std::map<std::string, std::size_t>;

/// Adds the tasks of a list, and finds what refers to each: its id, or (1.3, 1.4) its name, or else its id.
references read_names(graph_builder& graph, json const& tasks, bool is_of_names)
{
    std::vector<std::string> names, ids;
    std::map<std::string, std::size_t> with_name, with_id;
    for (std::size_t i = 0; i != tasks.size(); ++i) {
        std::string const where = item_of("tasks", i);
        json const& one = object_at(tasks, "tasks", i);
        json const* const id = find(one, "id");
        names.push_back(is_of_names ? text_of(find(one, "name"), "name", where) : std::string());
        ids.push_back(is_of_names && id == nullptr ? std::string() : text_of(id, "id", where));
        ++with_name[names.back()];
        ++with_id[ids.back()];
    }
    references found;
    for (std::size_t t = 0; t != names.size(); ++t) {
        bool const by_name = is_of_names && (with_name[names[t]] == 1 || ids[t].empty());
        graph.add_task(by_name ? names[t] : ids[t]);
        if (is_of_names) found[names[t]] = with_name[names[t]] == 1 ? t : none;
    }
    for (std::size_t t = 0; t != ids.size(); ++t)
        if (!ids[t].empty()) found.emplace(ids[t], with_id[ids[t]] == 1 ? t : none);
    return found;
}

/// The tasks that it waits for, and those that wait for it.
void read_waits(graph_builder& graph, json const& one, std::size_t t, references const& tasks)
{
    std::string const where = "task " + in_quotes(graph.name_of(t));
    auto task_of = [&](std::string const& text, char const* relation) {
        auto const at = tasks.find(text);
        if (at == tasks.end())
            throw input_error(where + " has an unknown " + relation + ": " + in_quotes(text));
        if (at->second == none)
            throw input_error(where + " has as " + relation + " " + in_quotes(text) +
                              ", which several tasks are called");
        return at->second;
    };
    for_each_text(one, "parents", where,
                  [&](std::string const& text) { graph.say_after(t, task_of(text, "parent")); });
    for_each_text(one, "children", where,
                  [&](std::string const& text) { graph.say_after(task_of(text, "child"), t); });
}

/// What a task of 1.3 or 1.4 makes and reads, with sizes.
void read_linked_files(graph_builder& graph, json const& one, std::size_t t)
{
    std::string const where = "task " + in_quotes(graph.name_of(t));
    json const* const files = find(one, "files", json::value_t::array, where);
    for (std::size_t i = 0; files != nullptr && i != files->size(); ++i) {
        json const& linked = object_at(*files, "files", i);
        std::string name = text_of(find(linked, "name"), "name", where + ": " + item_of("files", i));
        if (json const* const path = find(linked, "path")) name.insert(0, text_of(path, "path", where));
        std::size_t const f = graph.file_of(name);
        std::string const file = "file " + in_quotes(name);
        json const* const size = find(linked, "sizeInBytes");
        read_size(graph, f, size != nullptr ? size : find(linked, "size"), file);
        std::string const link = text_of(find(linked, "link"), "link", where + ": " + file);
        if (link == "input") graph.say_read(t, f);
        else if (link == "output") graph.say_made(t, f);
        else
            throw input_error(where + ": the link of " + file +
                              " is neither input nor output: " + in_quotes(link));
    }
}

void read_listed_files(graph_builder& graph, json const& one, std::size_t t)
{
    std::string const where = "task " + in_quotes(graph.name_of(t));
    for_each_text(one, "inputFiles", where,
                  [&](std::string const& name) { graph.say_read(t, graph.file_of(name)); });
    for_each_text(one, "outputFiles", where,
                  [&](std::string const& name) { graph.say_made(t, graph.file_of(name)); });
}

void read_sizes(graph_builder& graph, json const& files)
{
    for (std::size_t i = 0; i != files.size(); ++i) {
        json const& one = object_at(files, "files", i);
        std::string const name = text_of(find(one, "id"), "id", item_of("files", i));
        read_size(graph, graph.file_of(name), find(one, "sizeInBytes"), "file " + in_quotes(name));
    }
}

/// Milliseconds, from a number of seconds.
void read_runtime(graph_builder& graph, std::size_t t, json const* seconds)
{
    if (seconds == nullptr || seconds->is_null()) return; // missing
    double const said = seconds->is_number() ? seconds->get<double>() : -1;
    if (!(said >= 0 && said <= 1e12))
        throw input_error("the runtime of task " + in_quotes(graph.name_of(t)) +
                          " is no number of seconds from 0 to 10^12");
    auto const rounded = static_cast<std::uint64_t>(said * 1000 + 0.5);
    graph.say_duration(t, std::max<std::uint64_t>(rounded, 1), "ms");
}

/// The runtimes of 1.5 and 1.6, if the workflow has run.
void read_execution(graph_builder& graph, json const& workflow, references const& tasks)
{
    json const* const execution = find(workflow, "execution", json::value_t::object, "workflow");
    if (execution == nullptr) return;
    json const* const list = find(*execution, "tasks", json::value_t::array, "workflow.execution");
    for (std::size_t i = 0; list != nullptr && i != list->size(); ++i) {
        json const& one = object_at(*list, "execution.tasks", i);
        std::string const id = text_of(find(one, "id"), "id", item_of("execution.tasks", i));
        auto const at = tasks.find(id);
        if (at == tasks.end())
            throw input_error(item_of("execution.tasks", i) + " has the id of no task: " + in_quotes(id));
        read_runtime(graph, at->second, find(one, "runtimeInSeconds"));
    }
}

} // namespace

void read_wfformat(graph_builder& graph, std::string_view text)
{
    json const all = parsed(text);
    if (!all.is_object()) throw input_error("the JSON in it is no object");
    std::string const version = text_of(find(all, "schemaVersion"), "schemaVersion", "the JSON object");
    if (version != "1.3" && version != "1.4" && version != "1.5" && version != "1.6")
        throw input_error("the schemaVersion is " + in_quotes(version) + ": only 1.3 to 1.6 are read");
    bool const is_of_names = version < "1.5";
    json const* const workflow = find(all, "workflow", json::value_t::object, "the JSON object");
    json const* where = workflow;
    if (where != nullptr && !is_of_names)
        where = find(*where, "specification", json::value_t::object, "workflow");
    std::string const path = is_of_names ? "workflow" : "workflow.specification";
    if (where == nullptr)
        throw input_error("there is no " + path + ", in which version " + version + " has its tasks");
    json const* const tasks = find(*where, "tasks", json::value_t::array, path);
    if (tasks == nullptr)
        throw input_error("there is no " + path + ".tasks, in which version " + version + " has its tasks");

    references const named = read_names(graph, *tasks, is_of_names);
    for (std::size_t t = 0; t != tasks->size(); ++t) {
        json const& one = (*tasks)[t];
        if (is_of_names) read_linked_files(graph, one, t);
        else read_listed_files(graph, one, t);
        read_waits(graph, one, t, named);
        if (!is_of_names || !graph.with_durations()) continue;
        json const* const runtime = find(one, "runtimeInSeconds");
        read_runtime(graph, t, runtime != nullptr ? runtime : find(one, "runtime"));
    }
    if (!is_of_names && graph.with_durations()) read_execution(graph, *workflow, named);
    json const* const files = is_of_names ? nullptr : find(*where, "files", json::value_t::array, path);
    if (files != nullptr) read_sizes(graph, *files);
}

} // namespace workflow
