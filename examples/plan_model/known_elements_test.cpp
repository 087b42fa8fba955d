// SPDX-License-Identifier: BSL-1.0

// evaluate() against recomputations by index, and infer_newer() against tables of shapes.

#include "known_elements.hpp"
#include "newer_operators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace plan_model;
using onnx::TensorProto;
using sizes = std::vector<std::int64_t>;
using maybe = std::optional<known_tensor>;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

constexpr int whole_types[] = {TensorProto::INT8,   TensorProto::UINT8,  TensorProto::INT16,
                               TensorProto::UINT16, TensorProto::INT32,  TensorProto::UINT32,
                               TensorProto::INT64,  TensorProto::UINT64, TensorProto::BOOL};
constexpr int real_types[] = {TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::FLOAT16,
                              TensorProto::BFLOAT16};

bool is_real(int element)
{
    return std::find(std::begin(real_types), std::end(real_types), element) != std::end(real_types);
}

// --- nodes -------------------------------------------------------------------------------------------------

using value = std::variant<std::int64_t, sizes, double, std::string, known_tensor>;
using attributes = std::vector<std::pair<std::string, value>>;

onnx::NodeProto node_of(std::string const& type, std::size_t inputs, attributes const& given, int outputs = 1)
{
    onnx::NodeProto node;
    node.set_op_type(type);
    for (std::size_t i = 0; i != inputs; ++i) node.add_input("x" + std::to_string(i));
    for (int i = 0; i != outputs; ++i) node.add_output("y" + std::to_string(i));
    for (auto const& [name, v] : given) {
        auto& a = *node.add_attribute();
        a.set_name(name);
        if (auto const* i = std::get_if<std::int64_t>(&v)) a.set_i(*i);
        if (auto const* s = std::get_if<std::string>(&v)) a.set_s(*s);
        if (auto const* f = std::get_if<double>(&v)) a.set_f(static_cast<float>(*f));
        if (auto const* t = std::get_if<known_tensor>(&v)) *a.mutable_t() = as_tensor(*t);
        if (auto const* l = std::get_if<sizes>(&v))
            for (auto i : *l) a.add_ints(i);
    }
    return node;
}

/// Operands without a type or without elements are absent.
std::vector<maybe> run_all(std::string const& type, std::vector<known_tensor> const& operands,
                           attributes const& given = {}, std::int64_t opset = 17, int outputs = 1)
{
    auto node = node_of(type, operands.size(), given, outputs);
    std::vector<known_tensor const*> elements;
    std::vector<onnx::TypeProto> types(operands.size());
    std::vector<onnx::TypeProto const*> by_operand;
    for (std::size_t i = 0; i != operands.size(); ++i) {
        bool const is_absent = operands[i].element == 0;
        if (is_absent) node.set_input(static_cast<int>(i), "");
        elements.push_back(is_absent ? nullptr : &operands[i]);
        types[i].mutable_tensor_type()->set_elem_type(operands[i].element);
        for (auto d : operands[i].size)
            types[i].mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(d);
        by_operand.push_back(is_absent ? nullptr : &types[i]);
    }
    return evaluate(node, opset, elements, by_operand);
}

maybe run(std::string const& type, std::vector<known_tensor> const& operands, attributes const& given = {},
          std::int64_t opset = 17)
{
    return run_all(type, operands, given, opset)[0];
}

known_tensor list(sizes elements, int element = TensorProto::INT64)
{
    auto const count = static_cast<std::int64_t>(elements.size());
    return {element, {count}, std::move(elements), {}};
}

known_tensor scalar(std::int64_t x, int element = TensorProto::INT64) { return {element, {}, {x}, {}}; }

known_tensor reals(std::vector<double> elements, int element = TensorProto::FLOAT)
{
    auto const count = static_cast<std::int64_t>(elements.size());
    return {element, {count}, {}, std::move(elements)};
}

void check_whole(maybe const& found, sizes const& size, sizes const& elements)
{
    REQUIRE(found.has_value());
    CHECK(found->size == size);
    CHECK(found->whole == elements);
}

void check_reals(maybe const& found, std::vector<double> const& elements)
{
    REQUIRE(found.has_value());
    CHECK(found->real == elements);
}

// --- the oracle: every element of a result by its own indexes ----------------------------------------------

std::mt19937 random_bits(20261128); // NOLINT

std::int64_t draw(std::int64_t from, std::int64_t to)
{
    return std::uniform_int_distribution<std::int64_t>(from, to)(random_bits);
}

sizes draw_size(std::int64_t rank, std::int64_t from = 1)
{
    sizes size;
    for (std::int64_t i = 0; i != rank; ++i) size.push_back(draw(from, 4));
    return size;
}

std::size_t count_of(sizes const& size)
{
    std::size_t count = 1;
    for (auto d : size) count *= static_cast<std::size_t>(d);
    return count;
}

known_tensor draw_tensor(sizes size, int element = TensorProto::INT64, std::int64_t from = -9,
                         std::int64_t to = 9)
{
    known_tensor t{element, std::move(size), {}, {}};
    for (std::size_t i = 0; i != count_of(t.size); ++i)
        if (is_real(element)) t.real.push_back(static_cast<double>(draw(from, to)) / 4);
        else t.whole.push_back(draw(from, to));
    return t;
}

/// The indexes of element k.
sizes index_of(std::size_t k, sizes const& size)
{
    sizes index(size.size());
    for (std::size_t i = size.size(); i-- != 0;) {
        index[i] = static_cast<std::int64_t>(k) % size[i];
        k /= static_cast<std::size_t>(size[i]);
    }
    return index;
}

std::int64_t element(known_tensor const& t, sizes const& index)
{
    std::int64_t k = 0;
    for (std::size_t i = 0; i != index.size(); ++i) k = k * t.size[i] + index[i];
    return t.whole.at(static_cast<std::size_t>(k));
}

/// The element of an operand that is broadcast to a result.
std::int64_t broadcast_element(known_tensor const& t, sizes index)
{
    while (index.size() > t.size.size()) index.erase(index.begin());
    for (std::size_t i = 0; i != index.size(); ++i)
        if (t.size[i] == 1) index[i] = 0;
    return element(t, index);
}

/// Checks that each element of a result is what `expected` computes from its indexes.
template <class Expected>
void check_each(maybe const& found, sizes const& size, Expected expected)
{
    REQUIRE(found.has_value());
    REQUIRE(found->size == size);
    REQUIRE(found->whole.size() == count_of(size));
    for (std::size_t k = 0; k != found->whole.size(); ++k)
        REQUIRE(found->whole[k] == expected(index_of(k, size)));
}

// --- infer_newer -------------------------------------------------------------------------------------------

/// -1: open.
onnx::TypeProto type(sizes const& size, int element = TensorProto::FLOAT)
{
    onnx::TypeProto t;
    t.mutable_tensor_type()->set_elem_type(element);
    auto& shape = *t.mutable_tensor_type()->mutable_shape();
    for (auto d : size)
        if (auto& to = *shape.add_dim(); d >= 0) to.set_dim_value(d);
    return t;
}

/// "1[2,?]" for an element type and its shape, "1" without a shape, "" if nothing is known.
std::string text_of(onnx::TypeProto const& t)
{
    if (!t.has_tensor_type()) return "";
    std::string text = std::to_string(t.tensor_type().elem_type());
    if (!t.tensor_type().has_shape()) return text;
    text += '[';
    for (auto const& d : t.tensor_type().shape().dim()) {
        if (text.back() != '[') text += ',';
        text += d.has_dim_value() ? std::to_string(d.dim_value()) : d.has_dim_param() ? d.dim_param() : "?";
    }
    return text + ']';
}

/// An operand: its type and its elements, if they are known.
struct operand {
    std::optional<onnx::TypeProto> declared;
    maybe elements;

    operand() = default; // absent
    operand(onnx::TypeProto t) : declared(std::move(t)) {}
    operand(known_tensor t) : declared(type(t.size, t.element)), elements(std::move(t)) {}
};

std::string infer(std::string const& name, std::int64_t opset, std::vector<operand> const& operands,
                  attributes const& given = {}, int outputs = 1)
{
    auto const colon = name.find(':');
    auto node =
        node_of(colon == std::string::npos ? name : name.substr(colon + 1), operands.size(), given, outputs);
    if (colon != std::string::npos) node.set_domain("com.microsoft");
    std::vector<onnx::TypeProto const*> types;
    std::vector<known_tensor const*> elements;
    for (std::size_t i = 0; i != operands.size(); ++i) {
        if (!operands[i].declared) node.set_input(static_cast<int>(i), "");
        types.push_back(operands[i].declared ? &*operands[i].declared : nullptr);
        elements.push_back(operands[i].elements ? &*operands[i].elements : nullptr);
    }
    auto const found = infer_newer(node, opset, types, elements);
    if (!found) return "no rule";
    std::string text;
    for (auto const& t : *found) text += (text.empty() ? "" : " ") + text_of(t);
    return text;
}

} // namespace

