// SPDX-License-Identifier: BSL-1.0

// Converts ONNX operators to layers. Only this file reads attributes, shapes and constants: a node becomes
// either a structure of plain numbers that its kernel can trust, or a sentence that says why not.

#include "read_layers.hpp"

#include "../plan_model/known_elements.hpp"
#include "../plan_model/read_onnx.hpp"
#include "../plan_model/standard_operators.hpp"

#include "evaluate_layers.hpp"
#include "given_data.hpp"
#include "taken_branches.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace run_network {
namespace {

using sublet::value_id;

struct unsupported_layer {
    std::string why;
    bool may_evaluate = false; ///< it is sound, but no primitive or formula computes it
};

using sizes = std::vector<int>;
using integers = std::vector<std::int64_t>; // as in ONNX files

/// Requires: the product of all of them, with max(1, size) for each, fits an int.
int product_of(sizes const& size, std::size_t first, std::size_t last)
{
    int all = 1;
    for (; first != last; ++first) all *= size[first];
    return all;
}
int product_of(sizes const& size) { return product_of(size, 0, size.size()); }

template <class Numbers>
std::vector<std::byte> bytes_of_numbers(Numbers const& numbers)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(numbers.size()) * sizeof(*numbers.begin()));
    if (!bytes.empty()) std::memcpy(bytes.data(), &*numbers.begin(), bytes.size());
    return bytes;
}

/// Empty: the bytes are in another file, or omitted.
std::vector<std::byte> bytes_of(onnx::TensorProto const& t)
{
    if (t.data_location() == onnx::TensorProto::EXTERNAL) return {};
    if (!t.raw_data().empty()) return bytes_of_numbers(t.raw_data());
    switch (t.data_type()) {
    case onnx::TensorProto::FLOAT: return bytes_of_numbers(t.float_data());
    case onnx::TensorProto::INT32: return bytes_of_numbers(t.int32_data());
    case onnx::TensorProto::INT64: return bytes_of_numbers(t.int64_data());
    default: break;
    }
    auto const known = plan_model::elements_of(t);
    return known ? bytes_of_numbers(plan_model::as_tensor(*known).raw_data()) : std::vector<std::byte>();
}

template <class Number, class Bytes>
std::vector<Number> numbers_in(Bytes const& bytes)
{
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
    return numbers;
}

/// One node: its attributes with their defaults, the shapes of its operands, and their constants.
class node_reader {
public:
    node_reader(onnx::NodeProto const& node, plan_model::operation const& operation,
                layered_network const& all, std::int64_t opset)
        : node_(node), operation_(operation), all_(all), opset_(opset)
    {
    }

    std::int64_t opset() const { return opset_; }
    std::string const& type() const { return node_.op_type(); }
    [[noreturn]] void refuse(std::string const& what) const { throw unsupported_layer{type() + ' ' + what}; }
    void expect_primitive(bool holds, char const* otherwise) const
    {
        if (!holds) throw unsupported_layer{type() + ' ' + otherwise, true};
    }
    void expect(bool holds, char const* otherwise) const
    {
        if (!holds) refuse(otherwise);
    }
    void expect_to_fit(bool holds) const { expect(holds, "of shapes that do not fit"); }

    onnx::AttributeProto const* attribute(char const* name) const
    {
        for (auto const& a : node_.attribute())
            if (a.name() == name) return &a;
        return nullptr;
    }
    std::int64_t integer(char const* name, std::int64_t otherwise) const
    {
        auto const* const a = attribute(name);
        if (a != nullptr) expect_kind(name, a->has_i() || a->type() == onnx::AttributeProto::INT);
        return a == nullptr ? otherwise : a->i();
    }
    float real(char const* name, float otherwise) const
    {
        auto const* const a = attribute(name);
        if (a != nullptr) expect_kind(name, a->has_f() || a->type() == onnx::AttributeProto::FLOAT);
        return a == nullptr ? otherwise : a->f();
    }
    std::string text(char const* name, char const* otherwise) const
    {
        auto const* const a = attribute(name);
        if (a != nullptr) expect_kind(name, a->has_s() || a->type() == onnx::AttributeProto::STRING);
        return a == nullptr ? otherwise : a->s();
    }
    std::optional<integers> numbers(char const* name) const
    {
        auto const* const a = attribute(name);
        if (a == nullptr) return std::nullopt;
        expect_kind(name, a->ints_size() != 0 || a->type() == onnx::AttributeProto::INTS);
        return integers(a->ints().begin(), a->ints().end());
    }
    integers numbers(char const* name, std::size_t count, std::int64_t otherwise) const
    {
        auto const listed = numbers(name);
        if (listed && listed->size() != count) refuse(std::string("with a wrong number of ") + name);
        return listed ? *listed : integers(count, otherwise);
    }

