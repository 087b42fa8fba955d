// SPDX-License-Identifier: BSL-1.0

// Converts a TensorFlow Lite model: the values of its first subgraph, the operator that makes each, their
// sizes, and which values are views. Tables and fields have the numbers of TensorFlow's schema.fbs.

#include "read_tflite.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace plan_model {

bool is_tflite(std::string_view bytes) { return bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3"; }

} // namespace plan_model

#ifndef SUBLET_EXAMPLES_FLATBUFFERS

namespace plan_model {

network read_tflite(std::string const& file, std::string const&, tflite_options const&)
{
    throw input_error(file + ": is a TensorFlow Lite file; this program was built without FlatBuffers");
}

} // namespace plan_model

#else

#include "flat_tables.hpp"
#include "tflite_operators.hpp"

#include <sublet/core/units.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace plan_model {
namespace {

using sublet::byte_count;
using sublet::node_id;
using sublet::value_id;
using sublet::value_role;

/// Numbers of fields, by table.
namespace field {
enum model : int { version = 0, operator_codes = 1, subgraphs = 2, buffers = 4 };
enum code : int { short_code = 0, custom_code = 1, long_code = 3 };
enum subgraph : int { tensors = 0, inputs = 1, outputs = 2, operators = 3 };
enum tensor : int {
    shape = 0,
    type = 1,
    buffer = 2,
    name = 3,
    is_variable = 5,
    sparsity = 6,
    signature = 7,
    has_rank = 8
};
enum operation : int {
    code_index = 0,
    operands = 1,
    results = 2,
    options_type = 3,
    options = 4,
    mutating = 7
};
enum buffer_of : int { data = 0, offset = 1, size = 2 };
} // namespace field

struct element_type {
    int onnx;      ///< its number in ONNX
    unsigned bits; ///< 0: no fixed size
};

/// By number of TensorType. Of 4 bits, two elements share a byte, and of 2 bits four.
constexpr element_type element_types[] = {
    {1, 32},   // FLOAT32
    {10, 16},  // FLOAT16
    {6, 32},   // INT32
    {2, 8},    // UINT8
    {7, 64},   // INT64
    {8, 0},    // STRING
    {9, 8},    // BOOL
    {5, 16},   // INT16
    {14, 64},  // COMPLEX64
    {3, 8},    // INT8
    {11, 64},  // FLOAT64
    {15, 128}, // COMPLEX128
    {13, 64},  // UINT64
    {0, 0},    // RESOURCE
    {0, 0},    // VARIANT
    {12, 32},  // UINT32
    {4, 16},   // UINT16
    {22, 4},   // INT4
    {16, 16},  // BFLOAT16
    {26, 2},   // INT2
    {21, 4},   // UINT4
    {17, 8},   // FLOAT8_E4M3FN
    {19, 8},   // FLOAT8_E5M2
};

struct flat_tensor {
    std::string name;
    value_type type;
    byte_count bytes = sublet::no_size;
    char const* why_unsized = nullptr;
    bool is_constant = false, is_variable = false;
    bool is_open = false; ///< a dimension is only an example
};

struct flat_operation {
    std::string label, type;
    std::vector<std::int32_t> operands, results;
    std::vector<std::uint8_t> mutating; ///< by operand; may be shorter
    bool is_builtin = false;
};

class tflite_reader {
public:
    tflite_reader(std::string const& file, std::string const& bytes, tflite_options const& options)
        : file_(file), file_bytes_(bytes.size()), in_(file, bytes), options_(options)
    {
    }

