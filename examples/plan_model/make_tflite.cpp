// SPDX-License-Identifier: BSL-1.0

// make_tflite FOLDER: writes tiny TensorFlow Lite files for the tests of plan_model; most contain one error
// each.

#include "tflite_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

namespace {

using namespace plan_model;

// Codes of operators.
enum code : std::int32_t {
    add = 0,
    conv_2d = 3,
    relu = 19,
    reshape = 22,
    softmax = 25,
    svdf = 27,
    custom = 32,
    mul = 18,
    squeeze = 43,
    cast = 53,
    expand_dims = 70,
    select_one = 64,
    add_n = 106,
    if_else = 118,
    while_loop = 119,
    call_once = 129,
    var_handle = 142,
    read_variable = 143,
    assign_variable = 144,
    random_uniform = 148,
    gelu = 150
};
enum type : std::uint8_t { float32 = 0, int32 = 2, string = 5, int8 = 9, resource = 13, int4 = 17 };

std::string folder;

void save_as(std::string const& name, std::string const& bytes)
{
    std::string const file = folder + '/' + name;
    std::ofstream out(file, std::ios::binary);
    if (!(out << bytes).flush()) {
        std::fprintf(stderr, "make_tflite: %s cannot be written\n", file.c_str());
        std::exit(1);
    }
}
void save(std::string const& name, std::string const& bytes) { save_as(name + ".tflite", bytes); }
void save(std::string const& name, made_model const& model) { save(name, model.bytes()); }

/// x -> a -> b -> y of 16 bytes each, by operators of these codes.
made_model chain(std::int32_t first = relu, std::int32_t second = relu, std::int32_t third = relu)
{
    made_model m;
    for (char const* name : {"x", "a", "b", "y"}) m.tensor({name});
    m.op(first, {0}, {1});
    m.op(second, {1}, {2});
    m.op(third, {2}, {3});
    m.main().inputs = {0};
    m.main().outputs = {3};
    return m;
}

void write_valid()
{
    save("t_chain", chain());
    save("t_views", chain(conv_2d, reshape, conv_2d));
    save("t_squeezed", chain(conv_2d, squeeze, expand_dims));
    save("t_view_of_input", chain(reshape, conv_2d, conv_2d));
    save("t_softmax", chain(conv_2d, softmax, conv_2d));
    save("t_gelu", chain(conv_2d, gelu, conv_2d)); // of a code beyond 127

    made_model grown = chain(conv_2d, reshape, conv_2d);
    grown.main().tensors[2].shape = {8};
    save("t_reshape_that_grows", grown);

    // w is a constant, c one behind the tables, e one without elements; -1 stands for an operand that is left
    // out.
    made_model constants = chain(conv_2d, conv_2d, conv_2d);
    std::int32_t const w = constants.tensor({"w", {2, 2}, float32, constants.buffer(16)});
    std::int32_t const e = constants.tensor({"e", {0}, int32});
    constants.buffers.push_back({0, 32, 16});
    std::int32_t const far = constants.tensor({"c", {4}, float32, 2});
    constants.main().operators[0].inputs = {0, w, -1};
    constants.main().operators[1].inputs = {1, far, e};
    constants.main().operators[1].outputs = {2, -1};
    save("t_constants", constants);

    made_model sparse = chain();
    std::int32_t const s = sparse.tensor({"s", {100}, float32, sparse.buffer(12)});
    sparse.main().tensors[static_cast<std::size_t>(s)].is_sparse = true;
    sparse.main().operators[0].inputs.push_back(s);
    save("t_sparse", sparse);

    // Names that lack or occur twice.
    made_model names = chain(conv_2d, conv_2d, conv_2d);
    names.main().tensors[1].name = "";
    names.main().tensors[2].name = "x";
    names.main().tensors[3].name = "x (tensor 2)";
    save("t_names", names);

    // Three elements of each type of a fixed size.
    made_model types;
    types.main().inputs = {types.tensor({"x"})};
    for (std::uint8_t type = 0; type <= 22; ++type)
        if (type != string && type != resource && type != resource + 1)
            types.op(cast, {0}, {types.tensor({"type" + std::to_string(type), {3}, type})});
    save("t_types", types);

    // Dimensions of any size, with examples; and a scalar among tensors that say whether their rank is known.
    made_model open = chain();
    open.main().tensors[1].signature = {-1};
    open.main().tensors[2].signature = {4};
    open.main().tensors[3].signature = {-1};
    save("t_open", open);
    made_model scalar = chain(conv_2d, conv_2d, conv_2d);
    for (made_tensor& t : scalar.main().tensors) t.has_rank = true;
    scalar.main().tensors[1].shape = {};
    save("t_scalar", scalar);

    made_model zero = chain();
    for (std::int32_t d : {1, 2})
        zero.main().tensors[static_cast<std::size_t>(d)].shape = {0, 2147483647, 2147483647};
    save("t_zero", zero);
    made_model nothing;
    nothing.main().inputs = nothing.main().outputs = {nothing.tensor({"x"})};
    save("t_nothing", nothing);

    made_model own = chain(custom, conv_2d, conv_2d);
    own.codes[0].custom = "Own\nKernel";
    save("t_custom", own);
    save("t_later_code", chain(conv_2d, 9999, conv_2d));

    made_model old = chain(); // with codes of 8 bits only
    for (made_code& c : old.codes) c.long_code = 0;
    save("t_old_codes", old);

    // z = a + b, of which both are last read there; and a sum of three, of which only the first may be
    // overwritten.
    for (bool is_of_three : {false, true}) {
        made_model sum = chain(conv_2d, conv_2d, is_of_three ? add_n : add);
        sum.main().operators[1].inputs = {0};
        sum.main().operators[2].inputs = {1, 2};
        if (is_of_three) sum.main().operators[2].inputs = {1, 2, 2};
        save(is_of_three ? "t_sum_of_three" : "t_sum", sum);
    }
}

void write_state()
{
    // v keeps its contents between runs: the first operator reads and writes it.
    made_model state = chain(svdf, conv_2d, conv_2d);
    std::int32_t const v = state.tensor({"v", {8}});
    state.main().tensors.back().is_variable = true;
    state.main().operators[0].inputs = {0, v};
    state.main().operators[1].inputs = {0};
    state.main().operators[2].inputs = {1, 2};
    save("t_state", state);
    state.main().operators[1].inputs = {0, v};
    save("t_state_twice", state);

    made_model marked = chain(conv_2d, conv_2d, conv_2d); // a is written by its reader
    marked.main().operators[1].mutating = {1};
    marked.main().operators[2].inputs = {1, 2};
    save("t_marked", marked);

    // Two handles, maybe of one variable: it is read before it is written.
    made_model handles;
    for (char const* name : {"x", "h", "r", "g", "y"}) handles.tensor({name});
    for (std::size_t handle : {1u, 3u}) handles.main().tensors[handle].type = resource;
    handles.op(var_handle, {}, {1});
    handles.op(read_variable, {1}, {2});
    handles.op(var_handle, {}, {3});
    handles.op(assign_variable, {3, 0}, {});
    handles.op(add, {0, 2}, {4});
    handles.main().inputs = {0};
    handles.main().outputs = {4};
    save("t_handles", handles);
    save_as("t_handles.order", "0\n2\n3\n1\n4\n"); // written before it is read

    // r of 256 bytes is read at once and at the end; it may be computed again, or not.
    for (bool is_random : {false, true}) {
        made_model again;
        again.tensor({"s", {1}});
        for (char const* name : {"r", "a", "b", "c", "y"}) again.tensor({name, {64}});
        again.op(is_random ? random_uniform : conv_2d, {0}, {1});
        for (std::int32_t t : {1, 2, 3}) again.op(conv_2d, {t, 0}, {t + 1});
        again.op(add, {4, 1}, {5});
        again.main().inputs = {0};
        again.main().outputs = {5};
        save(is_random ? "t_random" : "t_function", again);
    }
}

/// Operators that run other subgraphs.
void write_callers()
{
    made_model branch = chain(conv_2d, if_else, conv_2d);
    branch.main().operators[1].options_type = 92;
    branch.main().operators[1].options = {1, 2};
    branch.subgraphs.push_back(made_subgraph());
    branch.subgraphs.push_back(made_subgraph());
    save("t_branch", branch);
    branch.main().operators[1].options = {1, 3};
    save("t_branch_beyond", branch);
    branch.main().operators[1].options = {-1, 2};
    save("t_branch_negative", branch);
    branch.main().operators[1].options_type = 93;
    save("t_branch_unsaid", branch);
}

void write_unreadable()
{
    std::string const whole = chain().bytes();
    save("t_truncated", whole.substr(0, whole.size() / 2));
    save("t_identifier", whole.substr(0, 8));
    std::string wild = whole;
    wild[3] = '\x7f';
    save("t_wild_root", wild);

    made_model version = chain();
    version.version = 2;
    save("t_version", version);
    made_model empty;
    empty.subgraphs.clear();
    save("t_no_subgraph", empty);
}

/// Values without a size, or with one that is wrong.
void write_unsized()
{
    auto save_with = [](char const* file, auto change) {
        made_model m = chain();
        change(m.main().tensors[1], m);
        save(file, m);
    };
    save_with("t_text", [](made_tensor& t, auto&) { t.type = string; });
    save_with("t_unknown_type", [](made_tensor& t, auto&) { t.type = 200; });
    save_with("t_negative", [](made_tensor& t, auto&) { t.shape = {4, -2147483647 - 1}; });
    save_with("t_unranked", [](made_tensor& t, made_model& m) {
        t.shape = {};
        m.main().tensors[0].has_rank = true;
    });
    save_with("t_huge", [](made_tensor& t, auto&) { t.shape = {2147483647, 2147483647, 2147483647}; });
    save_with("t_huge_sum", [](made_tensor& t, made_model& m) {
        for (std::size_t i : {1u, 2u, 3u}) m.main().tensors[i].shape = {2147483647, 2147483647};
        t.shape = {2147483647, 2147483647};
    });
    save_with("t_no_buffer", [](made_tensor& t, auto&) { t.buffer = 7; });
    save_with("t_stored_short", [](made_tensor& t, made_model& m) { t.buffer = m.buffer(12); });
    save_with("t_stored_beyond", [](made_tensor& t, made_model& m) {
        m.buffers.push_back({0, 1000000, 16});
        t.buffer = 1;
    });
    made_model far = chain(conv_2d, conv_2d, conv_2d); // an offset beyond 31 bits
    for (std::size_t i : {1u, 2u}) far.main().tensors[i].shape = {1 << 30};
    save("t_far", far);
}

void write_misordered()
{
    auto save_with = [](char const* file, auto change) {
        made_model m = chain();
        change(m.main());
        save(file, m);
    };
    save_with("t_misordered", [](made_subgraph& g) { std::swap(g.operators[0], g.operators[1]); });
    save_with("t_own_result", [](made_subgraph& g) { g.operators[0].inputs = {1}; });
    save_with("t_undefined", [](made_subgraph& g) {
        g.tensors.push_back({"ghost"});
        g.operators[0].inputs = {4};
    });
    save_with("t_output_undefined", [](made_subgraph& g) {
        g.tensors.push_back({"ghost"});
        g.outputs = {4};
    });
    save_with("t_twice", [](made_subgraph& g) { g.operators[1].outputs = {1}; });
    save_with("t_twice_input", [](made_subgraph& g) { g.operators[1].outputs = {0}; });
    save_with("t_input_listed_twice", [](made_subgraph& g) { g.inputs = {0, 0}; });
    save_with("t_operand_beyond", [](made_subgraph& g) { g.operators[0].inputs = {4}; });
    save_with("t_operand_negative", [](made_subgraph& g) { g.operators[0].inputs = {-2}; });
    save_with("t_input_beyond", [](made_subgraph& g) { g.inputs = {4}; });
    save_with("t_output_negative", [](made_subgraph& g) { g.outputs = {-2}; });
    save_with("t_code_beyond", [](made_subgraph& g) { g.operators[0].code = 3; });
}

/// The offline plan of so many tensors: its version, one subgraph, their number, and their offsets.
void write_offsets(char const* name, tensor_numbers const& offsets)
{
    tensor_numbers numbers{1, 1, static_cast<std::int32_t>(offsets.size())};
    numbers.insert(numbers.end(), offsets.begin(), offsets.end());
    std::string bytes;
    for (std::int32_t n : numbers)
        for (int shift = 0; shift != 32; shift += 8)
            bytes += static_cast<char>(static_cast<std::uint32_t>(n) >> shift & 0xFF);
    save_as(name, bytes);
}

void write_expected_offsets()
{
    write_offsets("expected_views.tflm", {16, 0, 16, 0});
    write_offsets("expected_shared.tflm", {16, 0, 0, 16});
    write_offsets("expected_constants.tflm", {16, 0, 16, 0, -1, -1, -1});
    write_offsets("expected_state.tflm", {16, 0, 32, 16, -1});
    write_offsets("overlapping.tflm", {16, 0, 0, 16});
}

} // namespace

int main(int count, char** words)
{
    bool const asks_for_help = count == 2 && std::string(words[1]) == "--help";
    if (count != 2 || asks_for_help)
        return std::fputs("usage: make_tflite FOLDER\n", asks_for_help ? stdout : stderr),
               asks_for_help ? 0 : 2;
    folder = words[1];
    write_valid();
    write_state();
    write_callers();
    write_unreadable();
    write_unsized();
    write_misordered();
    write_expected_offsets();
    return 0;
}