TEST_CASE("a tensor of each type is read as it was written")
{
    for (int e : whole_types) {
        CAPTURE(e);
        for (int round = 0; round != 20; ++round) {
            bool const is_unsigned =
                e == TensorProto::UINT8 || e == TensorProto::UINT16 || e == TensorProto::UINT32;
            auto const t = e == TensorProto::BOOL ? draw_tensor(draw_size(3, 0), e, 0, 1)
                           : is_unsigned          ? draw_tensor(draw_size(3, 0), e, 0, 255)
                                                  : draw_tensor(draw_size(3, 0), e, -128, 127);
            auto const found = elements_of(as_tensor(t));
            check_whole(found, t.size, t.whole);
            CHECK(found->element == e);
        }
    }
    for (int e : real_types) {
        CAPTURE(e);
        auto const t = reals({0, 1, -2.5, 0.125, 1e300 * 1e300, -1e300 * 1e300, 65280, 0x1p-14, -0x1p-24}, e);
        auto const found = elements_of(as_tensor(t));
        check_reals(found, t.real);
        CHECK(found->element == e);
        auto const odd = elements_of(as_tensor(reals({std::nan(""), -0.0}, e)));
        REQUIRE(odd.has_value());
        CHECK(std::isnan(odd->real[0]));
        CHECK(std::signbit(odd->real[1]));
    }
    check_whole(elements_of(as_tensor(list({least, greatest, -1}))), {3}, {least, greatest, -1});
    check_whole(elements_of(as_tensor(list({-1, 0, greatest}, TensorProto::UINT64))), {3}, {-1, 0, greatest});
    check_whole(elements_of(as_tensor(list({4294967295, 0}, TensorProto::UINT32))), {2}, {4294967295, 0});
    check_whole(elements_of(as_tensor(list({-128, 127, 255, 128}, TensorProto::INT8))), {4},
                {-128, 127, -1, -128});

    auto const raw = as_tensor(list({0x0102, -2}, TensorProto::INT16)).raw_data();
    CHECK(raw == std::string("\x02\x01\xfe\xff", 4));
    CHECK(as_tensor(reals({1, -2, 65504, 0x1p-24, 1e9}, TensorProto::FLOAT16)).raw_data() ==
          std::string("\x00\x3c\x00\xc0\xff\x7b\x01\x00\x00\x7c", 10));
    CHECK(as_tensor(reals({1, -3.140625, 1e39}, TensorProto::BFLOAT16)).raw_data() ==
          std::string("\x80\x3f\x49\xc0\x80\x7f", 6));
}

TEST_CASE("each of 65536 halves is read and written as itself")
{
    for (int e : {TensorProto::FLOAT16, TensorProto::BFLOAT16})
        for (int half : {0, 0x8000}) {
            TensorProto t;
            t.set_data_type(e);
            t.add_dims(0x8000);
            for (int i = 0; i != 0x8000; ++i) t.add_int32_data(half + i);
            auto const found = elements_of(t);
            REQUIRE(found.has_value());
            std::string const written = as_tensor(*found).raw_data();
            REQUIRE(written.size() == 0x10000);
            int wrong = 0;
            for (int i = 0; i != 0x8000; ++i) {
                auto const k = static_cast<std::size_t>(2 * i);
                int const bits =
                    static_cast<unsigned char>(written[k]) | static_cast<unsigned char>(written[k + 1]) << 8;
                if (!std::isnan(found->real[static_cast<std::size_t>(i)])) wrong += bits != half + i;
            }
            CHECK(wrong == 0);
        }
}

TEST_CASE("elements are read from the field of their type")
{
    auto const stored = [](int e, sizes const& dims) {
        TensorProto t;
        t.set_data_type(e);
        for (auto d : dims) t.add_dims(d);
        return t;
    };
    auto t = stored(TensorProto::FLOAT, {2});
    t.add_float_data(1.5f);
    CHECK(!elements_of(t));
    t.add_float_data(-2);
    check_reals(elements_of(t), {1.5, -2});
    t.add_float_data(-2);
    CHECK(!elements_of(t));

    t = stored(TensorProto::DOUBLE, {});
    t.add_double_data(0.1);
    check_reals(elements_of(t), {0.1});
    t = stored(TensorProto::INT64, {1, 1});
    t.add_int64_data(least);
    check_whole(elements_of(t), {1, 1}, {least});
    t.set_raw_data(std::string(8, '\0'));
    CHECK(!elements_of(t)); // in two fields
    t = stored(TensorProto::UINT64, {1});
    t.add_uint64_data(~0ull);
    check_whole(elements_of(t), {1}, {-1});
    t.set_data_type(TensorProto::UINT32);
    CHECK(!elements_of(t));
    t = stored(TensorProto::BOOL, {3});
    for (int i : {0, 1, 7}) t.add_int32_data(i);
    check_whole(elements_of(t), {3}, {0, 1, 1});
    t.set_data_type(TensorProto::INT8);
    check_whole(elements_of(t), {3}, {0, 1, 7});
    t.set_int32_data(1, 128);
    CHECK(!elements_of(t));
    t.set_data_type(TensorProto::UINT8);
    check_whole(elements_of(t), {3}, {0, 128, 7});
    t.set_data_type(TensorProto::INT64);
    CHECK(!elements_of(t)); // in the field of another type
    t = stored(TensorProto::FLOAT16, {1});
    t.add_int32_data(0x3c00);
    check_reals(elements_of(t), {1});
    t.set_int32_data(0, -1);
    CHECK(!elements_of(t));
    check_whole(elements_of(stored(TensorProto::INT32, {0, 5})), {0, 5}, {});
}

TEST_CASE("nothing is read from a damaged tensor")
{
    auto t = as_tensor(list({1, 2}));
    t.mutable_raw_data()->pop_back();
    CHECK(!elements_of(t));
    t = as_tensor(list({1, 2}));
    t.set_data_location(TensorProto::EXTERNAL);
    CHECK(!elements_of(t));
    t = as_tensor(list({1, 2}));
    t.mutable_segment()->set_begin(0);
    CHECK(!elements_of(t));
    for (sizes const& size : {sizes{-1},
                              {-2, -1},
                              {1, 2, -1},
                              {(1 << 22) + 1},
                              {2048, 2049},
                              {greatest, greatest},
                              {least},
                              {greatest, greatest, 0},
                              {1ll << 32, 1ll << 32},
                              sizes(100, 1),
                              {3},
                              {2, 0}}) {
        t = as_tensor(list({1, 2}));
        t.clear_dims();
        for (auto d : size) t.add_dims(d);
        CHECK(!elements_of(t));
    }
    t = as_tensor(list({1, 2}));
    for (int e : {-1, 0, int{TensorProto::STRING}, int{TensorProto::COMPLEX64}, 17, 22, 1 << 30}) {
        t.set_data_type(e);
        CHECK(!elements_of(t));
    }
    TensorProto large;
    large.set_data_type(TensorProto::UINT8);
    large.add_dims(most_known_elements);
    large.set_raw_data(std::string(most_known_elements, 'a'));
    CHECK(elements_of(large).has_value());
    large.set_dims(0, most_known_elements + 1);
    large.set_raw_data(std::string(most_known_elements + 1, 'a'));
    CHECK(!elements_of(large));
}

TEST_CASE("elementwise operators broadcast as by index")
{
    using function = std::int64_t (*)(std::int64_t, std::int64_t);
    std::pair<char const*, function> const operators[] = {
        {"Add", [](auto a, auto b) { return a + b; }},
        {"Sub", [](auto a, auto b) { return a - b; }},
        {"Mul", [](auto a, auto b) { return a * b; }},
        {"Max", [](auto a, auto b) { return std::max(a, b); }},
        {"Min", [](auto a, auto b) { return std::min(a, b); }},
        {"Sum", [](auto a, auto b) { return a + b; }},
        {"Equal", [](auto a, auto b) -> std::int64_t { return a == b; }},
        {"Less", [](auto a, auto b) -> std::int64_t { return a < b; }},
        {"GreaterOrEqual", [](auto a, auto b) -> std::int64_t { return a >= b; }},
    };
    for (int round = 0; round != 40; ++round)
        for (auto const& row : operators) {
            char const* const name = row.first;
            function const expected = row.second;
            sizes const size = draw_size(draw(0, 4));
            auto part_of = [&] {
                sizes part(size.begin() + draw(0, static_cast<std::int64_t>(size.size())), size.end());
                for (auto& d : part)
                    if (draw(0, 2) == 0) d = 1;
                return part;
            };
            auto const a = draw_tensor(part_of()), b = draw_tensor(part_of());
            sizes both = a.size.size() < b.size.size() ? b.size : a.size;
            for (std::size_t i = 0; i != std::min(a.size.size(), b.size.size()); ++i)
                both[both.size() - 1 - i] =
                    std::max(a.size[a.size.size() - 1 - i], b.size[b.size.size() - 1 - i]);
            CAPTURE(name);
            check_each(run(name, {a, b}), both, [&, f = expected](sizes const& index) {
                return f(broadcast_element(a, index), broadcast_element(b, index));
            });
            auto const condition = draw_tensor(part_of(), TensorProto::BOOL, 0, 1);
            auto const chosen = run("Where", {condition, a, b});
            REQUIRE(chosen.has_value());
            check_each(chosen, chosen->size, [&](sizes const& index) {
                return broadcast_element(broadcast_element(condition, index) != 0 ? a : b, index);
            });
        }
    CHECK(!run("Add", {list({1, 2}), list({1, 2, 3})}));
    CHECK(!run("Add", {list({1, 2}), list({1, 2}, TensorProto::INT32)}));
    check_whole(run("Add", {list({}), list({1})}), {0}, {});
    CHECK(!run("Add", {draw_tensor({3000, 1}), draw_tensor({1, 3000})})); // too large
    CHECK(!run("Add", {list({1, 2}), list({1})}, {{"broadcast", std::int64_t{1}}}, 6));
}