    network read()
    {
        table const& model = in_.root();
        if (auto const version = in_.number<std::uint32_t>(model, field::version); version != 3)
            refuse("is of version " + std::to_string(version) + " of the format, and only 3 is read");
        subgraphs_ = in_.tables(model, field::subgraphs);
        if (subgraphs_.empty()) refuse("holds no subgraph");
        if (subgraphs_.size() > 1 && options_.plans_inputs)
            refuse("has " + std::to_string(subgraphs_.size()) +
                   " subgraphs, and offsets of TensorFlow Lite Micro "
                   "are only planned for one");
        table const& main = *subgraphs_.front();
        buffers_ = in_.tables(model, field::buffers);
        read_tensors(in_.tables(main, field::tensors));
        read_operators(in_.tables(model, field::operator_codes), in_.tables(main, field::operators));
        net_.tensors.assign(tensors_.size(), sublet::no_value);
        add_inputs(in_.numbers<std::int32_t>(main, field::inputs));
        add_constants();
        for (std::size_t n = 0; n != operations_.size(); ++n) add_results(n);
        for (std::size_t n = 0; n != operations_.size(); ++n) add_operation(n);
        mark_outputs(in_.numbers<std::int32_t>(main, field::outputs));
        add_remarks();
        return std::move(net_);
    }

private:
    using table = flat_tables::table;

    [[noreturn]] void refuse(std::string const& what) const { throw input_error(file_ + ": " + what); }

    std::string named(std::size_t tensor) const { return "value " + quoted(tensors_[tensor].name); }

    // --- tensors -----------------------------------------------------------------------------------------

    void read_tensors(std::vector<table const*> const& tables)
    {
        bool knows_rank = false; // older files do not say whether a tensor without dimensions is a scalar
        std::vector<bool> has_rank;
        for (table const* t : tables) {
            has_rank.push_back(in_.number<std::uint8_t>(*t, field::has_rank) != 0);
            knows_rank = knows_rank || has_rank.back();
        }
        std::unordered_set<std::string> names;
        for (std::size_t i = 0; i != tables.size(); ++i) {
            table const& t = *tables[i];
            flat_tensor read;
            std::string const number = "tensor " + std::to_string(i);
            read.name = in_.text(t, field::name);
            if (read.name.empty()) read.name = number;
            if (!names.insert(read.name).second) {
                read.name += " (" + number + ")";
                while (!names.insert(read.name).second) read.name += '\'';
            }
            read.is_variable = in_.number<std::uint8_t>(t, field::is_variable) != 0;
            read_type(t, knows_rank && !has_rank[i], read);
            tensors_.push_back(std::move(read));
            read_buffer(t, i);
        }
    }

    /// A dimension that is open has an example in the shape, which the interpreter allocates at first.
    void read_type(table const& t, bool may_lack_rank, flat_tensor& read)
    {
        std::size_t const type = in_.number<std::uint8_t>(t, field::type);
        element_type const element =
            type < std::size(element_types) ? element_types[type] : element_type{0, 0};
        read.type = {value_type::tensor, element.onnx, true, {}};
        for (std::int32_t d : in_.numbers<std::int32_t>(t, field::shape))
            read.type.size.push_back(std::max(d, -1));
        if (may_lack_rank && read.type.size.empty()) read.type.has_rank = false;
        for (std::int32_t d : in_.numbers<std::int32_t>(t, field::signature))
            read.is_open = read.is_open || d < 0;
        constexpr std::size_t resource = 13;
        if (type == resource) read.bytes = 0; // a handle, which the interpreter keeps
        else if (element.bits == 0) read.why_unsized = "has no element type of a fixed size";
        else if (!read.type.has_rank) read.why_unsized = "has no shape";
        else set_bytes(element.bits, read);
    }

    static void set_bytes(unsigned bits, flat_tensor& read)
    {
        std::vector<std::int64_t> const& size = read.type.size;
        if (std::any_of(size.begin(), size.end(), [](auto d) { return d < 0; })) {
            read.why_unsized = "has no static shape";
            return;
        }
        if (std::find(size.begin(), size.end(), 0) != size.end()) { // before the product can overflow
            read.bytes = 0;
            return;
        }
        try {
            byte_count elements = 1;
            for (auto d : size) elements = sublet::checked_multiply(elements, static_cast<byte_count>(d));
            byte_count const per_byte = bits < 8 ? 8 / bits : 1;
            elements = elements / per_byte + (elements % per_byte != 0);
            read.bytes = sublet::checked_multiply(elements, std::max(bits / 8, 1u));
        } catch (sublet::precondition_error const&) {
            read.why_unsized = "is larger than 64 bits can count";
        }
    }