    std::size_t operand_count() const { return static_cast<std::size_t>(node_.input_size()); }
    bool has_operand(std::size_t i) const
    {
        return i < operand_count() && operation_.inputs[i] != sublet::no_value;
    }
    value_id operand(std::size_t i) const
    {
        if (!has_operand(i)) refuse("without operand " + std::to_string(i));
        return operation_.inputs[i];
    }
    bool has_result(std::size_t i) const
    {
        return i < operation_.outputs.size() && operation_.outputs[i] != sublet::no_value;
    }
    value_id result(std::size_t i = 0) const
    {
        if (!has_result(i)) refuse("without a result");
        return operation_.outputs[i];
    }
    tensor_type const& operand_type(std::size_t i) const { return all_.types[operand(i)]; }
    tensor_type const& result_type() const { return all_.types[result()]; }
    sizes const& operand_size(std::size_t i) const { return size_of(operand_type(i)); }
    sizes const& result_size(std::size_t i = 0) const { return size_of(all_.types[result(i)]); }
    /// The declaration of a value of any type.
    plan_model::value_type const& declared(value_id v) const { return all_.net.types[v]; }
    sublet::byte_count bytes(value_id v) const { return all_.net.values[v].bytes; }

    /// Whether the file holds an operand's elements, also through views.
    bool is_known(std::size_t i) const
    {
        value_id const v = operand(i);
        return bytes(v) == 0 || !all_.data[all_.elements_of[v]].empty();
    }
    integers constant_integers(std::size_t i) const
    {
        if (operand_type(i).element != tensor_type::int_32 && operand_type(i).element != tensor_type::int_64)
            refuse("with an operand of an unsupported type");
        return integers_in(operand_type(i), known(i));
    }
    std::vector<float> constant_reals(std::size_t i) const
    {
        expect_primitive(operand_type(i).element == tensor_type::float_32,
                         "with an operand of an unsupported type");
        return numbers_in<float>(known(i));
    }
    /// An operand, or the attribute that preceded it before opset `since`.
    std::optional<integers> numbers_since(int since, char const* name, std::size_t operand) const
    {
        if (opset_ < since) return numbers(name);
        return has_operand(operand) ? std::optional(constant_integers(operand)) : std::nullopt;
    }
    float real_since(int since, char const* name, std::size_t operand, float otherwise) const
    {
        if (opset_ < since) return real(name, otherwise);
        if (!has_operand(operand)) return otherwise;
        auto const all = constant_reals(operand);
        if (all.size() != 1) refuse("with an operand that is no single number");
        return all[0];
    }

    std::size_t axis(std::int64_t listed, std::size_t rank) const
    {
        auto const all = static_cast<std::int64_t>(rank);
        if (listed < -all || listed >= all) refuse("along an axis out of range");
        return static_cast<std::size_t>(listed < 0 ? listed + all : listed);
    }
    /// By axis: whether it is listed. No axis may be listed twice.
    std::vector<bool> axes(integers const& listed, std::size_t rank) const
    {
        std::vector<bool> is_named(rank);
        for (auto a : listed) {
            std::size_t const index = axis(a, rank);
            expect(!is_named[index], "along one axis twice");
            is_named[index] = true;
        }
        return is_named;
    }
    int narrow(std::int64_t number) const
    {
        if (number < INT_MIN || number > INT_MAX) refuse("with a number beyond 32 bits");
        return static_cast<int>(number);
    }
    /// As planes: a row is one of them. All of an operation have the rank of its first operand.
    sizes planes(sizes size) const
    {
        expect_to_fit(size.size() == operand_size(0).size());
        if (size.size() == 3) size.insert(size.begin() + 2, 1);
        if (size.size() != 4)
            refuse("over " + std::to_string(static_cast<int>(size.size()) - 2) + " dimensions");
        return size;
    }

private:
    void expect_kind(char const* name, bool is_right) const
    {
        if (!is_right) refuse(std::string("with an attribute ") + name + " of another kind");
    }
    template <class Bytes>
    static integers integers_in(tensor_type const& type, Bytes const& bytes)
    {
        if (type.element == tensor_type::int_64) return numbers_in<std::int64_t>(bytes);
        auto const narrow = numbers_in<std::int32_t>(bytes);
        return {narrow.begin(), narrow.end()};
    }
    /// Formulas use 32-bit integers, so the product of any subset of the dimensions must fit an int.
    sizes const& size_of(tensor_type const& type) const
    {
        expect_primitive(type.element == tensor_type::float_32,
                         "of another type than float, or of an unknown shape");
        double elements = 1;
        for (int n : type.size) elements *= std::max(n, 1);
        if (elements >= INT_MAX) refuse("of too many elements");
        return type.size;
    }
    std::vector<std::byte> const& known(std::size_t i) const
    {
        expect_primitive(is_known(i), "with an operand that must be a constant");
        return all_.data[all_.elements_of[operand(i)]];
    }

    onnx::NodeProto const& node_;
    plan_model::operation const& operation_;
    layered_network const& all_;
    std::int64_t opset_;
};

// --- windows --------------------------------------------------------------------------------------------

/// Longest axis that a window slides along, with its padding: a sum of two positions fits an int.
constexpr std::int64_t longest_axis = 1 << 30;

/// The window along one axis that a file declares, before it is checked.
struct declared_window {
    std::int64_t in, out, taps;
    std::int64_t stride, dilation;
    std::int64_t before, after;

    /// The distance from its first to behind its last element.
    std::int64_t reach() const { return (taps - 1) * dilation + 1; }
    bool is_sound() const
    {
        for (auto number : {in, out, taps, stride, dilation})
            if (number < 1 || number > longest_axis) return false;
        for (auto number : {before, after})
            if (number < 0 || number > longest_axis) return false;
        return true;
    }
    sliding narrow() const
    {
        auto as_int = [](std::int64_t number) { return static_cast<int>(number); };
        return {as_int(in),       as_int(out),    as_int(taps), as_int(stride),
                as_int(dilation), as_int(before), as_int(after)};
    }
};

