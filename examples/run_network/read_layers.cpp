// SPDX-License-Identifier: BSL-1.0

// From ONNX operators to layers. Attributes, shapes and constants are looked at here and nowhere else: a node
// either becomes a structure of plain numbers that its kernel can trust, or a sentence why not.

#include "read_layers.hpp"

#include "../plan_model/read_onnx.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

namespace run_network {
namespace {

using sublet::value_id;

struct refusal {
    std::string why;
};

using sizes = std::vector<int>;

int product_of(sizes const& size, std::size_t first, std::size_t last)
{
    int all = 1;
    for (; first != last; ++first) all *= size[first];
    return all;
}
int product_of(sizes const& size) { return product_of(size, 0, size.size()); }

tensor_type::kind kind_of(int element)
{
    if (element == onnx::TensorProto::FLOAT) return tensor_type::float_32;
    if (element == onnx::TensorProto::INT32) return tensor_type::int_32;
    return element == onnx::TensorProto::INT64 ? tensor_type::int_64 : tensor_type::other;
}

template <class Numbers>
std::vector<std::byte> bytes_of_numbers(Numbers const& numbers)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(numbers.size()) * sizeof(*numbers.begin()));
    if (!bytes.empty()) std::memcpy(bytes.data(), &*numbers.begin(), bytes.size());
    return bytes;
}

std::vector<std::byte> bytes_of(onnx::TensorProto const& t)
{
    if (!t.raw_data().empty()) return bytes_of_numbers(t.raw_data());
    switch (t.data_type()) {
    case onnx::TensorProto::FLOAT: return bytes_of_numbers(t.float_data());
    case onnx::TensorProto::INT32: return bytes_of_numbers(t.int32_data());
    case onnx::TensorProto::INT64: return bytes_of_numbers(t.int64_data());
    default: return {};
    }
}

template <class Number>
std::vector<Number> numbers_in(std::vector<std::byte> const& bytes)
{
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
    return numbers;
}

/// One node: its attributes with their defaults, the shapes of its operands, what is known of them.
class node_reader {
public:
    node_reader(onnx::NodeProto const& node, plan_model::operation const& operation,
                layered_network const& all, std::int64_t opset)
        : node_(node), operation_(operation), all_(all), opset_(opset)
    {
    }

    std::int64_t opset() const { return opset_; }
    std::string const& type() const { return node_.op_type(); }
    [[noreturn]] void refuse(std::string const& what) const { throw refusal{type() + ' ' + what}; }

    onnx::AttributeProto const* attribute(char const* name) const
    {
        for (auto const& a : node_.attribute())
            if (a.name() == name) return &a;
        return nullptr;
    }
    int integer(char const* name, int otherwise) const
    {
        auto const* const a = attribute(name);
        return a == nullptr ? otherwise : narrow(a->i());
    }
    float real(char const* name, float otherwise) const
    {
        auto const* const a = attribute(name);
        return a == nullptr ? otherwise : a->f();
    }
    std::string text(char const* name, char const* otherwise) const
    {
        auto const* const a = attribute(name);
        return a == nullptr ? otherwise : a->s();
    }
    std::optional<sizes> integers(char const* name) const
    {
        auto const* const a = attribute(name);
        if (a == nullptr) return std::nullopt;
        return narrow(std::vector<std::int64_t>(a->ints().begin(), a->ints().end()));
    }
    sizes integers(char const* name, std::size_t count, int otherwise) const
    {
        auto const said = integers(name);
        if (said && said->size() != count) refuse(std::string("with an odd number of ") + name);
        return said ? *said : sizes(count, otherwise);
    }