    /// A constant has its elements in the file: in the table of a buffer, or behind all tables.
    void read_buffer(table const& t, std::size_t i)
    {
        flat_tensor& read = tensors_[i];
        auto const number = in_.number<std::uint32_t>(t, field::buffer);
        if (number == 0 && buffers_.empty()) return; // buffer 0 is always empty
        if (number >= buffers_.size())
            refuse(named(i) + " is stored in buffer " + std::to_string(number) + ", and there are " +
                   std::to_string(buffers_.size()));
        table const& buffer = *buffers_[number];
        byte_count stored = in_.byte_count_of(buffer, field::data);
        auto const offset = in_.number<std::uint64_t>(buffer, field::offset),
                   size = in_.number<std::uint64_t>(buffer, field::size);
        if (stored == 0 && offset > 1 && size != 0) { // 0 and 1 stand for no offset
            if (offset > file_bytes_ || size > file_bytes_ - offset)
                refuse(named(i) + " is stored at byte " + std::to_string(offset) +
                       ", beyond the end of the file");
            stored = size;
        }
        read.is_constant = stored != 0;
        bool const is_sparse = in_.inner(t, field::sparsity) != nullptr;
        if (read.is_constant && !is_sparse && read.bytes != sublet::no_size && stored != read.bytes)
            refuse(named(i) + " has " + std::to_string(read.bytes) + " bytes, and is stored in " +
                   std::to_string(stored));
    }

    // --- operators ---------------------------------------------------------------------------------------

    void read_operators(std::vector<table const*> const& codes, std::vector<table const*> const& tables)
    {
        for (std::size_t n = 0; n != tables.size(); ++n) {
            table const& t = *tables[n];
            flat_operation op;
            op.label = "operator " + std::to_string(n);
            auto const index = in_.number<std::uint32_t>(t, field::code_index);
            if (index >= codes.size())
                refuse(op.label + " has operator code " + std::to_string(index) + ", and there are " +
                       std::to_string(codes.size()));
            set_type(*codes[index], op);
            op.operands = in_.numbers<std::int32_t>(t, field::operands);
            op.results = in_.numbers<std::int32_t>(t, field::results);
            op.mutating = in_.numbers<std::uint8_t>(t, field::mutating);
            for (auto const* list : {&op.operands, &op.results})
                for (std::int32_t v : *list)
                    if (v < -1 || v >= static_cast<std::int64_t>(tensors_.size()))
                        refuse(op.label + " refers to tensor " + std::to_string(v) + ", and there are " +
                               std::to_string(tensors_.size()));
            has_handles_ =
                has_handles_ || (op.is_builtin && tflite::is_in(tflite::makers_of_handles, op.type));
            if (op.is_builtin && tflite::is_in(tflite::callers, op.type)) remark_on_calls(t, op);
            operations_.push_back(std::move(op));
        }
    }

    /// The code was a number of 8 bits first, and the larger of both fields counts since.
    void set_type(table const& code, flat_operation& op)
    {
        constexpr std::int32_t custom = 32;
        std::int32_t const number = std::max<std::int32_t>(in_.number<std::int8_t>(code, field::short_code),
                                                           in_.number<std::int32_t>(code, field::long_code));
        op.is_builtin = number != custom;
        op.type = tflite::operator_name(number);
        if (number == custom)
            if (std::string const own = in_.text(code, field::custom_code); !own.empty()) {
                std::string const shown = quoted(own);
                op.type = shown.substr(1, shown.size() - 2);
            }
        op.label += " (" + op.type + ')';
    }