/// Computes the padding for `auto_pad` from the size of the result.
void pad_same(declared_window& w, bool is_upper)
{
    std::int64_t const all = std::max<std::int64_t>(0, (w.out - 1) * w.stride + w.reach() - w.in);
    std::int64_t const less = all / 2, more = all - less;
    w.before = is_upper ? less : more, w.after = is_upper ? more : less;
}

/// Axis k of `all`; the first is not in the file if `all` is 1.
std::int64_t along(node_reader const& n, char const* name, std::size_t k, std::int64_t otherwise,
                   std::size_t all)
{
    auto const listed = n.numbers(name, all, otherwise);
    return k < 2 - all ? otherwise : listed[k - (2 - all)];
}
/// Padding before or after.
std::int64_t padding(node_reader const& n, std::size_t k, bool is_after, std::size_t all)
{
    auto const pads = n.numbers("pads", 2 * all, 0);
    return k < 2 - all ? 0 : pads[k - (2 - all) + (is_after ? all : 0)];
}

sliding window(node_reader const& n, std::size_t k, int in, int out, std::int64_t taps, bool may_round_up)
{
    std::size_t const all = n.operand_size(0).size() - 2;
    declared_window w{in, out, taps, along(n, "strides", k, 1, all), along(n, "dilations", k, 1, all), 0, 0};
    std::string const automatic = n.text("auto_pad", "NOTSET");
    bool const is_same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (automatic == "NOTSET") w.before = padding(n, k, false, all), w.after = padding(n, k, true, all);
    n.expect(automatic == "NOTSET" || automatic == "VALID" || is_same, "with invalid padding");
    n.expect(w.is_sound(), "with invalid windows");
    if (is_same) pad_same(w, automatic == "SAME_UPPER");
    std::int64_t const room = w.in + w.before + w.after - w.reach();
    n.expect(w.in + w.before + w.after <= longest_axis, "with invalid windows");
    bool const fits = room >= 0 && w.out == room / w.stride + 1;
    bool const fits_rounded = may_round_up && room >= 0 && w.out == (room + w.stride - 1) / w.stride + 1 &&
                              (w.out - 1) * w.stride < w.in + w.before;
    bool const fits_same = !is_same || w.out == (w.in + w.stride - 1) / w.stride;
    n.expect((fits || fits_rounded) && fits_same, "with another result shape than its windows give");
    if (w.out == 1) w.stride = std::min(w.stride, room + 1); // a stride that is never taken costs space
    return w.narrow();
}

void expect_kernel(node_reader const& n)
{
    auto const& w = n.operand_size(1);
    n.expect_to_fit(w.size() > 2);
    integers const kernel(w.begin() + 2, w.end());
    n.expect_to_fit(n.attribute("kernel_shape") == nullptr ||
                    n.numbers("kernel_shape", kernel.size(), 0) == kernel);
}

layer read_convolution(node_reader const& n)
{
    expect_kernel(n);
    auto const x = n.planes(n.operand_size(0)), w = n.planes(n.operand_size(1)),
               y = n.planes(n.result_size());
    int const groups = n.narrow(n.integer("group", 1));
    n.expect_to_fit(groups > 0 && x[1] % groups == 0 && w[0] % groups == 0 && w[1] == x[1] / groups &&
                    y[0] == x[0] && y[1] == w[0]);
    n.expect(w[1] > 0, "over no channels");
    convolution s{x[0],
                  groups,
                  w[1],
                  w[0] / groups,
                  window(n, 0, x[2], y[2], w[2], false),
                  window(n, 1, x[3], y[3], w[3], false),
                  n.has_operand(2)};
    if (s.has_bias) n.expect_to_fit(n.operand_size(2) == sizes{w[0]});
    return s;
}

layer read_conv_transpose(node_reader const& n)
{
    expect_kernel(n);
    auto const x = n.planes(n.operand_size(0)), w = n.planes(n.operand_size(1)),
               y = n.planes(n.result_size());
    std::size_t const all = n.operand_size(0).size() - 2;
    int const groups = n.narrow(n.integer("group", 1));
    n.expect_to_fit(groups > 0 && x[1] % groups == 0 && w[0] == x[1] && y[0] == x[0] &&
                    y[1] == std::int64_t{w[1]} * groups);
    n.expect(n.text("auto_pad", "NOTSET") == "NOTSET" && n.attribute("output_shape") == nullptr,
             "with automatic padding");
    auto slide = [&](std::size_t k) {
        declared_window s{y[k + 2],
                          x[k + 2],
                          w[k + 2],
                          along(n, "strides", k, 1, all),
                          along(n, "dilations", k, 1, all),
                          padding(n, k, false, all),
                          padding(n, k, true, all)};
        std::int64_t const more = along(n, "output_padding", k, 0, all);
        n.expect(s.is_sound() && more >= 0 && more < std::max(s.stride, s.dilation), "with invalid windows");
        std::int64_t const covered = (s.out - 1) * s.stride + s.reach() + more;
        n.expect(covered <= longest_axis, "with invalid windows");
        n.expect(s.in == covered - s.before - s.after, "with another result shape than its windows give");
        return s.narrow();
    };
    conv_transpose s{x[0], groups, x[1] / groups, w[1], slide(0), slide(1), n.has_operand(2)};
    if (s.has_bias) n.expect_to_fit(n.operand_size(2) == sizes{y[1]});
    return s;
}