TEST_CASE("integers wrap in the width of their type, and what is undefined is not known")
{
    check_whole(run("Add", {list({greatest}), list({1})}), {1}, {least});
    check_whole(run("Sub", {list({least}), list({1})}), {1}, {greatest});
    check_whole(run("Mul", {list({greatest}), list({2})}), {1}, {-2});
    check_whole(run("Neg", {list({least})}), {1}, {least});
    check_whole(run("Abs", {list({least, -3})}), {2}, {least, 3});
    check_whole(run("Add", {list({127}, TensorProto::INT8), list({1}, TensorProto::INT8)}), {1}, {-128});
    check_whole(run("Sub", {list({0}, TensorProto::UINT32), list({1}, TensorProto::UINT32)}), {1},
                {4294967295});
    check_whole(run("Mul", {list({65536}, TensorProto::INT32), list({65536}, TensorProto::INT32)}), {1}, {0});

    check_whole(run("Div", {list({7, -7, 7, -7}), list({2, 2, -2, -2})}), {4}, {3, -3, -3, 3});
    check_whole(run("Div", {list({-1}, TensorProto::UINT64), list({2}, TensorProto::UINT64)}), {1},
                {greatest});
    CHECK(!run("Div", {list({1}), list({0})}));
    CHECK(!run("Div", {list({least}), list({-1})}));
    check_whole(run("Div", {list({greatest}), list({-1})}), {1}, {-greatest});
    check_whole(run("Mod", {list({7, -7, 7, -7}), list({3, 3, -3, -3})}), {4}, {1, 2, -2, -1});
    check_whole(run("Mod", {list({7, -7, 7, -7}), list({3, 3, -3, -3})}, {{"fmod", std::int64_t{1}}}), {4},
                {1, -1, 1, -1});
    check_whole(run("Mod", {list({least, 5}), list({-1})}), {2}, {0, 0});
    CHECK(!run("Mod", {list({1}), list({0})}));
    check_whole(run("Pow", {list({2, -3, 7}), list({10, 3, 0})}), {3}, {1024, -27, 1});
    CHECK(!run("Pow", {list({10}), list({18})})); // more digits than kernels agree on
    CHECK(!run("Pow", {list({0}), list({-1})}));

    check_whole(run("Less", {list({-1}, TensorProto::UINT64), list({1}, TensorProto::UINT64)}), {1}, {0});
    check_whole(run("Max", {list({-1}, TensorProto::UINT64), list({1}, TensorProto::UINT64)}), {1}, {-1});
    check_whole(run("Sign", {list({-5, 0, 9})}), {3}, {-1, 0, 1});
    check_whole(run("Clip", {list({-5, 0, 9}), scalar(-1), scalar(4)}), {3}, {-1, 0, 4});
    check_whole(run("Clip", {list({-5, 0, 9}), known_tensor{}, scalar(4)}), {3}, {-5, 0, 4});
    check_whole(run("Not", {list({1, 0}, TensorProto::BOOL)}), {2}, {0, 1});
    check_whole(run("Xor", {list({1, 0}, TensorProto::BOOL), list({1, 1}, TensorProto::BOOL)}), {2}, {0, 1});
}

TEST_CASE("reals are computed in the precision of their type")
{
    auto const product = run("Mul", {reals({static_cast<double>(0.1f)}), reals({30})});
    check_reals(product, {double{0.1f * 30.0f}});
    check_reals(run("Floor", {*product}), {3});
    check_reals(
        run("Floor", {*run("Mul", {reals({0.1}, TensorProto::DOUBLE), reals({30}, TensorProto::DOUBLE)})}),
        {3});
    check_reals(run("Floor", {*run("Mul", {reals({double{0.7f}}), reals({10})})}),
                {7}); // 6.9999998 as a double
    check_reals(run("Round", {reals({0.5, 1.5, 2.5, -0.5, -1.5, 2.6})}), {0, 2, 2, -0.0, -2, 3});
    check_reals(run("Ceil", {reals({0.5, -0.5})}), {1, -0.0});
    check_reals(run("Add", {reals({2048}, TensorProto::FLOAT16), reals({1}, TensorProto::FLOAT16)}), {2048});
    check_reals(run("Div", {reals({1}), reals({0})}), {std::numeric_limits<double>::infinity()});
    check_reals(run("Mean", {reals({1, 2}), reals({3, 5})}), {2, 3.5});
    check_reals(run("Sqrt", {reals({2})}), {double{std::sqrt(2.0f)}});
    check_reals(run("Clip", {reals({-1, 7})}, {{"min", 0.0}, {"max", 6.0}}, 6), {0, 6});
    CHECK(!run("Mod", {reals({1}), reals({2})}));

    check_whole(run("Cast", {reals({1.9, -1.9, 300})}, {{"to", std::int64_t{TensorProto::INT64}}}), {3},
                {1, -1, 300});
    CHECK(!run("Cast", {reals({300})}, {{"to", std::int64_t{TensorProto::INT8}}}));
    CHECK(!run("Cast", {reals({std::nan("")})}, {{"to", std::int64_t{TensorProto::INT64}}}));
    CHECK(!run("Cast", {reals({0x1p63})}, {{"to", std::int64_t{TensorProto::INT64}}}));
    check_whole(run("Cast", {reals({0, 0.5})}, {{"to", std::int64_t{TensorProto::BOOL}}}), {2}, {0, 1});
    check_whole(run("Cast", {list({300, -1})}, {{"to", std::int64_t{TensorProto::UINT8}}}), {2}, {44, 255});
    check_reals(run("Cast", {list({16777217})}, {{"to", std::int64_t{TensorProto::FLOAT}}}), {16777216});
    check_reals(run("Cast", {list({-1}, TensorProto::UINT64)}, {{"to", std::int64_t{TensorProto::DOUBLE}}}),
                {0x1p64});
    CHECK(!run("Cast", {list({1})}, {{"to", std::int64_t{TensorProto::STRING}}}));
    check_reals(run("CastLike", {list({3}), reals({})}), {3});
}