    /// Which subgraphs an operator runs is known of the older ones.
    void remark_on_calls(table const& t, flat_operation const& op)
    {
        struct {
            std::string_view type;
            std::uint8_t options;
            int subgraphs;
        } constexpr known[] = {{"CALL", 16, 1}, {"IF", 92, 2}, {"WHILE", 93, 2}, {"CALL_ONCE", 103, 1}};
        std::string which;
        for (auto const& k : known) {
            if (k.type != op.type) continue;
            table const* const options = in_.inner(t, field::options);
            if (options == nullptr || in_.number<std::uint8_t>(t, field::options_type) != k.options)
                refuse(op.label + " does not say which subgraph it runs");
            for (int i = 0; i != k.subgraphs; ++i) {
                auto const number = in_.number<std::int32_t>(*options, i);
                if (number < 0 || number >= static_cast<std::int64_t>(subgraphs_.size()))
                    refuse(op.label + " runs subgraph " + std::to_string(number) + ", and there are " +
                           std::to_string(subgraphs_.size()));
                which += (i == 0 ? " " : " and ") + std::to_string(number);
            }
        }
        net_.remarks.push_back(file_ + ": " + op.label + " runs subgraphs" + which +
                               ", and their values are not planned");
    }

    // --- the network -------------------------------------------------------------------------------------

    void add_value(std::size_t tensor, value_role role, node_id producer = sublet::no_node)
    {
        flat_tensor const& t = tensors_[tensor];
        net_.tensors[tensor] = value_id(net_.values.size());
        net_.values.push_back({t.name, t.bytes, role, sublet::no_value, producer});
        net_.types.push_back(t.type);
    }

    value_role role_of_given(flat_tensor const& t) const
    {
        return t.is_variable ? value_role::external | value_role::state : value_role::external;
    }

    void add_inputs(std::vector<std::int32_t> const& inputs)
    {
        for (std::int32_t v : inputs) {
            if (v == -1) continue;
            std::size_t const tensor = checked_tensor(v, "input");
            flat_tensor const& t = tensors_[tensor];
            if (net_.tensors[tensor] != sublet::no_value)
                refuse("graph input " + quoted(t.name) + " is listed twice");
            bool const is_planned = options_.plans_inputs && !t.is_constant && !t.is_variable;
            if (is_planned && t.bytes == sublet::no_size) refuse(named(tensor) + ' ' + t.why_unsized);
            add_value(tensor, is_planned ? value_role::input : role_of_given(t));
            note_open(t);
        }
    }

    /// Also variables, and tensors without elements that nothing makes: they are empty constants.
    void add_constants()
    {
        std::vector<bool> is_made(tensors_.size(), false);
        for (flat_operation const& op : operations_)
            for (std::int32_t v : op.results)
                if (v != -1) is_made[static_cast<std::size_t>(v)] = true;
        for (std::size_t i = 0; i != tensors_.size(); ++i) {
            flat_tensor const& t = tensors_[i];
            if (net_.tensors[i] == sublet::no_value &&
                (t.is_constant || t.is_variable || (t.bytes == 0 && !is_made[i])))
                add_value(i, role_of_given(t));
        }
        if (!has_handles_) return;
        state_ = value_id(net_.values.size());
        net_.values.push_back({"variables and tables", 1, value_role::external | value_role::state});
        net_.types.emplace_back();
    }

    void add_results(std::size_t n)
    {
        for (std::int32_t v : operations_[n].results) {
            if (v == -1) continue;
            auto const tensor = static_cast<std::size_t>(v);
            flat_tensor const& t = tensors_[tensor];
            if (net_.tensors[tensor] != sublet::no_value) refuse_second(tensor, n);
            if (t.bytes == sublet::no_size) refuse(named(tensor) + ' ' + t.why_unsized);
            add_value(tensor, value_role::intermediate, node_id(n));
            note_open(t);
            ++net_.results;
        }
    }