    bool has_operand(std::size_t i) const
    {
        return i < operation_.inputs.size() && operation_.inputs[i] != sublet::no_value;
    }
    std::size_t operand_count() const { return operation_.inputs.size(); }
    value_id operand(std::size_t i) const
    {
        if (!has_operand(i)) refuse("without operand " + std::to_string(i));
        return operation_.inputs[i];
    }
    tensor_type const& operand_type(std::size_t i) const { return all_.types[operand(i)]; }
    tensor_type const& result_type() const
    {
        if (operation_.outputs.empty() || operation_.outputs[0] == sublet::no_value)
            refuse("without a result");
        return all_.types[operation_.outputs[0]];
    }
    sizes const& operand_size(std::size_t i) const { return size_of(operand_type(i)); }
    sizes const& result_size() const { return size_of(result_type()); }

    /// What the file holds of an operand.
    sizes constant_integers(std::size_t i) const
    {
        auto const& type = operand_type(i);
        auto const& bytes = known(i);
        if (type.element == tensor_type::int_32) return numbers_in<int>(bytes);
        if (type.element != tensor_type::int_64) refuse("with an operand of an odd type");
        return narrow(numbers_in<std::int64_t>(bytes));
    }
    sizes known_integers(std::size_t i) const
    {
        return all_.data[operand(i)].empty() ? sizes{} : constant_integers(i);
    }
    std::vector<float> constant_reals(std::size_t i) const
    {
        if (operand_type(i).element != tensor_type::float_32) refuse("with an operand of an odd type");
        return numbers_in<float>(known(i));
    }
    /// An operand, or the attribute that it was before.
    std::optional<sizes> integers_since(int since, char const* name, std::size_t operand) const
    {
        if (opset_ < since) return integers(name);
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

    std::size_t axis(int said, std::size_t rank) const
    {
        int const counted = said < 0 ? said + static_cast<int>(rank) : said;
        if (counted < 0 || counted >= static_cast<int>(rank)) refuse("along an axis that is not there");
        return static_cast<std::size_t>(counted);
    }
    void expect(bool holds, char const* otherwise) const
    {
        if (!holds) refuse(otherwise);
    }
    void expect_planes(sizes const& size) const
    {
        if (size.size() != 4)
            refuse("over " + std::to_string(static_cast<int>(size.size()) - 2) + " dimensions");
    }

private:
    /// Beyond 32 bits "to the end" is meant.
    static int narrow(std::int64_t i)
    {
        return static_cast<int>(std::clamp<std::int64_t>(i, INT_MIN, INT_MAX));
    }
    static sizes narrow(std::vector<std::int64_t> const& wide)
    {
        sizes all;
        for (auto i : wide) all.push_back(narrow(i));
        return all;
    }
    sizes const& size_of(tensor_type const& type) const
    {
        if (type.element != tensor_type::float_32) refuse("of other numbers than floats");
        double elements = 1; // formulas count in 32 bits
        for (int n : type.size) elements *= n;
        if (elements >= INT_MAX) refuse("of too many elements");
        return type.size;
    }
    std::vector<std::byte> const& known(std::size_t i) const
    {
        auto const& bytes = all_.data[operand(i)];
        if (bytes.empty() && operand_type(i).count() != 0)
            refuse("with an operand that must be known beforehand");
        return bytes;
    }

    onnx::NodeProto const& node_;
    plan_model::operation const& operation_;
    layered_network const& all_;
    std::int64_t opset_;
};

// --- windows --------------------------------------------------------------------------------------------

struct padded {
    int before, after;
};

/// As `auto_pad` says: the result is so large, and this is the padding for it.
padded same_padding(sliding const& w, bool is_upper)
{
    int const all = std::max(0, (w.out - 1) * w.stride + (w.taps - 1) * w.dilation + 1 - w.in);
    int const less = all / 2, more = all - less;
    return is_upper ? padded{less, more} : padded{more, less};
}

sliding window(node_reader const& n, std::size_t k, int in, int out, int taps, bool may_round_up)
{
    sliding w{in, out, taps, n.integers("strides", 2, 1)[k], n.integers("dilations", 2, 1)[k]};
    std::string const automatic = n.text("auto_pad", "NOTSET");
    if (automatic == "NOTSET") {
        auto const pads = n.integers("pads", 4, 0);
        w.before = pads[k], w.after = pads[k + 2];
    } else if (automatic != "VALID") {
        auto const same = same_padding(w, automatic == "SAME_UPPER");
        w.before = same.before, w.after = same.after;
    }
    n.expect(w.stride > 0 && w.dilation > 0 && w.taps > 0 && w.before >= 0 && w.after >= 0 && in > 0 &&
                 out > 0,
             "with odd windows");
    int const room = in + w.before + w.after - (taps - 1) * w.dilation - 1;
    bool const fits = room >= 0 && out == room / w.stride + 1;
    bool const fits_rounded = may_round_up && room >= 0 && out == (room + w.stride - 1) / w.stride + 1 &&
                              (out - 1) * w.stride < in + w.before;
    n.expect(fits || fits_rounded, "whose result has another shape than its windows give");
    return w;
}

layer read_convolution(node_reader const& n)
{
    auto const &x = n.operand_size(0), &w = n.operand_size(1), &y = n.result_size();
    n.expect_planes(x);
    int const groups = n.integer("group", 1);
    n.expect(w.size() == 4 && y.size() == 4 && groups > 0 && x[1] % groups == 0 && w[0] % groups == 0 &&
                 w[1] == x[1] / groups && y[0] == x[0] && y[1] == w[0],
             "of shapes that do not fit");
    convolution s{x[0],
                  groups,
                  w[1],
                  w[0] / groups,
                  window(n, 0, x[2], y[2], w[2], false),
                  window(n, 1, x[3], y[3], w[3], false),
                  n.has_operand(2)};
    if (s.has_bias) n.expect(n.operand_size(2) == sizes{w[0]}, "of shapes that do not fit");
    return s;
}

layer read_spreading(node_reader const& n)
{
    auto const &x = n.operand_size(0), &w = n.operand_size(1), &y = n.result_size();
    n.expect_planes(x);
    int const groups = n.integer("group", 1);
    n.expect(w.size() == 4 && y.size() == 4 && groups > 0 && x[1] % groups == 0 && w[0] == x[1] &&
                 y[0] == x[0] && y[1] == w[1] * groups,
             "of shapes that do not fit");
    n.expect(n.text("auto_pad", "NOTSET") == "NOTSET", "that pads by itself");
    auto const strides = n.integers("strides", 2, 1), dilations = n.integers("dilations", 2, 1);
    auto const pads = n.integers("pads", 4, 0), more = n.integers("output_padding", 2, 0);
    auto slide = [&](std::size_t k) {
        sliding s{y[k + 2], x[k + 2], w[k + 2], strides[k], dilations[k], pads[k], pads[k + 2]};
        n.expect(s.stride > 0 && s.dilation > 0 && s.before >= 0 && s.after >= 0, "with odd windows");
        int const covered = (s.out - 1) * s.stride + (s.taps - 1) * s.dilation + 1;
        n.expect(s.in == covered + more[k] - s.before - s.after,
                 "whose result has another shape than its windows give");
        return s;
    };
    spreading s{x[0], groups, x[1] / groups, w[1], slide(0), slide(1), n.has_operand(2)};
    if (s.has_bias) n.expect(n.operand_size(2) == sizes{y[1]}, "of shapes that do not fit");
    return s;
}

layer read_pooling(node_reader const& n)
{
    auto const &x = n.operand_size(0), &y = n.result_size();
    n.expect_planes(x);
    auto const taps = n.integers("kernel_shape", 2, 1);
    bool const rounds_up = n.integer("ceil_mode", 0) != 0;
    n.expect(y.size() == 4 && y[0] == x[0] && y[1] == x[1], "of shapes that do not fit");
    pooling s{n.type() == "MaxPool", n.integer("count_include_pad", 0) != 0, x[0] * x[1],
              window(n, 0, x[2], y[2], taps[0], rounds_up), window(n, 1, x[3], y[3], taps[1], rounds_up)};
    auto covers = [](sliding const& w) {
        return w.before <= (w.taps - 1) * w.dilation && w.after <= (w.taps - 1) * w.dilation;
    };
    n.expect(covers(s.rows) && covers(s.columns), "with windows of padding alone");
    return s;
}

// --- one value for many ---------------------------------------------------------------------------------

layer read_mean(node_reader const& n)
{
    auto const& x = n.operand_size(0);
    std::size_t first = std::min<std::size_t>(2, x.size());
    if (n.type() == "ReduceMean") {
        sizes axes = n.integers_since(18, "axes", 1).value_or(sizes{});
        for (int& a : axes) a = static_cast<int>(n.axis(a, x.size()));
        std::sort(axes.begin(), axes.end());
        first = axes.empty() ? 0 : static_cast<std::size_t>(axes[0]);
        for (std::size_t i = 0; i != axes.size(); ++i)
            n.expect(axes[i] == static_cast<int>(first + i), "over axes that are not the last");
        n.expect(axes.empty() || first + axes.size() == x.size(), "over axes that are not the last");
    }
    mean const s{product_of(x, 0, first), product_of(x, first, x.size())};
    n.expect(product_of(n.result_size()) == s.rows && s.length > 0, "of shapes that do not fit");
    return s;
}

layer read_normalization(node_reader const& n)
{
    auto const& x = n.operand_size(0);
    n.expect(x.size() >= 2 && n.result_size() == x, "of shapes that do not fit");
    n.expect(n.integer("training_mode", 0) == 0 && n.integer("spatial", 1) != 0, "that trains");
    for (std::size_t i = 1; i != 5; ++i)
        n.expect(n.operand_size(i) == sizes{x[1]}, "of shapes that do not fit");
    return normalization{x[0], x[1], product_of(x, 2, x.size()), n.real("epsilon", 1e-5f)};
}

layer read_local_response(node_reader const& n)
{
    auto const& x = n.operand_size(0);
    n.expect(x.size() >= 2 && n.result_size() == x, "of shapes that do not fit");
    int const size = n.integer("size", 0);
    n.expect(size > 0, "without a size");
    return local_response{x[0],
                          x[1],
                          product_of(x, 2, x.size()),
                          size,
                          n.real("alpha", 1e-4f),
                          n.real("beta", 0.75f),
                          n.real("bias", 1)};
}

/// Up to opset 12 all axes from `axis` on were one.
layer read_soft_maximum(node_reader const& n)
{
    auto const& x = n.operand_size(0);
    n.expect(n.result_size() == x, "of shapes that do not fit");
    bool const is_flat = n.opset() < 13;
    std::size_t const axis = n.axis(n.integer("axis", is_flat ? 1 : -1), x.size());
    int const stride = is_flat ? 1 : product_of(x, axis + 1, x.size());
    int const length = is_flat ? product_of(x, axis, x.size()) : x[axis];
    return soft_maximum{length == 0 ? 0 : product_of(x) / length, length, stride};
}

// --- element by element ---------------------------------------------------------------------------------

layer read_elementwise(node_reader const& n, function what, float low = 0, float high = 0)
{
    n.expect(n.operand_size(0) == n.result_size(), "of shapes that do not fit");
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

/// An operand repeated along what it lacks of the result; aligned at the last axis.
strided broadcast(node_reader const& n, sizes const& operand, sizes const& result)
{
    strided const from = contiguous(n, operand);
    strided s = contiguous(n, result);
    int const lacks = s.rank - from.rank;
    n.expect(lacks >= 0, "of shapes that do not fit");
    for (int axis = 0; axis != s.rank; ++axis) {
        int const mine = axis - lacks;
        bool const is_repeated = mine < 0 || from.size[mine] == 1;
        n.expect(is_repeated || from.size[mine] == s.size[axis], "of shapes that do not fit");
        s.stride[axis] = is_repeated ? 0 : from.stride[mine];
    }
    return s;
}

layer read_combination(node_reader const& n, arithmetic what)
{
    combination s;
    s.what = what;
    s.count = product_of(n.result_size());
    for (std::size_t i = 0; i != n.operand_count(); ++i)
        s.operands.push_back(broadcast(n, n.operand_size(i), n.result_size()));
    n.expect(n.attribute("broadcast") == nullptr, "with the broadcast of old files");
    n.expect(s.operands.size() >= (n.type() == "Sum" ? 1u : 2u), "of too few operands");
    return s;
}

// --- products -------------------------------------------------------------------------------------------

layer read_gemm(node_reader const& n)
{
    auto const &a = n.operand_size(0), &b = n.operand_size(1), &y = n.result_size();
    n.expect(a.size() == 2 && b.size() == 2 && y.size() == 2, "of shapes that do not fit");
    bool const flips_a = n.integer("transA", 0) != 0, flips_b = n.integer("transB", 0) != 0;
    product s;
    s.rows = a[flips_a], s.depth = a[!flips_a], s.columns = b[!flips_b];
    n.expect(b[flips_b] == s.depth && y == sizes{s.rows, s.columns}, "of shapes that do not fit");
    s.a_row = flips_a ? 1 : s.depth, s.a_depth = flips_a ? s.rows : 1;
    s.b_depth = flips_b ? 1 : s.columns, s.b_column = flips_b ? s.depth : 1;
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
    n.expect(b[b.size() - 2] == s.depth && y[y.size() - 2] == s.rows && y.back() == s.columns,
             "of shapes that do not fit");
    s.a_row = s.depth, s.b_depth = s.columns;
    auto batch = [](sizes const& size) { return sizes(size.begin(), size.end() - 2); };
    auto matrices = [&](sizes const& size, int matrix) {
        strided at = broadcast(n, batch(size), batch(y));
        for (int& stride : at.stride) stride *= matrix;
        return at;
    };
    s.batch = product_of(batch(y));
    s.a = matrices(a, s.rows * s.depth), s.b = matrices(b, s.depth * s.columns);
    return s;
}

// --- elements that move ---------------------------------------------------------------------------------

layer read_transposition(node_reader const& n)
{
    auto const &x = n.operand_size(0), &y = n.result_size();
    strided const from = contiguous(n, x);
    rearrangement s{product_of(y), contiguous(n, y)};
    sizes order = n.integers("perm").value_or(sizes{});
    for (std::size_t i = order.size(); i < x.size(); ++i) order.push_back(static_cast<int>(x.size() - 1 - i));
    n.expect(order.size() == x.size() && y.size() == x.size(), "of shapes that do not fit");
    for (std::size_t i = 0; i != order.size(); ++i) {
        std::size_t const axis = n.axis(order[i], x.size());
        n.expect(y[i] == x[axis], "of shapes that do not fit");
        s.from.stride[i] = from.stride[axis];
    }
    return s;
}

layer read_slice(node_reader const& n)
{
    auto const &x = n.operand_size(0), &y = n.result_size();
    n.expect(y.size() == x.size(), "of shapes that do not fit");
    auto const starts = n.integers_since(10, "starts", 1), ends = n.integers_since(10, "ends", 2);
    n.expect(starts && ends && starts->size() == ends->size(), "without a begin and an end");
    sizes all;
    for (std::size_t i = 0; i != starts->size(); ++i) all.push_back(static_cast<int>(i));
    sizes const axes = n.integers_since(10, "axes", 3).value_or(all);
    sizes const steps = n.opset() < 10 ? sizes(all.size(), 1)
                                       : n.integers_since(10, "steps", 4).value_or(sizes(all.size(), 1));
    n.expect(axes.size() == all.size() && steps.size() == all.size(), "of shapes that do not fit");
    strided s = contiguous(n, x);
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::size_t const axis = n.axis(axes[i], x.size());
        int const in = x[axis], step = steps[i], low = step > 0 ? 0 : -1, high = step > 0 ? in : in - 1;
        n.expect(step != 0, "with a step of 0");
        auto position = [&](int said, int least) {
            return static_cast<int>(
                std::clamp<std::int64_t>(said < 0 ? std::int64_t{said} + in : said, least, high));
        };
        int const begin = position((*starts)[i], 0), end = position((*ends)[i], low);
        int const length = step > 0 ? end - begin : begin - end, stride = std::abs(step);
        s.first += begin * s.stride[axis];
        s.stride[axis] *= step;
        s.size[axis] = length <= 0 ? 0 : (length + stride - 1) / stride;
    }
    for (std::size_t i = 0; i != y.size(); ++i)
        n.expect(y[i] == s.size[i], "whose result has another shape than its bounds give");
    return rearrangement{product_of(y), s};
}

layer read_joining(node_reader const& n)
{
    auto const& y = n.result_size();
    n.expect(!y.empty(), "of shapes that do not fit");
    std::size_t const axis = n.axis(n.integer("axis", 1), y.size());
    joining s;
    s.rows = product_of(y, 0, axis);
    for (std::size_t i = 0; i != n.operand_count(); ++i) {
        sizes x = n.operand_size(i);
        n.expect(x.size() == y.size(), "of shapes that do not fit");
        s.lengths.push_back(product_of(x, axis, x.size()));
        s.length += s.lengths.back();
        x[axis] = y[axis];
        n.expect(x == y, "of shapes that do not fit");
    }
    n.expect(s.length == product_of(y, axis, y.size()), "of shapes that do not fit");
    return s;
}

layer read_padding(node_reader const& n)
{
    auto const &x = n.operand_size(0), &y = n.result_size();
    n.expect(n.text("mode", "constant") == "constant", "with other than a constant");
    n.expect(!n.has_operand(3), "along some axes");
    auto const pads = n.integers_since(11, "pads", 1);
    n.expect(pads && pads->size() == 2 * x.size() && y.size() == x.size(), "of shapes that do not fit");
    padding s;
    s.count = product_of(y);
    s.inside = contiguous(n, x);
    for (std::size_t i = 0; i != x.size(); ++i) {
        s.before[i] = (*pads)[i];
        s.in[i] = x[i];
        s.inside.size[i] = y[i];
        n.expect(y[i] == x[i] + (*pads)[i] + (*pads)[i + x.size()], "of shapes that do not fit");
    }
    s.value = n.real_since(11, "value", 2, 0);
    return s;
}

layer read_selection(node_reader const& n)
{
    auto const& x = n.operand_size(0);
    auto const& indices = n.operand_type(1);
    std::size_t const axis = n.axis(n.integer("axis", 0), x.size());
    n.expect(indices.element != tensor_type::other && indices.element != tensor_type::float_32,
             "with indices of an odd type");
    selection const s{product_of(x, 0, axis), x[axis], product_of(x, axis + 1, x.size()),
                      product_of(indices.size), indices.element == tensor_type::int_64};
    n.expect(product_of(n.result_size()) == s.outer * s.indices * s.inner, "of shapes that do not fit");
    for (int k : n.known_integers(1)) n.expect(k >= -s.axis && k < s.axis, "of rows that are not there");
    return s;
}

layer read_enlargement(node_reader const& n)
{
    auto const &x = n.operand_size(0), &y = n.result_size();
    n.expect_planes(x);
    n.expect(n.opset() >= 11 && n.text("mode", "nearest") == "linear" &&
                 n.text("coordinate_transformation_mode", "half_pixel") == "half_pixel" &&
                 n.text("keep_aspect_ratio_policy", "stretch") == "stretch" &&
                 n.integer("antialias", 0) == 0 && n.attribute("axes") == nullptr,
             "other than linear between centres");
    n.expect(y.size() == 4 && y[0] == x[0] && y[1] == x[1], "of images or channels");
    enlargement s{x[0] * x[1], x[2], x[3], y[2], y[3]};
    if (n.has_operand(3)) {
        s.row_step = static_cast<float>(x[2]) / static_cast<float>(y[2]);
        s.column_step = static_cast<float>(x[3]) / static_cast<float>(y[3]);
    } else {
        auto const scales = n.constant_reals(2);
        n.expect(scales.size() == 4, "of shapes that do not fit");
        s.row_step = 1 / scales[2], s.column_step = 1 / scales[3];
    }
    return s;
}

// --- without arithmetic ---------------------------------------------------------------------------------

layer read_view(node_reader const& n)
{
    auto const &x = n.operand_type(0), &y = n.result_type();
    n.expect(x.element == y.element && x.count() == y.count(), "of shapes that do not fit");
    return view{};
}

std::vector<unsigned char> unsigned_bytes(std::vector<std::byte> const& bytes)
{
    std::vector<unsigned char> all;
    for (std::byte b : bytes) all.push_back(std::to_integer<unsigned char>(b));
    return all;
}

std::vector<std::byte> constant_bytes(node_reader const& n)
{
    if (auto const* const a = n.attribute("value"); a != nullptr && a->has_t()) return bytes_of(a->t());
    if (auto const* const a = n.attribute("value_float")) return bytes_of_numbers(std::vector<float>{a->f()});
    if (auto const* const a = n.attribute("value_floats")) return bytes_of_numbers(a->floats());
    if (auto const* const a = n.attribute("value_int"))
        return bytes_of_numbers(std::vector<std::int64_t>{a->i()});
    if (auto const* const a = n.attribute("value_ints")) return bytes_of_numbers(a->ints());
    return {};
}

layer read_constant(node_reader const& n)
{
    auto bytes = constant_bytes(n);
    if (n.type() == "ConstantOfShape" && n.attribute("value") == nullptr) bytes.resize(sizeof(float));
    n.expect(!bytes.empty() || n.result_type().count() == 0, "of an odd type");
    return constant{unsigned_bytes(bytes)};
}

// --- the file -------------------------------------------------------------------------------------------

layer read_layer(node_reader const& n)
{
    std::string const& type = n.type();
    if (type == "Conv") return read_convolution(n);
    if (type == "ConvTranspose") return read_spreading(n);
    if (type == "MaxPool" || type == "AveragePool") return read_pooling(n);
    if (type == "GlobalAveragePool" || type == "ReduceMean") return read_mean(n);
    if (type == "BatchNormalization") return read_normalization(n);
    if (type == "LRN") return read_local_response(n);
    if (type == "Softmax") return read_soft_maximum(n);
    if (type == "Relu") return read_elementwise(n, function::clip, 0, unbounded);
    if (type == "Clip") return read_clip(n);
    if (type == "Sigmoid") return read_elementwise(n, function::sigmoid);
    if (type == "Tanh") return read_elementwise(n, function::tanh);
    if (type == "Erf") return read_elementwise(n, function::erf);
    if (type == "Sqrt") return read_elementwise(n, function::sqrt);
    if (type == "Add" || type == "Sum") return read_combination(n, arithmetic::add);
    if (type == "Sub") return read_combination(n, arithmetic::subtract);
    if (type == "Mul") return read_combination(n, arithmetic::multiply);
    if (type == "Div") return read_combination(n, arithmetic::divide);
    if (type == "Pow") return read_combination(n, arithmetic::power);
    if (type == "Gemm") return read_gemm(n);
    if (type == "MatMul") return read_product(n);
    if (type == "Transpose") return read_transposition(n);
    if (type == "Slice") return read_slice(n);
    if (type == "Expand")
        return rearrangement{product_of(n.result_size()), broadcast(n, n.operand_size(0), n.result_size())};
    if (type == "Concat") return read_joining(n);
    if (type == "Pad") return read_padding(n);
    if (type == "Gather") return read_selection(n);
    if (type == "Resize") return read_enlargement(n);
    if (type == "Constant" || type == "ConstantOfShape") return read_constant(n);
    if (type == "Reshape" || type == "Flatten" || type == "Squeeze" || type == "Unsqueeze" ||
        type == "Identity" || type == "Dropout")
        return read_view(n);
    throw refusal{type};
}

onnx::ModelProto parsed(std::string const& file)
{
    onnx::ModelProto model;
    std::ifstream in(file, std::ios::binary);
    if (!model.ParseFromIstream(&in)) throw plan_model::input_error(file + ": cannot be read again");
    return model;
}

void read_types(onnx::GraphProto const& graph, layered_network& all)
{
    std::unordered_map<std::string, value_id> ids;
    for (value_id v = 0; v != all.net.values.size(); ++v) ids.emplace(all.net.values[v].name, v);
    auto declare = [&](onnx::ValueInfoProto const& info) {
        auto const found = ids.find(info.name());
        if (found == ids.end() || !info.type().has_tensor_type()) return;
        tensor_type& mine = all.types[found->second];
        mine = {kind_of(info.type().tensor_type().elem_type()), {}};
        for (auto const& d : info.type().tensor_type().shape().dim())
            if (d.dim_value() >= 0 && d.dim_value() < INT_MAX)
                mine.size.push_back(static_cast<int>(d.dim_value()));
            else mine.element = tensor_type::other; // nobody can compute with it
    };
    for (auto const& v : graph.input()) declare(v);
    for (auto const& v : graph.value_info()) declare(v);
    for (auto const& v : graph.output()) declare(v);
    for (auto const& t : graph.initializer()) {
        value_id const v = ids.at(t.name());
        all.types[v] = {kind_of(t.data_type()), {}};
        for (auto d : t.dims())
            all.types[v].size.push_back(static_cast<int>(std::min<std::int64_t>(d, INT_MAX)));
        all.data[v] = bytes_of(t);
        std::size_t const width = all.types[v].element == tensor_type::int_64 ? 8 : 4;
        if (all.types[v].element != tensor_type::other && all.data[v].size() != all.types[v].count() * width)
            all.data[v].clear(); // elsewhere, or torn
    }
}

} // namespace