layer read_pooling(node_reader const& n)
{
    auto const x = n.planes(n.operand_size(0)), y = n.planes(n.result_size());
    std::size_t const all = n.operand_size(0).size() - 2;
    bool const rounds_up = n.integer("ceil_mode", 0) != 0;
    n.expect_to_fit(y[0] == x[0] && y[1] == x[1]);
    auto slide = [&](std::size_t k) {
        return window(n, k, x[k + 2], y[k + 2], along(n, "kernel_shape", k, 1, all), rounds_up);
    };
    pooling s{n.type() == "MaxPool", n.integer("count_include_pad", 0) != 0, x[0] * x[1], slide(0), slide(1)};
    auto covers = [](sliding const& w) { // taps farther apart may lie on both sides of the input
        return w.before <= (w.taps - 1) * w.dilation && w.after <= (w.taps - 1) * w.dilation &&
               (w.before == 0 || w.dilation <= w.in);
    };
    n.expect(covers(s.rows) && covers(s.columns), "with windows of padding alone");
    return s;
}

// --- reductions and normalization -----------------------------------------------------------------------

layer read_reduction(node_reader const& n, combined what, int axes_since)
{
    auto const& x = n.operand_size(0);
    std::size_t first = std::min<std::size_t>(2, x.size());
    bool keeps = true;
    if (axes_since != 0) {
        auto const listed = n.numbers_since(axes_since, "axes", 1).value_or(integers{});
        n.expect(!listed.empty() || n.integer("noop_with_empty_axes", 0) == 0, "over no axes");
        auto const is_reduced = n.axes(listed, x.size());
        first = listed.empty() ? 0 : x.size() - listed.size();
        n.expect_primitive(std::find(is_reduced.begin(), is_reduced.end(), true) ==
                               is_reduced.end() - static_cast<std::ptrdiff_t>(listed.size()),
                           "over axes that are not the last");
        keeps = n.integer("keepdims", 1) != 0;
    }
    reduction const s{product_of(x, 0, first), product_of(x, first, x.size()), what};
    sizes y(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(first));
    if (keeps) y.resize(x.size(), 1);
    n.expect_to_fit(n.result_size() == y && s.length > 0);
    return s;
}

layer read_normalization(node_reader const& n)
{
    auto const& x = n.operand_size(0);
    n.expect_to_fit(x.size() >= 2 && n.result_size() == x);
    n.expect(n.integer("training_mode", 0) == 0 && n.integer("spatial", 1) != 0, "in training mode");
    for (std::size_t i = 1; i != 5; ++i) n.expect_to_fit(n.operand_size(i) == sizes{x[1]});
    return normalization{x[0], x[1], product_of(x, 2, x.size()), n.real("epsilon", 1e-5f)};
}

layer read_local_response(node_reader const& n)
{
    auto const& x = n.operand_size(0);
    n.expect_to_fit(x.size() >= 2 && n.result_size() == x);
    int const size = n.narrow(n.integer("size", 0));
    n.expect(size > 0, "without a size");
    return local_response{x[0],
                          x[1],
                          product_of(x, 2, x.size()),
                          size,
                          n.real("alpha", 1e-4f),
                          n.real("beta", 0.75f),
                          n.real("bias", 1)};
}

/// Up to opset 12 all axes from `axis` on are one.
layer read_softmax(node_reader const& n)
{
    auto const& x = n.operand_size(0);
    n.expect_to_fit(n.result_size() == x);
    bool const is_flat = n.opset() < 13;
    std::size_t const axis = n.axis(n.integer("axis", is_flat ? 1 : -1), x.size());
    int const stride = is_flat ? 1 : product_of(x, axis + 1, x.size());
    int const length = is_flat ? product_of(x, axis, x.size()) : x[axis];
    return softmax{length == 0 ? 0 : product_of(x) / length, length, stride};
}

// --- element by element ---------------------------------------------------------------------------------

layer read_elementwise(node_reader const& n, function what, float low = 0, float high = 0)
{
    n.expect_to_fit(n.operand_size(0) == n.result_size());
    return elementwise{what, product_of(n.result_size()), low, high};
}

constexpr float unbounded = std::numeric_limits<float>::infinity();

layer read_clip(node_reader const& n)
{
    return read_elementwise(n, function::clip, n.real_since(11, "min", 1, -unbounded),
                            n.real_since(11, "max", 2, unbounded));
}

strided contiguous(node_reader const& n, sizes const& size)
{
    if (size.size() > strided::max_rank) n.refuse("of " + std::to_string(size.size()) + " dimensions");
    strided s;
    s.rank = static_cast<int>(size.size());
    for (int axis = s.rank - 1, stride = 1; axis >= 0; --axis) {
        s.size[axis] = size[static_cast<std::size_t>(axis)];
        s.stride[axis] = stride;
        stride *= s.size[axis];
    }
    return s;
}

/// An operand repeated along the axes that it lacks; aligned at the last axis.
strided broadcast(node_reader const& n, sizes const& operand, sizes const& result)
{
    strided const from = contiguous(n, operand);
    strided s = contiguous(n, result);
    int const missing_axes = s.rank - from.rank;
    n.expect_to_fit(missing_axes >= 0);
    for (int axis = 0; axis != s.rank; ++axis) {
        int const index = axis - missing_axes;
        bool const is_repeated = index < 0 || from.size[index] == 1;
        n.expect_to_fit(is_repeated || from.size[index] == s.size[axis]);
        s.stride[axis] = is_repeated ? 0 : from.stride[index];
    }
    return s;
}