    [[noreturn]] void refuse_second(std::size_t tensor, std::size_t n) const
    {
        node_id const first = net_.values[net_.tensors[tensor]].producer;
        std::string const other = first == sublet::no_node ? "a graph input, a constant or a variable"
                                                           : "made by " + operations_[first].label;
        refuse(operations_[n].label + " makes " + named(tensor) + ", which is " + other);
    }

    void add_operation(std::size_t n)
    {
        flat_operation const& from = operations_[n];
        operation op;
        op.label = from.label;
        op.type = from.type;
        for (std::int32_t v : from.operands) op.inputs.push_back(used_value(v, n));
        for (std::int32_t v : from.results)
            op.outputs.push_back(v == -1 ? sublet::no_value : net_.tensors[static_cast<std::size_t>(v)]);
        add_mutated(from, op);
        if (from.is_builtin) {
            add_state(op);
            add_view(op);
            add_pairs(op);
            op.may_recompute = tflite::is_function(op.type) && op.mutated.empty();
        }
        net_.operations.push_back(std::move(op));
    }

    value_id used_value(std::int32_t v, std::size_t by) const
    {
        if (v == -1) return sublet::no_value;
        auto const tensor = static_cast<std::size_t>(v);
        value_id const id = net_.tensors[tensor];
        if (id == sublet::no_value)
            refuse(operations_[by].label + " uses " + named(tensor) + ", which nothing defines");
        node_id const producer = net_.values[id].producer;
        if (producer != sublet::no_node && producer >= node_id(by))
            refuse("the graph is not in topological order: " + operations_[by].label + " uses " +
                   named(tensor) + ", which " + operations_[producer].label + " defines");
        return id;
    }

    /// Variables are operands of the operators that write them; other operands are marked if they are
    /// written.
    void add_mutated(flat_operation const& from, operation& op)
    {
        for (std::size_t i = 0; i != from.operands.size(); ++i) {
            if (from.operands[i] == -1) continue;
            bool const is_marked = i < from.mutating.size() && from.mutating[i] != 0;
            if (!is_marked && !tensors_[static_cast<std::size_t>(from.operands[i])].is_variable) continue;
            op.mutated.push_back(op.inputs[i]);
            network_value& written = net_.values[op.inputs[i]];
            if (has_role(written.role, value_role::external)) written.role = written.role | value_role::state;
        }
        std::sort(op.mutated.begin(), op.mutated.end());
        op.mutated.erase(std::unique(op.mutated.begin(), op.mutated.end()), op.mutated.end());
    }

    /// What reads and writes variables keeps its order, whichever handles they have.
    void add_state(operation& op)
    {
        bool const writes =
            tflite::is_in(tflite::writers_of_state, op.type) || tflite::is_in(tflite::callers, op.type);
        if (!has_handles_ || !(writes || tflite::is_in(tflite::readers_of_state, op.type))) return;
        op.inputs.push_back(state_);
        if (writes) op.mutated.push_back(state_);
    }

    void add_view(operation const& op)
    {
        if (!options_.views || !tflite::is_in(tflite::reshapes, op.type) || op.inputs.empty() ||
            op.outputs.empty())
            return;
        value_id const from = op.inputs.front(), to = op.outputs.front();
        if (from == sublet::no_value || to == sublet::no_value) return;
        byte_count const bytes = net_.values[from].bytes;
        // If the sizes differ, the file is wrong; a copy is valid in either case.
        if (bytes == sublet::no_size || bytes == net_.values[to].bytes) net_.values[to].alias_of = from;
    }