std::vector<std::string> layered_network::missing() const
{
    std::map<std::string, int> times;
    for (layer const& l : layers)
        if (auto const* const u = std::get_if<unsupported>(&l)) ++times[u->why];
    for (std::size_t v = 0; v != net.values.size(); ++v)
        if (has_role(net.values[v].role, sublet::value_role::external) &&
            types[v].element == tensor_type::other)
            ++times["a weight or input of an odd type"];
    std::vector<std::string> reasons;
    for (auto const& [why, count] : times) reasons.push_back(why + " (" + std::to_string(count) + ')');
    return reasons;
}

layered_network read_layers(std::string const& file)
{
    layered_network all;
    all.net = plan_model::read_onnx(file);
    all.types.resize(all.net.values.size());
    all.data.resize(all.net.values.size());
    onnx::ModelProto const model = parsed(file);
    read_types(model.graph(), all);
    std::int64_t opset = 1;
    for (auto const& set : model.opset_import())
        if (set.domain().empty() || set.domain() == "ai.onnx") opset = set.version();

    for (int i = 0; i != model.graph().node_size(); ++i) {
        auto const& node = model.graph().node(i);
        auto const& operation = all.net.operations[static_cast<std::size_t>(i)];
        node_reader const reader(node, operation, all, opset);
        try {
            if (!node.domain().empty() && node.domain() != "ai.onnx")
                throw refusal{node.domain() + '.' + node.op_type()};
            if (std::count_if(operation.outputs.begin(), operation.outputs.end(),
                              [](value_id v) { return v != sublet::no_value; }) != 1)
                reader.refuse("with several results");
            if (!operation.mutated.empty()) reader.refuse("that writes its operands");
            all.layers.push_back(read_layer(reader));
            if (node.op_type() == "Constant") all.data[operation.outputs[0]] = constant_bytes(reader);
            bool const is_view = std::holds_alternative<view>(all.layers.back());
            if (is_view && node.op_type() == "Dropout" &&
                all.net.values[operation.outputs[0]].alias_of == sublet::no_value)
                reader.refuse("that trains");
        } catch (refusal const& r) {
            if (all.layers.size() > static_cast<std::size_t>(i)) all.layers.pop_back();
            all.layers.push_back(unsupported{r.why});
        }
    }
    return all;
}

} // namespace run_network