TEST_CASE("elements are moved as by index")
{
    for (int round = 0; round != 100; ++round) {
        auto const rank = draw(1, 4);
        auto const x = draw_tensor(draw_size(rank));
        auto const last = static_cast<std::size_t>(rank - 1);
        std::size_t const axis = static_cast<std::size_t>(draw(0, rank - 1));
        std::int64_t const named =
            draw(0, 1) != 0 ? static_cast<std::int64_t>(axis) : static_cast<std::int64_t>(axis) - rank;

        sizes order(x.size.size());
        for (std::size_t i = 0; i != order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        std::shuffle(order.begin(), order.end(), random_bits);
        sizes turned;
        for (auto a : order) turned.push_back(x.size[static_cast<std::size_t>(a)]);
        check_each(run("Transpose", {x}, {{"perm", order}}), turned, [&](sizes const& index) {
            sizes from(index.size());
            for (std::size_t i = 0; i != index.size(); ++i)
                from[static_cast<std::size_t>(order[i])] = index[i];
            return element(x, from);
        });

        // slices of all axes, by the indexes that a loop visits
        sizes starts, ends, steps, axes, kept_size;
        std::vector<sizes> kept;
        for (std::size_t i = 0; i != x.size.size(); ++i) {
            std::int64_t const n = x.size[i], step = draw(0, 1) != 0 ? draw(1, 3) : -draw(1, 3);
            std::int64_t const start = draw(-n - 2, n + 2),
                               end = draw(0, 5) == 0 ? (step > 0 ? greatest : least) : draw(-n - 2, n + 2);
            sizes visited;
            std::int64_t first = start < 0 ? start + n : start;
            std::int64_t stop =
                end < 0 ? (end == least ? -1 : std::max<std::int64_t>(end + n, -1)) : std::min(end, n);
            if (step > 0) first = std::max<std::int64_t>(first, 0), stop = std::max<std::int64_t>(stop, 0);
            else first = std::clamp<std::int64_t>(first, 0, n - 1);
            for (std::int64_t at = first; step > 0 ? at < stop : at > stop; at += step)
                if (at >= 0 && at < n) visited.push_back(at);
            starts.push_back(start);
            ends.push_back(end);
            steps.push_back(step);
            axes.push_back(draw(0, 1) != 0 ? static_cast<std::int64_t>(i)
                                           : static_cast<std::int64_t>(i) - rank);
            kept_size.push_back(static_cast<std::int64_t>(visited.size()));
            kept.push_back(visited);
        }
        auto const sliced = run("Slice", {x, list(starts), list(ends), list(axes), list(steps)});
        check_each(sliced, kept_size, [&](sizes const& index) {
            sizes from;
            for (std::size_t i = 0; i != index.size(); ++i)
                from.push_back(kept[i][static_cast<std::size_t>(index[i])]);
            return element(x, from);
        });

        auto const rows =
            draw_tensor(draw_size(draw(0, 2)), TensorProto::INT64, -x.size[axis], x.size[axis] - 1);
        sizes gathered = x.size;
        gathered.erase(gathered.begin() + static_cast<std::ptrdiff_t>(axis));
        gathered.insert(gathered.begin() + static_cast<std::ptrdiff_t>(axis), rows.size.begin(),
                        rows.size.end());
        check_each(run("Gather", {x, rows}, {{"axis", named}}), gathered, [&](sizes const& index) {
            auto const begin = index.begin() + static_cast<std::ptrdiff_t>(axis);
            auto const end = begin + static_cast<std::ptrdiff_t>(rows.size.size());
            std::int64_t row = element(rows, sizes(begin, end));
            if (row < 0) row += x.size[axis];
            sizes from(index.begin(), begin);
            from.push_back(row);
            from.insert(from.end(), end, index.end());
            return element(x, from);
        });

        sizes picked_size;
        for (std::size_t i = 0; i != x.size.size(); ++i)
            picked_size.push_back(i == axis ? draw(1, 5) : draw(1, x.size[i]));
        auto const picks = draw_tensor(picked_size, TensorProto::INT32, -x.size[axis], x.size[axis] - 1);
        auto const target_of = [&](sizes index) {
            std::int64_t const row = element(picks, index);
            index[axis] = row < 0 ? row + x.size[axis] : row;
            return index;
        };
        check_each(run("GatherElements", {x, picks}, {{"axis", named}}), picked_size,
                   [&](sizes const& index) { return element(x, target_of(index)); });
        auto const updates = draw_tensor(picked_size, TensorProto::INT64, 100, 999);
        check_each(run("ScatterElements", {x, picks, updates}, {{"axis", named}}), x.size,
                   [&](sizes const& index) {
                       std::int64_t now = element(x, index);
                       for (std::size_t k = 0; k != updates.whole.size(); ++k)
                           if (target_of(index_of(k, picked_size)) == index) now = updates.whole[k];
                       return now;
                   });

        auto y = draw_tensor(x.size);
        y.size[axis] = draw(1, 3);
        y = draw_tensor(y.size);
        sizes joined = x.size;
        joined[axis] += y.size[axis];
        auto const both = run("Concat", {x, y}, {{"axis", named}});
        check_each(both, joined, [&](sizes index) {
            if (index[axis] < x.size[axis]) return element(x, index);
            index[axis] -= x.size[axis];
            return element(y, index);
        });
        auto const parts =
            run_all("Split", {*both, list({x.size[axis], y.size[axis]})}, {{"axis", named}}, 17, 2);
        REQUIRE((parts[0].has_value() && parts[1].has_value()));
        check_whole(parts[0], x.size, x.whole);
        check_whole(parts[1], y.size, y.whole);

        sizes repeats, tiled, pads, padded;
        for (auto d : x.size) repeats.push_back(draw(0, 3)), tiled.push_back(d * repeats.back());
        check_each(run("Tile", {x, list(repeats)}), tiled, [&](sizes index) {
            for (std::size_t i = 0; i != index.size(); ++i) index[i] %= x.size[i];
            return element(x, index);
        });
        for (std::size_t i = 0; i != 2 * x.size.size(); ++i) pads.push_back(draw(0, 2));
        if (x.size[last] > 1) pads[last] = -1;
        for (std::size_t i = 0; i != x.size.size(); ++i)
            padded.push_back(x.size[i] + pads[i] + pads[i + x.size.size()]);
        check_each(run("Pad", {x, list(pads), scalar(77)}), padded, [&](sizes index) -> std::int64_t {
            for (std::size_t i = 0; i != index.size(); ++i) {
                index[i] -= pads[i];
                if (index[i] < 0 || index[i] >= x.size[i]) return 77;
            }
            return element(x, index);
        });
        sizes to = draw_size(draw(0, 2));
        for (auto d : x.size) to.push_back(draw(0, 1) != 0 ? d : 1);
        sizes expanded = to;
        for (std::size_t i = 0; i != x.size.size(); ++i)
            expanded[expanded.size() - 1 - i] =
                std::max(expanded[expanded.size() - 1 - i], x.size[x.size.size() - 1 - i]);
        check_each(run("Expand", {x, list(to)}), expanded,
                   [&](sizes const& index) { return broadcast_element(x, index); });
    }
}

TEST_CASE("reductions are as by index")
{
    using function = std::int64_t (*)(std::int64_t, std::int64_t);
    std::pair<char const*, function> const operators[] = {
        {"ReduceSum", [](auto a, auto b) { return a + b; }},
        {"ReduceProd", [](auto a, auto b) { return a * b; }},
        {"ReduceMax", [](auto a, auto b) { return std::max(a, b); }},
        {"ReduceMin", [](auto a, auto b) { return std::min(a, b); }},
    };
    for (int round = 0; round != 40; ++round)
        for (auto const& row : operators) {
            char const* const name = row.first;
            function const combine = row.second;
            CAPTURE(name);
            auto const rank = draw(1, std::string(name) == "ReduceProd" ? 2 : 4); // of 16 factors up to 9
            auto const x = draw_tensor(draw_size(rank));
            sizes axes;
            for (std::int64_t a = 0; a != rank; ++a)
                if (draw(0, 1) != 0) axes.push_back(draw(0, 1) != 0 ? a : a - rank);
            std::vector<bool> goes(x.size.size(), axes.empty());
            for (auto a : axes) goes[static_cast<std::size_t>(a < 0 ? a + rank : a)] = true;
            std::int64_t const keeps = draw(0, 1);
            sizes size;
            for (std::size_t i = 0; i != x.size.size(); ++i)
                if (!goes[i]) size.push_back(x.size[i]);
                else if (keeps != 0) size.push_back(1);
            auto const expected = [&, f = combine](sizes const& index) {
                std::optional<std::int64_t> all;
                for (std::size_t k = 0; k != x.whole.size(); ++k) {
                    auto const from = index_of(k, x.size);
                    sizes to;
                    for (std::size_t i = 0; i != from.size(); ++i)
                        if (!goes[i]) to.push_back(from[i]);
                        else if (keeps != 0) to.push_back(0);
                    if (to == index) all = all ? f(*all, x.whole[k]) : x.whole[k];
                }
                return *all;
            };
            check_each(run(name, {x, list(axes)}, {{"keepdims", keeps}}, 18), size, expected);
            if (std::string(name) != "ReduceSum" && !axes.empty())
                check_each(run(name, {x}, {{"keepdims", keeps}, {"axes", axes}}, 13), size, expected);
        }
    check_whole(run("ReduceSum", {draw_tensor({0, 2}), list({0})}), {1, 2}, {0, 0});
    CHECK(!run("ReduceMax", {draw_tensor({0, 2})}, {{"axes", sizes{0}}}));
    for (std::int64_t x : {greatest, least, std::int64_t{1} << 62}) { // kernels wrap or saturate
        CHECK(!run("ReduceSum", {list({x, x})}));
        CHECK(!run("ReduceProd", {list({x, x})}));
        CHECK(!run("ReduceProd", {list({x, 3})}));
        check_whole(run("ReduceSum", {list({x, -1 - x})}), {1}, {-1});
        check_whole(run("ReduceProd", {list({x, 1})}), {1}, {x});
    }
    CHECK(!run("ReduceProd", {list({least, -1})}));
    CHECK(!run("ReduceProd", {list({-1, least})}));
    CHECK(!run("ReduceSum", {list({100, 28}, TensorProto::INT8)}));
    check_whole(run("ReduceSum", {list({100, 27}, TensorProto::INT8)}), {1}, {127});
    CHECK(!run("ReduceSum", {list({-1, 1}, TensorProto::UINT64)}));
    check_whole(run("ReduceProd", {list({1ll << 62, 3}, TensorProto::UINT64)}), {1}, {(1ll << 62) * -1});
    check_whole(run("ReduceMax", {list({1, 2}), list({})}, {{"noop_with_empty_axes", std::int64_t{1}}}, 18),
                {2}, {1, 2});
    check_reals(run("ReduceMean", {reals({1, 2, 6})}), {3});
    CHECK(!run("ReduceSum", {list({1, 2}), list({0, -1})})); // twice
    check_whole(run("CumSum", {list({1, 2, 3}), scalar(0)}), {3}, {1, 3, 6});
    check_whole(run("CumSum", {list({1, 2, 3}), scalar(-1)},
                    {{"exclusive", std::int64_t{1}}, {"reverse", std::int64_t{1}}}),
                {3}, {5, 3, 0});
    check_whole(run("ArgMax", {list({4, 9, 9})}), {1}, {1});
    check_whole(run("ArgMin", {list({4, 9, 4})},
                    {{"select_last_index", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}),
                {}, {2});
    auto const top = run_all("TopK", {list({3, 1, 4, 1, 5}), list({2})}, {}, 11, 2);
    check_whole(top[0], {2}, {5, 4});
    check_whole(top[1], {2}, {4, 2});
    check_whole(run("NonZero", {known_tensor{TensorProto::INT64, {2, 2}, {0, 5, 6, 0}, {}}}), {2, 2},
                {0, 1, 1, 0});
}

TEST_CASE("shapes and sizes are known where they are needed")
{
    auto node = node_of("Shape", 1, {});
    auto t = type({2, -1, 5});
    auto const shape_of = [&](attributes const& given, std::int64_t opset = 15) {
        return evaluate(node_of("Shape", 1, given), opset, {}, {&t})[0];
    };
    CHECK(!shape_of({}));
    check_whole(shape_of({{"end", std::int64_t{1}}}), {1}, {2});
    check_whole(shape_of({{"start", std::int64_t{-1}}}), {1}, {5});
    check_whole(shape_of({{"start", std::int64_t{2}}, {"end", greatest}}), {1}, {5});
    check_whole(shape_of({{"start", std::int64_t{2}}, {"end", least}}), {0}, {});
    CHECK(!shape_of({{"end", std::int64_t{1}}}, 13)); // no such attribute then
    t = type({2, 3, 5});
    check_whole(shape_of({}), {3}, {2, 3, 5});
    CHECK(evaluate(node_of("Size", 1, {}), 13, {nullptr}, {&t})[0]->whole == sizes{30});
    t = type({greatest, 3});
    CHECK(!evaluate(node_of("Size", 1, {}), 13, {nullptr}, {&t})[0]);
    t = type({greatest, 3, 0});
    CHECK(evaluate(node_of("Size", 1, {}), 13, {nullptr}, {&t})[0]->whole == sizes{0});
    CHECK(!evaluate(node, 15, {}, {})[0]);
    CHECK(!evaluate(node, 15, {nullptr}, {nullptr})[0]);
    node.set_domain("other");
    CHECK(!evaluate(node, 15, {}, {&t})[0]);

    check_whole(run("Reshape", {draw_tensor({2, 3}, TensorProto::INT64, 1, 1), list({0, -1, 1})}), {2, 3, 1},
                sizes(6, 1));
    CHECK(!run("Reshape", {draw_tensor({2, 3}), list({-1, -1})}));
    CHECK(!run("Reshape", {draw_tensor({2, 3}), list({4, -1})}));
    CHECK(!run("Reshape", {draw_tensor({2, 3}), list({-2, -3})}));
    CHECK(!run("Reshape", {draw_tensor({0}), list({0, -1})}));
    check_whole(run("Reshape", {draw_tensor({0}), list({5, 0})}, {{"allowzero", std::int64_t{1}}}), {5, 0},
                {});
    check_whole(run("Reshape", {list({1, 2})}, {{"shape", sizes{2, 1}}}, 1), {2, 1}, {1, 2});
    check_whole(
        run("Flatten", {draw_tensor({2, 3, 1}, TensorProto::INT64, 4, 4)}, {{"axis", std::int64_t{0}}}),
        {1, 6}, sizes(6, 4));
    check_whole(run("Squeeze", {draw_tensor({1, 2, 1}, TensorProto::INT64, 4, 4)}), {2}, {4, 4});
    check_whole(run("Squeeze", {draw_tensor({1, 2, 1}, TensorProto::INT64, 4, 4), list({-1})}), {1, 2},
                {4, 4});
    CHECK(!run("Squeeze", {draw_tensor({1, 2, 1}), list({1})}));
    check_whole(run("Unsqueeze", {list({7}), list({0, -1})}), {1, 1, 1}, {7});
    check_whole(run("Unsqueeze", {scalar(7)}, {{"axes", sizes{0}}}, 11), {1}, {7});
    CHECK(!run("Unsqueeze", {list({7}), list({0, 0})}));
    check_whole(run("ConstantOfShape", {list({2})}, {{"value", list({-3}, TensorProto::INT32)}}), {2},
                {-3, -3});
    check_reals(run("ConstantOfShape", {list({})}), {0});
    CHECK(!run("ConstantOfShape", {list({greatest, greatest})}));
    CHECK(!run("ConstantOfShape", {list({-1})}));
    check_whole(run("Range", {scalar(5), scalar(-2), scalar(-3)}), {3}, {5, 2, -1});
    check_whole(run("Range", {scalar(5), scalar(9), scalar(-3)}), {0}, {});
    check_whole(run("Range", {scalar(least), scalar(greatest), scalar(greatest)}), {3},
                {least, -1, greatest - 1});
    CHECK(!run("Range", {scalar(least), scalar(greatest), scalar(1)}));
    CHECK(!run("Range", {scalar(0), scalar(1), scalar(0)}));
    check_reals(run("Range", {reals({0}), reals({1}), reals({0.25})}), {0, 0.25, 0.5, 0.75});
    CHECK(!run("Range", {reals({0}), reals({1}), reals({0})}));
    CHECK(!run("Range", {reals({0}), reals({std::nan("")}), reals({1})}));
    check_whole(run("Constant", {}, {{"value_ints", sizes{4, 5}}}), {2}, {4, 5});
    check_whole(run("Constant", {}, {{"value_int", std::int64_t{4}}}), {}, {4});
    CHECK(!run("Gather", {list({1, 2}), scalar(2)}));
    CHECK(!run("Gather", {list({1, 2}), scalar(least)}));
    CHECK(!run("Slice", {list({1, 2}), list({0}), list({1}), list({0}), list({0})}));
    check_whole(run("Slice", {list({1, 2}), list({-5}), list({least}), list({0}), list({-1})}), {1}, {1});
    check_whole(run("Slice", {list({}), list({-5}), list({least}), list({0}), list({-1})}), {0}, {});
    check_whole(run("Slice", {list({1, 2}), list({greatest}), list({least}), list({0}), list({least})}), {1},
                {2});
    check_whole(run("Slice", {list({1, 2, 3})}, {{"starts", sizes{-2}}, {"ends", sizes{greatest}}}, 9), {2},
                {2, 3});
    CHECK(!run("Tile", {list({1, 2}), list({greatest})}));
    CHECK(!run("Pad", {list({1, 2}), list({greatest, greatest})}));
    known_tensor const half{TensorProto::UINT8, {3 << 20}, sizes(3 << 20), {}};
    CHECK(!run("Concat", {half, half}, {{"axis", std::int64_t{0}}}));
    check_whole(run("GatherND", {known_tensor{TensorProto::INT64, {2, 2}, {1, 2, 3, 4}, {}}, list({1, -1})}),
                {}, {4});
    check_whole(
        run("ScatterND", {list({1, 2, 3}), known_tensor{TensorProto::INT64, {1, 1}, {1}, {}}, list({9})}),
        {3}, {1, 9, 3});
}

TEST_CASE("what is not known, or contradicts itself, gives nothing")
{
    auto const two = list({1, 2});
    auto const add = node_of("Add", 2, {});
    CHECK(!evaluate(add, 17, {&two, nullptr}, {})[0]);
    CHECK(!evaluate(add, 17, {&two}, {})[0]);
    CHECK(!evaluate(add, 17, {}, {})[0]);
    known_tensor odd{TensorProto::INT64, {3}, {1, 2}, {}};
    CHECK(!run("Identity", {odd}));
    CHECK(!run("Add", {odd, odd}));
    odd = {TensorProto::FLOAT, {2}, {1, 2}, {}};
    CHECK(!run("Identity", {odd}));
    CHECK(evaluate(node_of("Unheard", 1, {}, 3), 17, {&two}, {}).size() == 3);
    CHECK(evaluate(node_of("Identity", 1, {}, 0), 17, {&two}, {}).empty());
}

TEST_CASE("functions of a real number are those of their definitions")
{
    struct function {
        char const* name;
        attributes given;
        double (*is)(double x);
    };
    function const all[] = {
        {"Sin", {}, [](double x) { return std::sin(x); }},
        {"Atanh", {}, [](double x) { return std::log((1 + x) / (1 - x)) / 2; }},
        {"Celu", {{"alpha", 0.5}}, [](double x) { return x < 0 ? 0.5 * (std::exp(x / 0.5) - 1) : x; }},
        {"Elu", {{"alpha", 0.5}}, [](double x) { return x < 0 ? 0.5 * (std::exp(x) - 1) : x; }},
        {"Gelu", {}, [](double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }},
        {"HardSigmoid", {}, [](double x) { return std::min(1.0, std::max(0.0, x / 5 + 0.5)); }},
        {"HardSwish", {}, [](double x) { return x * (x + 3) / 6; }}, // between -3 and 3
        {"LeakyRelu", {{"alpha", 0.25}}, [](double x) { return x < 0 ? x / 4 : x; }},
        {"Mish", {}, [](double x) { return x * std::tanh(std::log(1 + std::exp(x))); }},
        {"Selu",
         {{"alpha", 2.0}, {"gamma", 3.0}},
         [](double x) { return x > 0 ? 3 * x : 6 * (std::exp(x) - 1); }},
        {"Shrink",
         {{"lambd", 0.5}, {"bias", 0.25}},
         [](double x) { return x < -0.5  ? x + 0.25
                               : x > 0.5 ? x - 0.25
                                         : 0; }},
        {"Softplus", {}, [](double x) { return std::log(1 + std::exp(x)); }},
        {"ThresholdedRelu", {{"alpha", 0.5}}, [](double x) { return x > 0.5 ? x : 0; }},
    };
    for (function const& f : all) {
        CAPTURE(f.name);
        known_tensor x{TensorProto::DOUBLE, {5}, {}, {-0.75, -0.25, 0, 0.5, 0.875}};
        auto const found = run(f.name, {x}, f.given);
        REQUIRE(found);
        for (std::size_t i = 0; i != 5; ++i) CHECK(found->real[i] == doctest::Approx(f.is(x.real[i])));
    }
    CHECK(run("Softplus", {reals({1000})})->real[0] == 1000); // does not overflow
    CHECK(!run("Sin", {list({1})}));
}

TEST_CASE("reals are normalized, and their norms taken, along axes")
{
    known_tensor const x{TensorProto::DOUBLE, {2, 2}, {}, {1000, 1000, 0, std::log(3.0)}};
    auto check = [](maybe const& found, std::vector<double> const& should) {
        REQUIRE(found);
        REQUIRE(found->real.size() == should.size());
        for (std::size_t i = 0; i != should.size(); ++i) CHECK(found->real[i] == doctest::Approx(should[i]));
    };
    check(run("Softmax", {x}), {0.5, 0.5, 0.25, 0.75});
    check(run("LogSoftmax", {x}), {std::log(0.5), std::log(0.5), std::log(0.25), std::log(0.75)});
    check(run("Hardmax", {x}, {{"axis", std::int64_t{0}}}), {1, 1, 0, 0});
    check(run("Softmax", {{TensorProto::DOUBLE, {1, 2, 2}, {}, {0, 0, 0, 0}}}, {}, 12), {.25, .25, .25, .25});
    check(run("ReduceLogSumExp", {x}, {{"axes", sizes{1}}}), {1000 + std::log(2.0), std::log(4.0)});
    known_tensor const y{TensorProto::DOUBLE, {2, 2}, {}, {3, 4, -1, 0}};
    check(run("ReduceL1", {y}, {{"axes", sizes{1}}}), {7, 1});
    check(run("ReduceL2", {y}, {{"axes", sizes{1}}}), {5, 1});
    check(run("ReduceSumSquare", {y}, {{"axes", sizes{0}}}), {10, 16});
    check(run("ReduceLogSum", {y}, {{"axes", sizes{0}}, {"keepdims", std::int64_t{0}}}),
          {std::log(2.0), std::log(4.0)});
}

TEST_CASE("a Resize takes the nearest elements, or sums with weights")
{
    known_tensor const none{}, x{TensorProto::FLOAT, {1, 4}, {}, {1, 2, 3, 4}};
    auto resized = [&](double scale, attributes const& how) {
        return run("Resize", {x, none, reals({1, scale})}, how);
    };
    check_reals(resized(2, {}), {1, 1, 2, 2, 3, 3, 4, 4});
    check_reals(resized(0.5, {{"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}),
                {1, 3});
    check_reals(resized(2, {{"mode", "linear"}}), {1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4});
    check_reals(resized(1.75, {{"mode", "linear"}, {"coordinate_transformation_mode", "align_corners"}}),
                {1, 1.5, 2, 2.5, 3, 3.5, 4});
    check_reals(resized(0.5, {{"mode", "cubic"}, {"cubic_coeff_a", -0.5}}), {1.4375, 3.5625});
    check_whole(run("Resize", {list({1, 2}), none, none, list({4})}), {4}, {1, 1, 2, 2});
    CHECK(!run("Resize", {list({1, 2}), none, none, list({4})}, {{"mode", "linear"}}));
    CHECK(!resized(2, {{"mode", "linear"}, {"antialias", std::int64_t{1}}}));
    CHECK(!resized(2, {{"coordinate_transformation_mode", "tf_crop_and_resize"}}));
    CHECK(!resized(NAN, {}));
}

TEST_CASE("padding is a value, the border, the other end or a reflection")
{
    known_tensor const x = reals({1, 2, 3});
    auto padded = [&](char const* mode, sizes const& pads) {
        return run("Pad", {x, list(pads)}, {{"mode", std::string(mode)}});
    };
    check_reals(padded("constant", {1, 2}), {0, 1, 2, 3, 0, 0});
    check_reals(padded("constant", {-1, 1}), {2, 3, 0});
    check_reals(padded("edge", {2, 1}), {1, 1, 1, 2, 3, 3});
    check_reals(padded("reflect", {2, 3}), {3, 2, 1, 2, 3, 2, 1, 2});
    check_reals(padded("wrap", {1, 2}), {3, 1, 2, 3, 1, 2});
    CHECK(!padded("edge", {-1, 0}));
    CHECK(!padded("mirror", {1, 0}));
    CHECK(!padded("constant", {-4, 5}));
}

TEST_CASE("no operands and attributes make evaluate or infer_newer crash, or results unsound")
{
    char const* const names[] = {"Abs",
                                 "Add",
                                 "And",
                                 "ArgMax",
                                 "Cast",
                                 "CastLike",
                                 "Clip",
                                 "Concat",
                                 "ConstantOfShape",
                                 "CumSum",
                                 "Div",
                                 "Equal",
                                 "Expand",
                                 "EyeLike",
                                 "Flatten",
                                 "Gather",
                                 "GatherElements",
                                 "GatherND",
                                 "LogSoftmax",
                                 "Mod",
                                 "Mul",
                                 "NonZero",
                                 "OneHot",
                                 "Pad",
                                 "Pow",
                                 "Range",
                                 "ReduceLogSumExp",
                                 "ReduceMax",
                                 "ReduceMean",
                                 "ReduceSum",
                                 "Reshape",
                                 "ScatterElements",
                                 "ScatterND",
                                 "Shape",
                                 "Slice",
                                 "Split",
                                 "Squeeze",
                                 "Sum",
                                 "Tile",
                                 "TopK",
                                 "Transpose",
                                 "Trilu",
                                 "Unsqueeze",
                                 "Where",
                                 "AffineGrid",
                                 "Attention",
                                 "AveragePool",
                                 "CenterCropPad",
                                 "Col2Im",
                                 "DFT",
                                 "DeformConv",
                                 "GridSample",
                                 "LpPool",
                                 "Resize",
                                 "STFT",
                                 "HannWindow",
                                 "MelWeightMatrix",
                                 "QuantizeLinear",
                                 "StringSplit",
                                 "Einsum",
                                 "Compress",
                                 "LayerNormalization",
                                 "FusedConv",
                                 "FusedMatMul",
                                 "FusedGemm",
                                 "MultiHeadAttention",
                                 "GroupQueryAttention",
                                 "QAttention",
                                 "QGemm",
                                 "QLinearConcat",
                                 "QLinearWhere",
                                 "Rfft",
                                 "Irfft",
                                 "ExpandDims",
                                 "NhwcMaxPool",
                                 "EmbedLayerNormalization",
                                 "DynamicQuantizeLSTM",
                                 "BiasSplitGelu",
                                 "MatMulNBits",
                                 "QLinearReduceMean"};
    char const* const keys[] = {"axis",
                                "axes",
                                "perm",
                                "to",
                                "keepdims",
                                "batch_dims",
                                "k",
                                "start",
                                "end",
                                "starts",
                                "ends",
                                "split",
                                "kernel_shape",
                                "strides",
                                "pads",
                                "dilations",
                                "ceil_mode",
                                "num_heads",
                                "kv_num_heads",
                                "transA",
                                "noop_with_empty_axes",
                                "shape",
                                "N",
                                "upper"};
    sizes const odd{0, 1, 2, 3, -1, -2, 65536, 65537, greatest, least, 1ll << 32, -(1ll << 32)};
    auto const any = [&] {
        return draw(0, 3) == 0 ? odd[static_cast<std::size_t>(draw(0, 11))] : draw(-1, 3);
    };
    std::size_t known = 0, inferred = 0, refused = 0;
    for (int round = 0; round != 40000; ++round) {
        attributes given;
        for (auto n = draw(0, 4); n != 0; --n) {
            std::string const key = keys[draw(0, std::ssize(keys) - 1)];
            if (draw(0, 1) != 0) given.emplace_back(key, any());
            else {
                sizes numbers;
                for (auto i = draw(0, 4); i != 0; --i) numbers.push_back(any());
                given.emplace_back(key, std::move(numbers));
            }
        }
        std::string equation;
        for (auto n = draw(0, 9); n != 0; --n) equation += "ijK.,->1 "[draw(0, 8)];
        if (draw(0, 2) == 0) equation = "i...j,j->i...";
        given.emplace_back("equation", equation);
        std::vector<known_tensor> operands;
        std::vector<onnx::TypeProto> types;
        for (auto n = draw(0, 6); n != 0; --n) {
            int const e =
                draw(0, 3) == 0 ? int{TensorProto::FLOAT} : whole_types[draw(0, std::ssize(whole_types) - 1)];
            auto t = draw_tensor(draw_size(draw(0, 3), draw(0, 5) != 0),
                                 draw(0, 1) != 0 ? int{TensorProto::INT64} : e, -2, 3);
            for (auto& x : t.whole)
                if (draw(0, 9) == 0) x = any();
            sizes size = t.size;
            for (auto& d : size)
                if (draw(0, 5) == 0) d = any();
            types.push_back(type(size, t.element));
            operands.push_back(std::move(t));
        }
        auto node = node_of(names[draw(0, std::ssize(names) - 1)], operands.size(), given,
                            static_cast<int>(draw(0, 3)));
        std::vector<known_tensor const*> elements;
        std::vector<onnx::TypeProto const*> by_operand;
        for (std::size_t i = 0; i != operands.size(); ++i) {
            elements.push_back(draw(0, 5) != 0 ? &operands[i] : nullptr);
            by_operand.push_back(draw(0, 5) != 0 ? &types[i] : nullptr);
        }
        std::int64_t const opset = draw(1, 24);
        auto const results = evaluate(node, opset, elements, by_operand);
        REQUIRE(results.size() == static_cast<std::size_t>(node.output_size()));
        for (auto const& r : results) {
            if (!r) continue;
            ++known;
            REQUIRE(count_of(r->size) ==
                    (is_real(r->element) ? r->real : std::vector<double>(r->whole.size())).size());
            REQUIRE(count_of(r->size) <= most_known_elements);
            REQUIRE(elements_of(as_tensor(*r)).has_value());
        }
        if (draw(0, 1) != 0) node.set_domain("com.microsoft");
        try {
            auto const found = infer_newer(node, opset, by_operand, elements);
            if (!found) continue;
            ++inferred;
            REQUIRE(found->size() == static_cast<std::size_t>(node.output_size()));
            for (auto const& t : *found)
                for (auto const& d : t.tensor_type().shape().dim())
                    REQUIRE((!d.has_dim_value() || d.dim_value() >= 0));
        } catch (std::runtime_error const& e) {
            ++refused;
            REQUIRE(!std::string(e.what()).empty());
        }
    }
    CHECK(known > 1000);
    CHECK(inferred > 1000);
    CHECK(refused > 100);
}

TEST_CASE("types of newer standard operators")
{
    auto const x = type({2, 3, 4});
    auto const keeps_not = std::pair<std::string, value>{"keepdims", std::int64_t{0}};
    CHECK(infer("ReduceMax", 17, {x}) == "no rule");
    CHECK(infer("ReduceMax", 18, {x}) == "1[1,1,1]");
    CHECK(infer("ReduceMax", 18, {x, list({1, -1})}) == "1[2,1,1]");
    CHECK(infer("ReduceMax", 20, {x, list({1})}, {keeps_not}) == "1[2,4]");
    CHECK(infer("ReduceMax", 18, {x, type({1}, TensorProto::INT64)}) == "1[?,?,?]");
    CHECK(infer("ReduceMax", 18, {x, type({1}, TensorProto::INT64)}, {keeps_not}) == "1[?,?]");
    CHECK(infer("ReduceMax", 18, {x, type({-1}, TensorProto::INT64)}, {keeps_not}) == "1");
    CHECK(infer("ReduceMean", 18, {x}, {{"noop_with_empty_axes", std::int64_t{1}}}) == "1[2,3,4]");
    CHECK_THROWS_AS(infer("ReduceMax", 18, {x, list({3})}), std::runtime_error);
    CHECK(infer("ReduceSum", 18, {x, list({1})}) == "no rule"); // an operand since 13
    CHECK(infer("Split", 18, {type({7, 2})}, {{"num_outputs", std::int64_t{3}}}, 3) ==
          "1[3,2] 1[3,2] 1[1,2]");
    auto const many = infer("Split", 18, {type(sizes(1200, 1))}, {}, 1000); // not a million dimensions
    CHECK(many.find('[') == std::string::npos);
    CHECK(infer("Split", 18, {type({7, 2}), list({5, 2})}, {}, 2) == "1[5,2] 1[2,2]");
    CHECK(infer("Split", 18, {type({7, 2}), type({2}, TensorProto::INT64)}, {}, 2) == "1[?,2] 1[?,2]");
    CHECK(infer("Pad", 18, {x, list({1, 2}), {}, list({-1})}) == "1[2,3,7]");
    CHECK(infer("Pad", 18, {x, list({0, 0, 1, 0, 0, -2})}) == "1[2,3,3]");
    CHECK(infer("Pad", 19, {x, type({2}, TensorProto::INT64), {}, list({1})},
                {{"mode", std::string("wrap")}}) == "1[2,?,4]");
    CHECK_THROWS_AS(infer("Pad", 18, {x, list({1, 2})}), std::runtime_error);
    auto const image = type({1, 3, 10, 12});
    CHECK(infer("Resize", 18, {image, {}, reals({1, 1, 2.5, 0.3})}) == "1[1,3,25,3]");
    CHECK(infer("Resize", 18, {image, {}, {}, list({7, 7})}, {{"axes", sizes{2, 3}}}) == "1[1,3,7,7]");
    CHECK(infer("Resize", 19, {image, {}, {}, list({5, 12})},
                {{"axes", sizes{2, 3}}, {"keep_aspect_ratio_policy", std::string("not_larger")}}) ==
          "1[1,3,5,6]");
    CHECK(infer("Resize", 19, {image, {}, {}, list({5, 12})},
                {{"axes", sizes{2, 3}}, {"keep_aspect_ratio_policy", std::string("not_smaller")}}) ==
          "1[1,3,10,12]");
    CHECK(infer("Resize", 18, {image, {}, {}, type({4}, TensorProto::INT64)}) == "1[?,?,?,?]");
    CHECK(infer("QuantizeLinear", 19, {x, type({}), type({}, 17)}) == "17[2,3,4]");
    CHECK(infer("QuantizeLinear", 21, {x, type({})}, {{"output_dtype", std::int64_t{22}}}) == "22[2,3,4]");
    CHECK(infer("QuantizeLinear", 21, {x, type({})}) == "2[2,3,4]");
    CHECK(infer("DequantizeLinear", 21, {type({2, 8}, 22), type({2, 2}, TensorProto::FLOAT16)}) == "10[2,8]");
    CHECK(infer("CenterCropPad", 18, {x, list({9})}, {{"axes", sizes{1}}}) == "1[2,9,4]");
    CHECK(infer("Col2Im", 18, {type({1, 20, 12}), list({5, 5}), list({2, 5})}) == "1[1,2,5,5]");
    CHECK(infer("BitwiseAnd", 18, {type({2, 1}, TensorProto::INT32), type({5}, TensorProto::INT32)}) ==
          "6[2,5]");
    CHECK_THROWS_AS(infer("BitwiseAnd", 18, {type({2}), type({5})}), std::runtime_error);
    CHECK(infer("GroupNormalization", 21, {x, type({3}), type({3})}) == "1[2,3,4]");
    CHECK(infer("Gelu", 20, {x}) == "1[2,3,4]");
    CHECK(infer("Swish", 24, {x}) == "1[2,3,4]");
    CHECK(infer("AffineGrid", 20, {type({2, 2, 3}), list({2, 3, 5, 6})}) == "1[2,5,6,2]");
    CHECK(infer("GridSample", 20, {type({1, 3, 4, 4, 4}), type({1, 5, 6, 7, 3})}) == "1[1,3,5,6,7]");
    CHECK(infer("DFT", 20, {type({1, 10, 1}), {}, scalar(1)}, {{"onesided", std::int64_t{1}}}) == "1[1,6,2]");
    CHECK(infer("DFT", 17, {type({1, 10, 1}), scalar(4)}) == "1[1,4,2]");
    CHECK(infer("STFT", 17, {type({1, 128, 1}), scalar(8), type({16})}) == "1[1,15,9,2]");
    CHECK(infer("HannWindow", 17, {scalar(9)}) == "1[9]");
    CHECK(infer("MelWeightMatrix", 17, {scalar(8), scalar(16), scalar(8192), reals({0}), reals({4096})}) ==
          "1[9,8]");
    CHECK(infer("StringConcat", 20, {type({2, 1}, TensorProto::STRING), type({3}, TensorProto::STRING)}) ==
          "8[2,3]");
    CHECK(infer("StringSplit", 20, {type({2}, TensorProto::STRING)}, {}, 2) == "8[2,?] 7[2]");
    CHECK(infer("RegexFullMatch", 20, {type({2}, TensorProto::STRING)}) == "9[2]");
    CHECK(infer("DeformConv", 19, {type({1, 1, 3, 3}), type({1, 1, 2, 2}), type({1, 8, 4, 4})},
                {{"pads", sizes{1, 1, 1, 1}}, {"kernel_shape", sizes{2, 2}}}) == "1[1,1,4,4]");
    CHECK(infer("RMSNormalization", 23, {x, type({4})}) == "1[2,3,4]");
    CHECK(infer("RotaryEmbedding", 23, {x}) == "1[2,3,4]");
    CHECK(infer("Attention", 23, {type({2, 3, 4, 8}), type({2, 3, 6, 8}), type({2, 3, 6, 10})}) ==
          "1[2,3,4,10]");
    CHECK(infer("Attention", 23,
                {type({2, 4, 24}),
                 type({2, 6, 16}),
                 type({2, 6, 20}),
                 {},
                 type({2, 2, 12, 8}),
                 type({2, 2, 12, 10})},
                {{"q_num_heads", std::int64_t{3}}, {"kv_num_heads", std::int64_t{2}}},
                4) == "1[2,4,30] 1[2,2,18,8] 1[2,2,18,10] 1[2,3,4,18]");

    auto const of = [](char const* equation) { return attributes{{"equation", std::string(equation)}}; };
    CHECK(infer("Einsum", 12, {type({2, 3, 4}), type({2, 4, 5})}, of("bij, bjk -> bik")) == "1[2,3,5]");
    CHECK(infer("Einsum", 12, {type({2, 3, 4}), type({4, 5})}, of("...ij,jk->...ik")) == "1[2,3,5]");
    CHECK(infer("Einsum", 12, {type({2, 3, 4}), type({4, 5})}, of("...ij,jk")) == "1[2,3,5]");
    CHECK(infer("Einsum", 12, {type({3, 4})}, of("ji")) == "1[4,3]");
    CHECK(infer("Einsum", 12, {type({3, 3})}, of("ii")) == "1[]");
    CHECK(infer("Einsum", 12, {type({3, 3})}, of("ii->i")) == "1[3]");
    CHECK(infer("Einsum", 12, {type({3, -1}), {}}, of("ij,jk->ik")) == "1[3,?]");
    CHECK(infer("Einsum", 12, {type({3, 4}), {}}, of("...j,...j->...")) == "1");
    for (char const* equation :
         {"ij->ij,", "ij,jk,kl->il", "i1->i", "i->i", "ij->k", "i..j", "ij->i...j...", ""})
        CHECK_THROWS_AS(infer("Einsum", 12, {type({3, 4})}, of(equation)), std::runtime_error);
    CHECK_THROWS_AS(infer("Einsum", 12, {type({3, 4}), type({5, 6})}, of("ij,jk->ik")), std::runtime_error);
    CHECK(infer("OneHot", 11, {type({2, 3}, TensorProto::INT64), scalar(7), type({2})},
                {{"axis", std::int64_t{1}}}) == "1[2,7,3]");
    CHECK(infer("OneHot", 11, {type({2}, TensorProto::INT64), reals({7}), type({2}, TensorProto::INT32)}) ==
          "6[2,7]");
    CHECK(infer("OneHot", 11, {type({2}, TensorProto::INT64), type({}), type({2})}) == "1[2,?]");
    CHECK(infer("Compress", 11, {x, list({0, 1, 1}, TensorProto::BOOL)}, {{"axis", std::int64_t{-2}}}) ==
          "1[2,2,4]");
    CHECK(infer("Compress", 11, {x, type({5}, TensorProto::BOOL)}) == "1[?]");
    CHECK(infer("OptionalHasElement", 18, {}) == "9[]");
    CHECK(infer("Cast", 19, {x}, {{"to", std::int64_t{18}}}) == "18[2,3,4]");
    CHECK(infer("CastLike", 21, {x, type({1}, 22)}) == "22[2,3,4]");
    CHECK(infer("Cast", 18, {x}, {{"to", std::int64_t{1}}}) == "no rule");
    CHECK(infer("Constant", 21, {}, {{"value", known_tensor{22, {2, 3}, {}, {}}}}) == "22[2,3]");
    CHECK(infer("ConstantOfShape", 21, {list({4, 5})}, {{"value", known_tensor{17, {1}, {}, {}}}}) ==
          "17[4,5]");
    CHECK(infer("ConstantOfShape", 21, {list({4, 5})}, {{"value", reals({1})}}) == "no rule");

    // 1 + (10 - 3) / 2 with the ceiling; a window that begins behind the input and the padding before it goes
    attributes const ceil{{"kernel_shape", sizes{3}}, {"strides", sizes{2}}, {"ceil_mode", std::int64_t{1}}};
    CHECK(infer("MaxPool", 12, {type({1, 1, 10})}, ceil, 2) == "1[1,1,5] 7[1,1,5]");
    attributes const few{{"kernel_shape", sizes{1}}, {"strides", sizes{2}}, {"ceil_mode", std::int64_t{1}}};
    CHECK(infer("AveragePool", 12, {type({1, 1, 2})}, few) == "1[1,1,1]");
    CHECK(infer("AveragePool", 12, {type({1, 1, 2})}, {{"kernel_shape", sizes{1}}}) == "no rule");
    CHECK(infer("AveragePool", 19, {type({1, 1, 9})},
                {{"kernel_shape", sizes{2}}, {"dilations", sizes{3}}}) == "1[1,1,6]");
    CHECK(
        infer("AveragePool", 22, {type({1, 1, 9})},
              {{"kernel_shape", sizes{2}}, {"strides", sizes{2}}, {"auto_pad", std::string("SAME_UPPER")}}) ==
        "1[1,1,5]");
    CHECK(infer("LpPool", 18, {type({1, 1, -1})}, {{"kernel_shape", sizes{2}}}) == "1[1,1,?]");
    CHECK_THROWS_AS(infer("LpPool", 18, {type({1, 1, 9})}, {{"kernel_shape", sizes{2, 2}}}),
                    std::runtime_error);

    for (char const* name : {"Constant", "Conv", "Equal", "Identity", "Reshape", "Shape", "Add", "IsNaN"})
        CHECK(infer(name, 23, {x, x}) == "no rule");
    auto named = type({-1, 3});
    named.mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("N");
    CHECK(infer("Gelu", 20, {named}) == "1[N,3]");
    CHECK(infer("ReduceMax", 18, {named, list({1})}) == "1[N,1]");
    CHECK(infer("Gelu", 20, {onnx::TypeProto{}}) == "");
    CHECK(infer("Gelu", 20, {{}}) == "");
}

TEST_CASE("types of ONNX Runtime's operators")
{
    auto const i8 = [](sizes const& size) { return type(size, TensorProto::INT8); };
    auto const f = type({});
    std::pair<std::string, value> const heads{"num_heads", std::int64_t{4}};
    CHECK(infer("ms:Unheard", 1, {f}) == "no rule");
    CHECK(infer("ms:FusedConv", 1, {type({1, 3, 8, 8}), type({16, 3, 3, 3})}) == "1[1,16,6,6]");
    CHECK(infer("ms:NhwcFusedConv", 1, {type({1, 8, 8, 3}), type({16, 3, 3, 3})},
                {{"kernel_shape", sizes{3, 3}}}) == "1[1,6,6,16]");
    CHECK(infer("ms:FusedMatMul", 1, {type({2, 5, 3}), type({5, 7})}, {{"transA", std::int64_t{1}}}) ==
          "1[2,3,7]");
    CHECK(infer("ms:FusedMatMul", 1, {type({5}), type({5, 7})}) == "1[7]");
    CHECK(infer("ms:FusedMatMul", 1, {type({2, 5, 3}), type({5, 2, 7})},
                {{"transBatchA", std::int64_t{1}}}) == "1[?,?,?]");
    CHECK_THROWS_AS(infer("ms:FusedMatMul", 1, {type({4, 5}), type({6, 7})}), std::runtime_error);
    CHECK(infer("ms:FusedGemm", 1, {type({4, 5}), type({6, 5})}, {{"transB", std::int64_t{1}}}) == "1[4,6]");
    CHECK(infer("ms:BiasSplitGelu", 1, {type({2, 3, 8}), type({8})}) == "1[2,3,4]");
    CHECK(infer("ms:SkipLayerNormalization", 1, {type({2, 3, 8}), type({2, 3, 8}), type({8})}, {}, 4) ==
          "1[2,3,8] 1 1 1[2,3,8]");
    CHECK(infer("LayerNormalization", 11, {type({2, 3, 8}), type({8})}, {}, 3) ==
          "1[2,3,8] 1[2,3,1] 1[2,3,1]");
    CHECK(infer("LayerNormalization", 17, {type({2, 3, 8}), type({8})}) == "no rule");
    auto const ids = type({2, 9}, TensorProto::INT32);
    CHECK(infer("ms:EmbedLayerNormalization", 1, {ids, ids, type({100, 64})}, {}, 3) ==
          "1[2,9,64] 6[2] 1[2,9,64]");
    CHECK(infer("ms:Attention", 1,
                {type({2, 9, 64}), type({64, 192}), type({192}), {}, type({2, 2, 4, 5, 16})}, {heads},
                2) == "1[2,9,64] 1[2,2,4,14,16]");
    CHECK(infer("ms:QAttention", 1, {i8({2, 9, 64}), i8({64, 192}), type({192}), f, f}, {heads}) ==
          "1[2,9,64]");
    CHECK(infer("ms:MultiHeadAttention", 1, {type({2, 9, 64}), type({2, 7, 64}), type({2, 7, 32})}, {heads},
                3) == "1[2,9,32] 1[2,4,7,16] 1[2,4,7,8]");
    CHECK(infer("ms:MultiHeadAttention", 1, {type({2, 9, 4, 3, 16})}, {heads}) == "1[2,9,64]");
    auto const past = type({2, 2, 20, 16});
    CHECK(infer("ms:GroupQueryAttention", 1,
                {type({2, 1, 64}), type({2, 1, 32}), type({2, 1, 32}), past, past, ids,
                 scalar(25, TensorProto::INT32)},
                {heads, {"kv_num_heads", std::int64_t{2}}}, 3) == "1[2,1,64] 1[2,2,25,16] 1[2,2,25,16]");
    CHECK(infer("ms:GroupQueryAttention", 1, {type({2, 1, 128}), {}, {}, past, past, ids, ids},
                {heads, {"kv_num_heads", std::int64_t{2}}}, 3) == "1[2,1,64] 1[2,2,?,16] 1[2,2,?,16]");
    CHECK(infer("ms:MatMulNBits", 1, {type({2, 9, 64})}, {{"N", std::int64_t{10}}}) == "1[2,9,10]");
    CHECK(infer("ms:MatMulIntegerToFloat", 1, {i8({2, 3}), i8({3, 4}), f, f}) == "1[2,4]");
    CHECK(infer("ms:DynamicQuantizeMatMul", 1, {type({2, 3}), i8({3, 4}), f}) == "1[2,4]");
    CHECK(infer("ms:DynamicQuantizeLSTM", 1, {type({7, 2, 5})},
                {{"hidden_size", std::int64_t{6}}, {"direction", std::string("bidirectional")}},
                3) == "1[7,2,2,6] 1[2,2,6] 1[2,2,6]");
    CHECK(infer("ms:QLinearAdd", 1, {i8({2, 1}), f, i8({}), i8({3})}) == "3[2,3]");
    CHECK(infer("ms:QLinearWhere", 1, {type({2, 1}, TensorProto::BOOL), i8({3}), f, i8({}), i8({1})}) ==
          "3[2,3]");
    CHECK(infer("ms:QLinearConcat", 1, {f, i8({}), i8({2, 3}), f, i8({}), i8({2, 4}), f, i8({})},
                {{"axis", std::int64_t{1}}}) == "3[2,7]");
    CHECK(infer("ms:QGemm", 1, {i8({4, 5}), f, i8({}), i8({5, 6}), f, i8({})}) == "1[4,6]");
    CHECK(infer("ms:QGemm", 1, {i8({4, 5}), f, i8({}), i8({5, 6}), f, i8({}), {}, f, i8({})}) == "3[4,6]");
    CHECK(infer("ms:QLinearGlobalAveragePool", 1, {i8({1, 4, 4, 8})}, {{"channels_last", std::int64_t{1}}}) ==
          "3[1,1,1,8]");
    CHECK(infer("ms:QLinearAveragePool", 1, {i8({1, 4, 4, 8})},
                {{"channels_last", std::int64_t{1}}, {"kernel_shape", sizes{2, 2}}}) == "3[1,3,3,8]");
    CHECK(infer("ms:NhwcMaxPool", 1, {i8({1, 4, 6, 8})}, {{"kernel_shape", sizes{2, 2}}}) == "3[1,3,5,8]");
    CHECK(infer("ms:QLinearReduceMean", 1, {i8({2, 3})},
                {{"axes", sizes{1}}, {"keepdims", std::int64_t{0}}}) == "3[2]");
    CHECK(infer("ms:GatherND", 1, {type({2, 3, 4}), type({5, 2}, TensorProto::INT64)}) == "1[5,4]");
    CHECK(infer("ms:Rfft", 1, {type({2, 8})}) == "1[2,5,2]");
    CHECK(infer("ms:Irfft", 1, {type({2, 5, 2})}) == "1[2,8]");
    CHECK(infer("ms:ExpandDims", 1, {type({2, 8}), scalar(-1, TensorProto::INT32)}) == "1[2,8,1]");
    CHECK(infer("ms:Unique", 1, {type({8})}, {}, 3) == "1[?] 7[8] 7[?]");
    CHECK(infer("ms:Pad", 1, {type({2, 8}), list({0, 1, 0, 1})}) == "1[2,10]");
    CHECK(infer("ms:NGramRepeatBlock", 1, {ids, type({2, 50})}) == "1[2,50]");
}