/// The broadcast shape of two operands, if they can be broadcast.
sizes broadcast_size(sizes a, sizes b)
{
    if (a.size() < b.size()) a.swap(b);
    b.insert(b.begin(), a.size() - b.size(), 1);
    for (std::size_t i = 0; i != a.size(); ++i)
        if (a[i] == 1) a[i] = b[i];
    return a;
}

layer read_arithmetic(node_reader const& n, arithmetic what)
{
    broadcast_arithmetic s;
    s.what = what;
    s.count = product_of(n.result_size());
    sizes inferred;
    for (std::size_t i = 0; i != n.operand_count(); ++i) {
        s.operands.push_back(broadcast(n, n.operand_size(i), n.result_size()));
        inferred = broadcast_size(inferred, n.operand_size(i));
    }
    n.expect_to_fit(inferred == n.result_size());
    n.expect(n.attribute("broadcast") == nullptr, "with the broadcast of old files");
    n.expect(s.operands.size() >= (n.type() == "Sum" ? 1u : 2u), "of too few operands");
    return s;
}

// --- products -------------------------------------------------------------------------------------------

layer read_gemm(node_reader const& n)
{
    auto const &a = n.operand_size(0), &b = n.operand_size(1), &y = n.result_size();
    n.expect_to_fit(a.size() == 2 && b.size() == 2 && y.size() == 2);
    bool const transposes_a = n.integer("transA", 0) != 0, transposes_b = n.integer("transB", 0) != 0;
    product s;
    s.rows = a[transposes_a], s.depth = a[!transposes_a], s.columns = b[!transposes_b];
    n.expect_to_fit(b[transposes_b] == s.depth && y == sizes{s.rows, s.columns});
    s.a_row = transposes_a ? 1 : s.depth, s.a_depth = transposes_a ? s.rows : 1;
    s.b_depth = transposes_b ? 1 : s.columns, s.b_column = transposes_b ? s.depth : 1;
    s.alpha = n.real("alpha", 1), s.beta = n.real("beta", 1);
    s.has_c = n.has_operand(2);
    if (s.has_c) {
        strided const c = broadcast(n, n.operand_size(2), y);
        s.c_row = c.stride[0], s.c_column = c.stride[1];
    }
    return s;
}

layer read_product(node_reader const& n)
{
    auto const &a = n.operand_size(0), &b = n.operand_size(1), &y = n.result_size();
    n.expect(a.size() >= 2 && b.size() >= 2 && y.size() >= 2, "of vectors");
    product s;
    s.rows = a[a.size() - 2], s.depth = a.back(), s.columns = b.back();
    n.expect_to_fit(b[b.size() - 2] == s.depth && y[y.size() - 2] == s.rows && y.back() == s.columns);
    s.a_row = s.depth, s.b_depth = s.columns;
    auto batch = [](sizes const& size) { return sizes(size.begin(), size.end() - 2); };
    auto matrices = [&](sizes const& size, int matrix) {
        strided at = broadcast(n, batch(size), batch(y));
        for (int& stride : at.stride) stride *= matrix;
        return at;
    };
    n.expect_to_fit(broadcast_size(batch(a), batch(b)) == batch(y));
    s.batch = product_of(batch(y));
    s.a = matrices(a, s.rows * s.depth), s.b = matrices(b, s.depth * s.columns);
    return s;
}

// --- data movement --------------------------------------------------------------------------------------

layer read_transposition(node_reader const& n)
{
    auto const &x = n.operand_size(0), &y = n.result_size();
    strided const from = contiguous(n, x);
    strided_copy s{product_of(y), contiguous(n, y)};
    integers reversed;
    for (std::size_t i = x.size(); i-- != 0;) reversed.push_back(static_cast<std::int64_t>(i));
    integers const order = n.numbers("perm").value_or(reversed);
    n.expect_to_fit(order.size() == x.size() && y.size() == x.size());
    n.axes(order, x.size()); // each axis once
    for (std::size_t i = 0; i != order.size(); ++i) {
        std::size_t const axis = n.axis(order[i], x.size());
        n.expect_to_fit(y[i] == x[axis]);
        s.from.stride[i] = from.stride[axis];
    }
    return s;
}

layer read_concatenation(node_reader const& n)
{
    auto const& y = n.result_size();
    n.expect_to_fit(!y.empty());
    std::size_t const axis = n.axis(n.integer("axis", 1), y.size());
    concatenation s;
    s.axis = static_cast<int>(axis);
    s.rows = product_of(y, 0, axis);
    s.length = product_of(y, axis, y.size());
    std::int64_t joined = 0;
    for (std::size_t i = 0; i != n.operand_count(); ++i) {
        sizes x = n.operand_size(i);
        n.expect_to_fit(x.size() == y.size());
        s.lengths.push_back(product_of(x, axis, x.size()));
        joined += x[axis];
        x[axis] = y[axis];
        n.expect_to_fit(x == y);
    }
    n.expect_to_fit(joined == y[axis]);
    return s;
}