    /// The first result may overwrite an operand of its type and shape that a run computes, as read_onnx
    /// does.
    void add_pairs(operation& op) const
    {
        if (options_.pairs == in_place_pairs::listed || !op.mutated.empty()) return;
        bool const is_softmax =
            op.type == "SOFTMAX" || op.type == "LOG_SOFTMAX"; // always along the last axis
        bool const is_of_any =
            tflite::is_in(tflite::of_any, op.type) || (op.type == "ADD_N" && op.inputs.size() <= 2);
        if (!is_of_any && op.type != "ADD_N" && !tflite::is_in(tflite::of_first, op.type) &&
            !(is_softmax && options_.pairs == in_place_pairs::softmax))
            return;
        if (op.outputs.size() != 1 || op.outputs.front() == sublet::no_value ||
            net_.is_view(op.outputs.front()))
            return;
        constexpr std::size_t most = 3; // that an operator selects from
        std::size_t const operands = std::min(op.inputs.size(), is_of_any ? most : 1);
        for (std::size_t i = 0; i != operands; ++i) {
            value_id const v = op.inputs[i];
            if (v != sublet::no_value && is_same_type(v, op.outputs.front()) && is_computed(v) &&
                (is_of_any || std::count(op.inputs.begin(), op.inputs.end(), v) == 1) &&
                std::find(op.overwritable.begin(), op.overwritable.end(), v) == op.overwritable.end())
                op.overwritable.push_back(v);
        }
    }

    bool is_same_type(value_id a, value_id b) const
    {
        value_type const &x = net_.types[a], &y = net_.types[b];
        return x.element != 0 && x.element == y.element && x.has_rank && y.has_rank && x.size == y.size;
    }

    bool is_computed(value_id v) const
    {
        while (net_.is_view(v)) v = net_.values[v].alias_of;
        return net_.values[v].producer != sublet::no_node;
    }

    std::size_t checked_tensor(std::int32_t v, char const* what) const
    {
        if (v < 0 || v >= static_cast<std::int64_t>(tensors_.size()))
            refuse(std::string("a graph ") + what + " is tensor " + std::to_string(v) + ", and there are " +
                   std::to_string(tensors_.size()));
        return static_cast<std::size_t>(v);
    }

    void mark_outputs(std::vector<std::int32_t> const& outputs)
    {
        for (std::int32_t v : outputs) {
            if (v == -1) continue;
            std::size_t const tensor = checked_tensor(v, "output");
            value_id const id = net_.tensors[tensor];
            if (id == sublet::no_value)
                refuse("graph output " + quoted(tensors_[tensor].name) + " is never defined");
            net_.values[id].role = net_.values[id].role | value_role::output;
        }
    }

    void note_open(flat_tensor const& t)
    {
        if (!t.is_open) return;
        if (open_++ == 0) first_open_ = t.name;
    }

    void add_remarks()
    {
        if (open_ != 0)
            net_.remarks.push_back(file_ + ": " + std::to_string(open_) +
                                   (open_ == 1 ? " value has" : " values have") +
                                   " dimensions of any size, first " + quoted(first_open_) +
                                   ": planned for the sizes in the file, mostly 1");
        if (subgraphs_.size() > 1)
            net_.remarks.push_back(file_ + ": of its " + std::to_string(subgraphs_.size()) +
                                   " subgraphs only the first is planned");
    }

    std::string const& file_;
    std::size_t file_bytes_;
    flat_tables in_;
    tflite_options options_;
    std::vector<table const*> subgraphs_, buffers_;
    std::vector<flat_tensor> tensors_;
    std::vector<flat_operation> operations_;
    bool has_handles_ = false;
    value_id state_ = sublet::no_value; ///< stands for all variables and tables with handles
    std::size_t open_ = 0;
    std::string first_open_;
    network net_;
};

} // namespace

network read_tflite(std::string const& file, std::string const& bytes, tflite_options const& options)
{
    if (!is_tflite(bytes)) throw input_error(file + ": is no TensorFlow Lite file");
    return tflite_reader(file, bytes, options).read();
}

} // namespace plan_model

#endif