/// Others are evaluated.
layer read_resize(node_reader const& n)
{
    auto const &x = n.operand_size(0), &y = n.result_size();
    std::string const mode = n.text("mode", "nearest"),
                      where = n.text("coordinate_transformation_mode", "half_pixel"),
                      rounds = n.text("nearest_mode", "round_prefer_floor");
    bool const is_linear = mode == "linear";
    // By a multiple, the nearest element is the same in both.
    bool const is_nearest = mode == "nearest" && ((where == "half_pixel" && rounds == "round_prefer_floor") ||
                                                  (where == "asymmetric" && rounds == "floor"));
    bool const is_usual = (is_linear && where == "half_pixel") || is_nearest;
    bool const is_plain = n.opset() >= 11 && n.integer("antialias", 0) == 0 &&
                          n.attribute("axes") == nullptr &&
                          n.text("keep_aspect_ratio_policy", "stretch") == "stretch";
    bool const has_planes = x.size() == 4 && y.size() == 4 && y[0] == x[0] && y[1] == x[1];
    n.expect_primitive(is_usual && is_plain && has_planes, "with an unusual mode");
    for (std::size_t axis : {2u, 3u}) {
        n.expect_primitive(x[axis] > 0 && (is_linear || y[axis] % x[axis] == 0), "by no multiple");
        if (n.has_operand(3)) continue;
        auto const scales = n.constant_reals(2); // one that only rounds to the size is another one
        n.expect_primitive(scales.size() == 4 && std::abs(scales[axis] * static_cast<float>(x[axis]) -
                                                          static_cast<float>(y[axis])) < 1e-4f,
                           "by a scale that is rounded");
    }
    return resize{y[2], y[3], is_linear};
}

/// The results are all states, the last one, and of an LSTM its last cell.
layer read_recurrence(node_reader const& n)
{
    auto const& x = n.operand_size(0);
    std::string const way = n.text("direction", "forward");
    recurrence s;
    s.what = n.type() == "LSTM"                         ? recurrence::lstm
             : n.integer("linear_before_reset", 0) != 0 ? recurrence::linear_reset_gru
                                                        : recurrence::gru;
    s.is_reverse = way == "reverse", s.is_both_ways = way == "bidirectional";
    n.expect_to_fit(x.size() == 3);
    s.steps = x[0], s.images = x[1], s.inputs = x[2], s.states = n.narrow(n.integer("hidden_size", 0));
    n.expect(s.states > 0 && s.states <= longest_axis / 8, "without a size");
    int const d = s.directions(), g = s.gates() * s.states;
    n.expect(double{1} * s.steps * s.images * d * s.states < INT_MAX, "of too many elements");
    n.expect(n.integer("layout", 0) == 0, "of batches first");
    n.expect(n.attribute("activations") == nullptr && n.attribute("clip") == nullptr &&
                 n.integer("input_forget", 0) == 0 && !n.has_operand(7),
             "with unusual gates");
    n.expect_to_fit(n.operand_size(1) == sizes{d, g, s.inputs} && n.operand_size(2) == sizes{d, g, s.states});
    if (n.has_operand(3)) n.expect_to_fit(n.operand_size(3) == sizes{d, 2 * g});
    if (n.has_operand(4))
        for (auto length : n.constant_integers(4)) n.expect(length == s.steps, "of unequal lengths");
    for (std::size_t i : {5u, 6u})
        if (n.has_operand(i)) n.expect_to_fit(n.operand_size(i) == sizes{d, s.images, s.states});
    n.expect(s.what != recurrence::lstm || n.has_operand(5) == n.has_operand(6), "with one of two states");
    if (n.has_result(0)) n.expect_to_fit(n.result_size() == sizes{s.steps, d, s.images, s.states});
    n.expect_to_fit(s.what == recurrence::lstm || !n.has_result(2));
    for (std::size_t i : {1u, 2u})
        if (n.has_result(i)) n.expect_to_fit(n.result_size(i) == sizes{d, s.images, s.states});
    return s;
}

layer read_layer_normalization(node_reader const& n)
{
    auto const& x = n.operand_size(0);
    std::size_t const axis = n.axis(n.integer("axis", -1), x.size());
    sizes const last(x.begin() + static_cast<std::ptrdiff_t>(axis), x.end());
    n.expect_to_fit(n.result_size() == x);
    n.expect(n.operand_size(1) == last && (!n.has_operand(2) || n.operand_size(2) == last),
             "with a scale of another shape");
    return layer_normalization{product_of(x, 0, axis), product_of(last), n.real("epsilon", 1e-5f)};
}

// --- without arithmetic ---------------------------------------------------------------------------------

layer read_view(node_reader const& n)
{
    value_id const from = n.operand(0), to = n.result();
    auto const &x = n.declared(from), &y = n.declared(to);
    n.expect_to_fit(x.element == y.element && n.bytes(from) != sublet::no_size &&
                    n.bytes(from) == n.bytes(to));
    return view{};
}

std::vector<unsigned char> unsigned_bytes(std::vector<std::byte> const& bytes)
{
    std::vector<unsigned char> all;
    for (std::byte b : bytes) all.push_back(std::to_integer<unsigned char>(b));
    return all;
}

/// Elements that a node holds.
struct held_elements {
    int type = 0; // ONNX's number
    std::vector<std::byte> bytes;
};

held_elements elements_of(node_reader const& n)
{
    using tensor = onnx::TensorProto;
    if (auto const* const a = n.attribute("value"); a != nullptr && a->has_t())
        return {a->t().data_type(), bytes_of(a->t())};
    if (auto const* const a = n.attribute("value_float"))
        return {tensor::FLOAT, bytes_of_numbers(std::vector<float>{a->f()})};
    if (auto const* const a = n.attribute("value_floats"))
        return {tensor::FLOAT, bytes_of_numbers(a->floats())};
    if (auto const* const a = n.attribute("value_int"))
        return {tensor::INT64, bytes_of_numbers(std::vector<std::int64_t>{a->i()})};
    if (auto const* const a = n.attribute("value_ints")) return {tensor::INT64, bytes_of_numbers(a->ints())};
    if (n.type() == "ConstantOfShape") return {tensor::FLOAT, std::vector<std::byte>(sizeof(float))};
    return {};
}

layer read_constant(node_reader const& n)
{
    held_elements const held = elements_of(n);
    n.expect(held.type == n.declared(n.result()).element, "of an unsupported type");
    n.expect(held.bytes.size() == n.bytes(n.result()), "of another size than its result");
    return constant{unsigned_bytes(held.bytes)};
}

/// One element, repeated until the result is full.
layer read_constant_of_shape(node_reader const& n)
{
    held_elements const held = elements_of(n);
    auto const& y = n.declared(n.result());
    n.expect(held.type == y.element && n.result_type().element != tensor_type::other,
             "of an unsupported type");
    n.expect(held.bytes.size() == width_of(n.result_type().element),
             "of another number of elements than one");
    if (n.is_known(0)) n.expect_to_fit(n.constant_integers(0) == y.size);
    return constant{unsigned_bytes(held.bytes)};
}

// --- the file -------------------------------------------------------------------------------------------

layer read_layer(node_reader const& n)
{
    std::string const& type = n.type();
    if (type == "Conv") return read_convolution(n);
    if (type == "ConvTranspose") return read_conv_transpose(n);
    if (type == "MaxPool" || type == "AveragePool") return read_pooling(n);
    if (type == "GlobalAveragePool") return read_reduction(n, combined::mean, 0);
    if (type == "GlobalMaxPool") return read_reduction(n, combined::largest, 0);
    if (type == "ReduceMean") return read_reduction(n, combined::mean, 18);
    if (type == "ReduceSum") return read_reduction(n, combined::sum, 13);
    if (type == "ReduceMax") return read_reduction(n, combined::largest, 18);
    if (type == "ReduceMin") return read_reduction(n, combined::smallest, 18);
    if (type == "BatchNormalization") return read_normalization(n);
    if (type == "LRN") return read_local_response(n);
    if (type == "Softmax") return read_softmax(n);
    if (type == "Relu") return read_elementwise(n, function::clip, 0, unbounded);
    if (type == "Clip") return read_clip(n);
    if (type == "Sigmoid") return read_elementwise(n, function::sigmoid);
    if (type == "Tanh") return read_elementwise(n, function::tanh);
    if (type == "Erf") return read_elementwise(n, function::erf);
    if (type == "Sqrt") return read_elementwise(n, function::sqrt);
    if (type == "Exp") return read_elementwise(n, function::exp);
    if (type == "Log") return read_elementwise(n, function::log);
    if (type == "Abs") return read_elementwise(n, function::abs);
    if (type == "Neg") return read_elementwise(n, function::negative);
    if (type == "Elu") return read_elementwise(n, function::elu, n.real("alpha", 1));
    if (type == "LeakyRelu") return read_elementwise(n, function::leaky, n.real("alpha", 0.01f));
    if (type == "Softplus") return read_elementwise(n, function::softplus);
    if (type == "HardSigmoid")
        return read_elementwise(n, function::hard_sigmoid, n.real("alpha", 0.2f), n.real("beta", 0.5f));
    if (type == "HardSwish") return read_elementwise(n, function::hard_swish);
    if (type == "Add" || type == "Sum") return read_arithmetic(n, arithmetic::add);
    if (type == "Sub") return read_arithmetic(n, arithmetic::subtract);
    if (type == "Mul") return read_arithmetic(n, arithmetic::multiply);
    if (type == "Div") return read_arithmetic(n, arithmetic::divide);
    if (type == "Pow") return read_arithmetic(n, arithmetic::power);
    if (type == "Gemm") return read_gemm(n);
    if (type == "MatMul") return read_product(n);
    if (type == "Transpose") return read_transposition(n);
    if (type == "Concat") return read_concatenation(n);
    if (type == "LSTM" || type == "GRU") return read_recurrence(n);
    if (type == "LayerNormalization") return read_layer_normalization(n);
    if (type == "Resize") return read_resize(n);
    if (type == "Constant") return read_constant(n);
    if (type == "ConstantOfShape") return read_constant_of_shape(n);
    if (type == "Reshape" || type == "Flatten" || type == "Squeeze" || type == "Unsqueeze" ||
        type == "Identity" || type == "Dropout")
        return read_view(n);
    throw unsupported_layer{type, true};
}

/// A name from a file for a message of one line.
std::string printable(std::string const& text)
{
    std::string const all = plan_model::quoted(text);
    return all.substr(1, all.size() - 2);
}

tensor_type type_of(plan_model::value_type const& declared, sublet::byte_count bytes)
{
    tensor_type const none;
    tensor_type type{width_of(declared.element) == 0 ? tensor_type::other : declared.element, {}};
    if (declared.what != plan_model::value_type::tensor || !declared.has_rank || bytes == sublet::no_size)
        return none;
    sublet::byte_count expected = width_of(type.element);
    for (auto n : declared.size) {
        if (n >= INT_MAX) return none;
        type.size.push_back(static_cast<int>(n));
        expected = bytes == 0 ? 0 : expected * static_cast<sublet::byte_count>(n);
    }
    return type.element != tensor_type::other && expected == bytes ? type : none;
}

void read_types(onnx::GraphProto const& graph, layered_network& all)
{
    std::unordered_map<std::string_view, value_id> ids;
    for (value_id v = 0; v != all.net.values.size(); ++v) {
        ids.emplace(all.net.values[v].name, v);
        all.types.push_back(type_of(all.net.types[v], all.net.values[v].bytes));
        all.elements_of.push_back(v);
    }
    all.data.resize(all.types.size());
    for (auto const& t : graph.initializer()) all.data[ids.at(t.name())] = bytes_of(t);
    for (auto const& t : graph.sparse_initializer()) all.types[ids.at(t.values().name())] = {};
}

bool has_one_result(plan_model::operation const& operation)
{
    return std::count_if(operation.outputs.begin(), operation.outputs.end(),
                         [](value_id v) { return v != sublet::no_value; }) == 1;
}

bool may_have_several(node_reader const& n) { return n.type() == "LSTM" || n.type() == "GRU"; }

layer read_supported(node_reader const& n, plan_model::operation const& operation, layered_network const& all)
{
    try {
        n.expect_primitive(has_one_result(operation) || may_have_several(n), "with several results");
        return read_layer(n);
    } catch (unsupported_layer const& reason) {
        bool const is_large = reason.why == n.type() && plan_model::has_rule(n.type());
        if (reason.may_evaluate && is_evaluated(all, operation)) return evaluated{};
        if (is_large) n.refuse("of too many elements, or of an unknown shape");
        throw;
    }
}

/// Adds the layer of a node. What it computes must fit the planned result.
void add_layer(plan_model::standard_operators const& standard, node_reader const& n,
               onnx::NodeProto const& node, plan_model::operation const& operation, layered_network& all)
{
    if (!standard.contains(node))
        throw unsupported_layer{(node.domain().empty() ? "the function " : node.domain() + '.') +
                                node.op_type()};
    if (!operation.mutated.empty()) n.refuse("that writes its operands");
    layer const what = read_supported(n, operation, all);
    value_id const result = n.result(n.has_result(0) || !may_have_several(n) ? 0 : n.has_result(1) ? 1 : 2);
    value_id const of = all.net.values[result].alias_of;
    bool const is_view = std::holds_alternative<view>(what);
    if (operation.inputs.size() != n.operand_count()) n.refuse("with subgraphs");
    if (is_view && node.op_type() == "Dropout" && of == sublet::no_value) n.refuse("in training mode");
    if (of != sublet::no_value && !(is_view && of == n.operand(0)))
        n.refuse("with a result declared as a view");
    if (is_view) all.elements_of[result] = all.elements_of[n.operand(0)];
    if (node.op_type() == "Constant") all.data[result] = elements_of(n).bytes;
    all.layers.push_back(what);
}

} // namespace

std::vector<layered_network::unsupported_reason> layered_network::missing() const
{
    struct found {
        std::string where;
        std::size_t times = 0;
    };
    std::map<std::string, found> reasons;
    auto add = [&](std::string const& why, std::string where) {
        found& entry = reasons.try_emplace(why, found{std::move(where)}).first->second;
        ++entry.times;
    };
    for (std::size_t i = 0; i != layers.size(); ++i)
        if (auto const* const u = std::get_if<unsupported>(&layers[i])) add(u->why, net.operations[i].label);
    for (std::size_t v = 0; v != net.values.size(); ++v)
        if (has_role(net.values[v].role, sublet::value_role::external) &&
            types[v].element == tensor_type::other)
            add("a weight or input of an unsupported type",
                "value " + plan_model::quoted(net.values[v].name));
    std::vector<unsupported_reason> all;
    for (auto const& [why, entry] : reasons)
        all.push_back({why + " (" + std::to_string(entry.times) + ')', entry.where});
    return all;
}

layered_network read_layers(std::string const& file, open_sizes const& given)
{
    auto const read = std::make_shared<onnx::ModelProto>(plan_model::parse_onnx(file));
    onnx::ModelProto& model = *read;
    layered_network all;
    put_inputs(model, given.inputs);
    plan_model::set_open_dimensions(file, model, given.dimensions);
    while (put_taken_branches(model, plan_model::infer_shapes(model, false, given.values))) {}
    all.model = read;
    all.net = plan_model::read_onnx(file, model);
    read_types(model.graph(), all);
    plan_model::standard_operators const standard(model);
    std::int64_t& opset = all.opset;
    for (auto const& set : model.opset_import())
        if (set.domain().empty() || set.domain() == "ai.onnx") opset = set.version();

    for (int i = 0; i != model.graph().node_size(); ++i) {
        auto const& node = model.graph().node(i);
        auto const& operation = all.net.operations[static_cast<std::size_t>(i)];
        try {
            add_layer(standard, node_reader(node, operation, all, opset), node, operation, all);
        } catch (unsupported_layer const& r) {
            all.layers.push_back(unsupported{printable(r.why)});
        }
    }
    return all;
}

} // namespace run_network
