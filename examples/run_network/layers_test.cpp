// SPDX-License-Identifier: BSL-1.0

// Tests the reader of layers by results: networks of one operation are written as ONNX, read and run.

#include "compare_runs.hpp"
#include "host_steps.hpp"
#include "program.hpp"
#include "read_layers.hpp"
#include "weights.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace run_network;
using floats = std::vector<float>;
using integers = std::vector<std::int64_t>;

constexpr auto int64_max = std::numeric_limits<std::int64_t>::max(),
               int64_min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t int_max = std::numeric_limits<int>::max();

void set_shape(onnx::ValueInfoProto& value, std::string const& name, integers const& size,
               int type = onnx::TensorProto::FLOAT)
{
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    auto* const shape = value.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (auto n : size) shape->add_dim()->set_dim_value(n);
}

/// Of the largest element.
double deviation(floats const& is, floats const& should)
{
    REQUIRE(is.size() == should.size());
    double largest = 0, most = 0;
    for (std::size_t i = 0; i != is.size(); ++i) {
        if (std::isfinite(should[i])) largest = std::max(largest, std::abs(double(should[i])));
        if (is[i] != should[i]) most = std::max(most, std::abs(double(is[i]) - double(should[i])));
    }
    return most == 0 ? 0 : most / largest;
}

/// A file with one operation on constants.
class one_operation {
public:
    one_operation(std::string const& type, std::int64_t opset, integers const& result)
    {
        model_.set_ir_version(7);
        model_.add_opset_import()->set_version(opset);
        graph().set_name("one");
        graph().add_node();
        node().set_op_type(type);
        node().add_output("y");
        set_shape(*graph().add_output(), "y", result);
    }
    one_operation& result(integers const& size)
    {
        graph().mutable_output(0)->Clear();
        set_shape(*graph().mutable_output(0), "y", size);
        return *this;
    }
    /// Its result number `i`, and no other one.
    one_operation& as_output(int i)
    {
        node().clear_output();
        while (i-- != 0) node().add_output("");
        node().add_output("y");
        return *this;
    }
    /// Another operation, on the result.
    one_operation& then(char const* type, integers const& size)
    {
        node().set_output(0, "hidden");
        auto& next = *graph().add_node();
        next.set_op_type(type);
        next.add_input("hidden");
        next.add_output("y");
        auto& declared = *graph().add_value_info();
        set_shape(declared, "hidden", size);
        return *this;
    }
    /// An operand that the file does not hold.
    one_operation& given(integers const& size, int type = onnx::TensorProto::FLOAT)
    {
        std::string const name = "x" + std::to_string(node().input_size());
        node().add_input(name);
        set_shape(*graph().add_input(), name, size, type);
        return *this;
    }
    one_operation& in(integers const& size, floats const& numbers)
    {
        auto& tensor = add(size, onnx::TensorProto::FLOAT);
        for (float f : numbers) tensor.add_float_data(f);
        return *this;
    }
    one_operation& in(integers const& numbers) // raw, as exporters write them
    {
        auto& tensor = add({static_cast<std::int64_t>(numbers.size())}, onnx::TensorProto::INT64);
        std::string raw(numbers.size() * sizeof(std::int64_t), '\0');
        if (!raw.empty()) std::memcpy(raw.data(), numbers.data(), raw.size());
        tensor.set_raw_data(raw);
        return *this;
    }
    one_operation& without() { return node().add_input(""), *this; }
    one_operation& with(char const* name, integers const& numbers)
    {
        auto& a = *node().add_attribute();
        a.set_name(name);
        for (auto i : numbers) a.add_ints(i);
        return *this;
    }
    one_operation& with(char const* name, int number)
    {
        auto& a = *node().add_attribute();
        a.set_name(name);
        a.set_i(number);
        return *this;
    }
    one_operation& with(char const* name, float number)
    {
        auto& a = *node().add_attribute();
        a.set_name(name);
        a.set_f(number);
        return *this;
    }
    one_operation& with(char const* name, char const* word)
    {
        auto& a = *node().add_attribute();
        a.set_name(name);
        a.set_s(word);
        return *this;
    }

    layered_network read() const
    {
        std::ofstream out(file, std::ios::binary);
        REQUIRE(model_.SerializeToOstream(&out));
        out.close();
        return read_layers(file);
    }
    /// By primitives of oneDNN; formulas and rules have to give the same, but for rounding.
    floats run() const
    {
        layered_network const all = read();
        REQUIRE(reasons(all) == std::vector<std::string>{});
        floats const result = run(all, kernels::primitives);
        for (kernels other : {kernels::formulas, kernels::rules})
            CHECK(deviation(result, run(all, other)) <= 1e-5);
        return result;
    }
    floats run(layered_network const& all, kernels which) const
    {
        host_steps const steps = steps_of(all, which);
        weights given(steps, 1, false);
        auto const planned = sublet::plan_memory(steps.program(), steps.options());
        sublet::executor_options how;
        how.check = sublet::executor_options::checks::digest;
        sublet::cpu_executor execute{steps.program(), steps.options(), sublet::arena{planned},
                                     host_kernel{&steps}, how};
        given.each(steps, [&](sublet::value_id v, std::span<std::byte> bytes) { execute.bind(v, bytes); });
        execute.run();
        auto const result = outputs_of(all.net)[0];
        std::span<float const> const y = sublet::as<float>(execute.output(result));
        return {y.begin(), y.end()};
    }
    std::vector<std::string> missing() const { return reasons(read()); }
    /// Exit status and messages of the whole program.
    std::string program_status(std::vector<char const*> words = {}) const
    {
        read();
        words.insert(words.begin(), {"run_network", file});
        std::ostringstream out, err;
        int const status = run_program(static_cast<int>(words.size()), words.data(), out, err);
        return std::to_string(status) + ' ' + err.str();
    }

    /// What it prints, with a status of 0.
    std::string program_text(std::vector<char const*> words) const
    {
        read();
        words.insert(words.begin(), {"run_network", file});
        std::ostringstream out, err;
        CHECK(run_program(static_cast<int>(words.size()), words.data(), out, err) == 0);
        CHECK(err.str() == "");
        return out.str();
    }

    onnx::GraphProto& graph() { return *model_.mutable_graph(); }
    onnx::NodeProto& node() { return *graph().mutable_node(0); }

private:
    static constexpr char const* file = "run_network_layers_test.onnx";

    static std::vector<std::string> reasons(layered_network const& all)
    {
        std::vector<std::string> found;
        for (auto const& its : all.missing()) found.push_back(its.why);
        return found;
    }
    onnx::TensorProto& add(integers const& size, int type)
    {
        std::string const name = "x" + std::to_string(node().input_size());
        node().add_input(name);
        auto& tensor = *graph().add_initializer();
        tensor.set_name(name);
        tensor.set_data_type(type);
        for (auto n : size) tensor.add_dims(n);
        return tensor;
    }

    onnx::ModelProto model_;
};

using strings = std::vector<std::string>;

} // namespace

TEST_CASE("padding is explicit, before and after, or automatic")
{
    auto conv = [](integers const& y) {
        one_operation op("Conv", 13, y);
        return op.in({1, 1, 1, 4}, {1, 2, 3, 4}).in({1, 1, 1, 3}, {1, 1, 1});
    };
    CHECK(conv({1, 1, 1, 2}).run() == floats{6, 9});
    CHECK(conv({1, 1, 1, 2}).with("auto_pad", "VALID").run() == floats{6, 9});
    CHECK(conv({1, 1, 1, 3}).with("pads", integers{0, 0, 0, 1}).run() == floats{6, 9, 7});
    CHECK(conv({1, 1, 1, 3}).with("pads", integers{0, 1, 0, 0}).run() == floats{3, 6, 9});
    integers const by_two{1, 2};
    CHECK(conv({1, 1, 1, 2}).with("strides", by_two).with("auto_pad", "SAME_UPPER").run() == floats{6, 7});
    CHECK(conv({1, 1, 1, 2}).with("strides", by_two).with("auto_pad", "SAME_LOWER").run() == floats{3, 9});
    integers const side_pads{0, 1, 0, 1};
    CHECK(conv({1, 1, 1, 2}).with("dilations", by_two).with("pads", side_pads).run() == floats{6, 4});
    CHECK(conv({1, 1, 1, 2}).in({1}, {10}).run() == floats{16, 19});
    CHECK(one_operation("Conv", 13, {1, 2, 1, 1})
              .in({1, 2, 1, 1}, {2, 3})
              .in({2, 1, 1, 1}, {5, 7})
              .with("group", 2)
              .run() == floats{10, 21});
    CHECK(one_operation("ConvTranspose", 13, {1, 1, 1, 4})
              .in({1, 1, 1, 2}, {1, 2})
              .in({1, 1, 1, 2}, {1, 10})
              .with("strides", by_two)
              .run() == floats{1, 10, 2, 20});
}

TEST_CASE("pools round up, and count padding, if their attributes say so")
{
    auto pool = [](char const* type, integers const& y, floats const& x) {
        one_operation op(type, 13, y);
        return op.in({1, 1, 1, std::int64_t(x.size())}, x);
    };
    integers const two{1, 2}, three{1, 3}, side_pads{0, 1, 0, 1};
    floats const five{1, 2, 3, 4, 5}, four{1, 2, 3, 4};
    CHECK(pool("MaxPool", {1, 1, 1, 3}, five)
              .with("kernel_shape", two)
              .with("strides", two)
              .with("ceil_mode", 1)
              .run() == floats{2, 4, 5});
    CHECK(pool("MaxPool", {1, 1, 1, 2}, five).with("kernel_shape", two).with("strides", two).run() ==
          floats{2, 4});
    auto average =
        pool("AveragePool", {1, 1, 1, 4}, four).with("kernel_shape", three).with("pads", side_pads);
    CHECK(average.run() == floats{1.5f, 2, 3, 3.5f});
    CHECK(average.with("count_include_pad", 1).run() == floats{1, 2, 3, 7 / 3.0f});
    CHECK(pool("GlobalAveragePool", {1, 1, 1, 1}, four).run() == floats{2.5f});
    CHECK(one_operation("ReduceMean", 13, {2, 1}).in({2, 2}, four).with("axes", integers{-1}).run() ==
          floats{1.5f, 3.5f});
    CHECK(one_operation("ReduceMean", 18, {2}).in({2, 2}, four).in({1}).with("keepdims", 0).run() ==
          floats{1.5f, 3.5f});
}

TEST_CASE("operators are read by the rules of the file's opset")
{
    one_operation old_softmax("Softmax", 9, {1, 2, 2}), softmax("Softmax", 13, {1, 2, 2});
    CHECK(old_softmax.in({1, 2, 2}, {0, 0, 0, 0}).run() == floats{0.25f, 0.25f, 0.25f, 0.25f});
    CHECK(softmax.in({1, 2, 2}, {0, 0, 0, 0}).run() == floats{0.5f, 0.5f, 0.5f, 0.5f});

    floats const x{-1, 0.5f, 9};
    CHECK(one_operation("Clip", 6, {3}).in({3}, x).with("min", 0.0f).with("max", 6.0f).run() ==
          floats{0, 0.5f, 6});
    CHECK(one_operation("Clip", 13, {3}).in({3}, x).in({}, {0}).in({}, {6}).run() == floats{0, 0.5f, 6});
    CHECK(one_operation("Clip", 13, {3}).in({3}, x).without().in({}, {6}).run() == floats{-1, 0.5f, 6});

    floats const five{1, 2, 3, 4, 5};
    integers const from{1}, to{-1}, last{-1}, beyond{std::numeric_limits<std::int64_t>::min()}, by{-2},
        axis{0};
    CHECK(one_operation("Slice", 9, {3}).in({5}, five).with("starts", from).with("ends", to).run() ==
          floats{2, 3, 4});
    CHECK(one_operation("Slice", 13, {3}).in({5}, five).in(from).in(to).run() == floats{2, 3, 4});
    CHECK(one_operation("Slice", 13, {3}).in({5}, five).in(last).in(beyond).in(axis).in(by).run() ==
          floats{5, 3, 1});

    integers const pads{1, 2};
    CHECK(one_operation("Pad", 2, {4}).in({1}, {5}).with("pads", pads).with("value", 7.0f).run() ==
          floats{7, 5, 7, 7});
    CHECK(one_operation("Pad", 13, {4}).in({1}, {5}).in(pads).in({}, {7}).run() == floats{7, 5, 7, 7});
}

TEST_CASE("products take their operands as they are, or transposed")
{
    floats const a{1, 2, 3, 4, 5, 6}, b{1, 0, 0, 1, 1, 1};
    CHECK(one_operation("Gemm", 13, {2, 2}).in({2, 3}, a).in({3, 2}, b).run() == floats{4, 5, 10, 11});
    CHECK(one_operation("Gemm", 13, {2, 2}).in({2, 3}, a).in({2, 3}, b).with("transB", 1).run() ==
          floats{1, 6, 4, 15});
    CHECK(one_operation("Gemm", 13, {2, 2}).in({3, 2}, a).in({3, 2}, b).with("transA", 1).run() ==
          floats{6, 8, 8, 10});
    CHECK(one_operation("Gemm", 13, {2, 2})
              .in({2, 3}, a)
              .in({3, 2}, b)
              .in({2}, {1, 2})
              .with("alpha", 10.0f)
              .with("beta", 0.5f)
              .run() == floats{40.5f, 51, 100.5f, 111});
    CHECK(one_operation("MatMul", 13, {2, 1, 1}).in({2, 1, 2}, {1, 2, 3, 4}).in({2, 1}, {10, 1}).run() ==
          floats{12, 34});
}

TEST_CASE("attributes determine the positions of moved elements")
{
    floats const six{1, 2, 3, 4, 5, 6};
    CHECK(one_operation("Transpose", 13, {3, 2}).in({2, 3}, six).run() == floats{1, 4, 2, 5, 3, 6});
    CHECK(
        one_operation("Transpose", 13, {1, 2, 3}).in({2, 3, 1}, six).with("perm", integers{2, 0, 1}).run() ==
        six);
    CHECK(one_operation("Concat", 13, {2, 2}).in({2, 1}, {1, 2}).in({2, 1}, {3, 4}).with("axis", -1).run() ==
          floats{1, 3, 2, 4});
    CHECK(one_operation("Gather", 13, {2, 2}).in({2, 3}, six).in({-1, 0}).with("axis", 1).run() ==
          floats{3, 1, 6, 4});
    CHECK(one_operation("Expand", 13, {2, 2}).in({2, 1}, {1, 2}).in({2, 2}).run() == floats{1, 1, 2, 2});
    CHECK(one_operation("Sum", 13, {2, 2}).in({2, 1}, {1, 2}).in({2}, {10, 20}).in({}, {100}).run() ==
          floats{111, 121, 112, 122});
    CHECK(one_operation("Resize", 13, {1, 1, 1, 4})
              .in({1, 1, 1, 2}, {0, 4})
              .without()
              .in({4}, {1, 1, 1, 2})
              .with("mode", "linear")
              .run() == floats{0, 1, 3, 4});
    CHECK(one_operation("ConstantOfShape", 13, {2}).in({2}).run() == floats{0, 0});
    CHECK(one_operation("Reshape", 13, {3, 2}).in({2, 3}, six).in({3, 2}).run() == six);
}

TEST_CASE("unsupported operations are reported with a reason")
{
    floats const two{1, 2};
    CHECK(one_operation("Frobnicate", 13, {2}).in({2}, two).missing() == strings{"Frobnicate (1)"});
    CHECK(one_operation("Conv", 13, {1, 1, 2}).in({1, 1, 2}, two).in({1, 1, 1}, {3}).run() == floats{3, 6});
    CHECK(
        one_operation("Conv", 13, {1, 1, 1, 1, 1}).given({1, 1, 1, 1, 1}).given({1, 1, 1, 1, 1}).missing() ==
        strings{"Conv over 3 dimensions (1)"});
    CHECK(one_operation("Pad", 13, {4}).in({2}, two).in({1, 1}).with("mode", "reflect").run() ==
          floats{2, 1, 2, 1});
    CHECK(one_operation("Add", 13, {2}).in({2}, two).in({3}, {1, 2, 3}).missing() ==
          strings{"Add of shapes that do not fit (1)"});
    CHECK(one_operation("Neg", 13, {2}).in({2}, two).with("alias_of_input", integers{-1}).missing() ==
          strings{});
    CHECK(one_operation("ReduceMean", 13, {1, 1}).in({2, 1}, two).with("axes", integers{0}).run() ==
          floats{1.5f});
    integers const large{2, 1 << 22};
    CHECK(one_operation("ReduceMean", 13, {1, 1 << 22}).given(large).with("axes", integers{0}).missing() ==
          strings{"ReduceMean over axes that are not the last (1)"});
}

TEST_CASE("a window is refused if it or its padded input does not fit 32 bits")
{
    strings const odd_conv{"Conv with invalid windows (1)"};
    integers const four{1, 1, 4, 4};
    auto conv = [&](char const* name, integers const& numbers) {
        one_operation op("Conv", 13, four);
        return op.given(four).given({1, 1, 3, 1}).with(name, numbers).missing();
    };
    for (auto huge : {int_max, int_max + 1, int64_max, int64_min}) {
        CHECK(conv("dilations", {huge, 1}) == odd_conv);
        CHECK(conv("strides", {huge, 1}) == odd_conv);
        CHECK(conv("pads", {huge, 0, huge, 0}) != strings{});
        one_operation spread("ConvTranspose", 13, four), pool("MaxPool", 13, four);
        CHECK(spread.given(four).given({1, 1, 3, 1}).with("strides", {huge, 1}).missing() != strings{});
        CHECK(pool.given(four)
                  .with("kernel_shape", integers{3, 3})
                  .with("dilations", {huge, 1})
                  .with("pads", {huge, huge, 0, 0})
                  .missing() != strings{});
    }
    one_operation once("Conv", 13, {1, 1, 1, 1}); // a stride that is never taken needs no space
    once.in({1, 1, 1, 4}, {1, 2, 3, 4}).in({1, 1, 1, 2}, {1, 10}).with("strides", {1, 1 << 30});
    CHECK(once.run() == floats{21});
}

TEST_CASE("no window of a pool lies in the padding only")
{
    one_operation pool("MaxPool", 13, {1, 1, 1, 1}); // a tap on each side of the only element
    CHECK(pool.in({1, 1, 1, 1}, {1})
              .with("kernel_shape", {1, 2})
              .with("dilations", {1, 2})
              .with("pads", {0, 1, 0, 1})
              .missing() == strings{"MaxPool with windows of padding alone (1)"});
}

TEST_CASE("a local response over more channels than exist is one over all channels")
{
    one_operation op("LRN", 13, {1, 3, 1, 1});
    op.in({1, 3, 1, 1}, {1, 2, 3})
        .with("size", static_cast<int>(int_max))
        .with("beta", 1.0f)
        .with("bias", 2.0f);
    CHECK(op.with("alpha", 2147483648.0f).run() == floats{1 / 16.0f, 2 / 16.0f, 3 / 16.0f});
}

TEST_CASE("a Resize is by a primitive or by its rule")
{
    floats const four{1, 2, 3, 4};
    auto resized = [&](integers const& y, floats const& scales, char const* mode) {
        one_operation op("Resize", 13, y);
        op.in({1, 1, 2, 2}, four).in({0}, {}).in({4}, scales).with("mode", mode);
        return op.run();
    };
    CHECK(resized({1, 1, 4, 2}, {1, 1, 2, 1}, "nearest") == floats{1, 2, 1, 2, 3, 4, 3, 4});
    CHECK(resized({1, 1, 2, 4}, {1, 1, 1, 2}, "linear") == floats{1, 1.25f, 1.75f, 2, 3, 3.25f, 3.75f, 4});
    CHECK(resized({1, 1, 2, 3}, {1, 1, 1, 1.5f}, "nearest") == floats{1, 1, 2, 3, 3, 4}); // no multiple
}

TEST_CASE("a Transpose names each axis once")
{
    auto transpose = [](integers const& order) {
        one_operation op("Transpose", 13, {3, 3});
        return op.given({3, 5}).with("perm", order).missing();
    };
    CHECK(transpose({0, 0}) == strings{"Transpose along one axis twice (1)"});
    CHECK(transpose({0}) == strings{"Transpose of shapes that do not fit (1)"});
    CHECK(transpose({0, int64_max}) == strings{"Transpose along an axis out of range (1)"});
}

TEST_CASE("the length of a Concat or Pad is that of its parts, also beyond 32 bits")
{
    integers const long_one{1000000000};
    one_operation join("Concat", 13, long_one);
    for (int i = 0; i != 5; ++i) join.given(long_one);
    CHECK(join.with("axis", 0).missing() == strings{"Concat of shapes that do not fit (1)"});

    auto pad = [](integers const& y, integers const& pads) {
        one_operation op("Pad", 13, y);
        return op.in({4}, {1, 2, 3, 4}).in(pads);
    };
    CHECK(pad({2}, {-1, -1}).run() == floats{2, 3});
    CHECK(pad({4}, {-2, 2}).run() == floats{3, 4, 0, 0});
}

TEST_CASE("a declared view is refused if its operation computes a result")
{
    one_operation relu("Relu", 13, {2}), reshape("Reshape", 13, {2});
    CHECK(relu.given({2}).with("alias_of_input", integers{0}).missing() ==
          strings{"Relu with a result declared as a view (1)"});
    CHECK(reshape.given({2})
              .given({1}, onnx::TensorProto::INT64)
              .with("alias_of_input", integers{1})
              .missing() == strings{"Reshape with a result declared as a view (1)"});
}

TEST_CASE("shapes are those that follow, also where the file declares others")
{
    floats const one{1}, two{1, 2};
    CHECK(one_operation("Add", 13, {5}).in({1}, one).in({1}, one).run() == floats{2});
    CHECK(one_operation("MatMul", 13, {3, 1, 1}).in({1, 2}, two).in({2, 1}, two).run() == floats{5});
    CHECK(one_operation("Expand", 13, {3, 2}).in({2}, two).in({2, 2}).run() == floats{1, 2, 1, 2});
    CHECK(one_operation("Reshape", 13, {3, 4}).in({2, 1}, two).in({1, -1}).run() == two);
    CHECK(one_operation("Relu", 13, {3}).in({2}, two).run() == two);
    CHECK(one_operation("Constant", 13, {2}).with("value_float", 1.0f).run() == one);
    CHECK(one_operation("MatMul", 13, {2, 2000}).in({2, 0}, {}).in({0, 2000}, {}).run() == floats(4000));
}

TEST_CASE("what a rule refuses is refused when it runs, by its operation")
{
    floats const two{1, 2};
    auto refused = [](one_operation const& op, char const* label) {
        CHECK_THROWS_WITH_AS(op.run(), doctest::Contains(label), sublet::run_error);
    };
    refused(one_operation("Gather", 13, {1}).in({2}, two).in({2}),
            "node 0 (Gather) has no result of the planned");
    refused(one_operation("Gather", 13, {1}).in({2}, two).in({-3}),
            "node 0 (Gather) has no result of the planned");
    refused(one_operation("Gather", 13, {1}).in({2}, two), "node 0 (Gather) has no result of the planned");
    refused(one_operation("Expand", 13, {3}).in({2}, two).in({3}),
            "node 0 (Expand) has no result of the planned");
}

TEST_CASE("attributes must have the expected kind, and operands must be the node's own")
{
    one_operation group("Conv", 13, {1, 1, 1, 1}), sum("Sum", 13, {1});
    CHECK(group.given({1, 1, 1, 1}).given({1, 1, 1, 1}).with("group", 1.0f).missing() ==
          strings{"Conv with an attribute group of another kind (1)"});
    auto& inner = *sum.given({1}).node().add_attribute();
    inner.set_name("body");
    set_shape(*sum.graph().add_input(), "captured", {1});
    inner.mutable_g()->add_output()->set_name("captured");
    CHECK(sum.missing() == strings{"Sum with subgraphs (1)"});
    CHECK(one_operation("two\nlines", 13, {1}).given({1}).missing() == strings{"two?lines (1)"});
}

TEST_CASE("the memory of a run is checked against the limit before anything is allocated")
{
    one_operation relu("Relu", 13, {4});
    relu.given({4});
    CHECK(relu.program_status() == "0 ");
    std::string const refused = "2 run_network: run_network_layers_test.onnx: ";
    CHECK(relu.program_status({"--mode", "arena", "--limit", "160"}) == "0 ");
    CHECK(relu.program_status({"--mode", "arena", "--limit", "159"}) ==
          refused + "even with its plan a run needs 160 bytes, more than the limit of 159 (see --limit)\n");
    CHECK(relu.program_status({"--mode", "none", "--limit", "159"}) ==
          refused + "even with its plan a run needs 160 bytes, more than the limit of 159 (see --limit)\n");
    set_shape(*relu.graph().add_input(), "a", {1 << 30, 1 << 30, 2});
    CHECK(relu.program_status({"--limit", "1000"}) ==
          refused +
              "even with its plan a run needs 9223372036854776000 bytes, more than the limit of 1000 (see "
              "--limit)\n");
    set_shape(*relu.graph().add_input(), "b", {1 << 30, 1 << 30, 2});
    CHECK(relu.program_status() ==
          refused + "even with its plan a run needs more bytes than 64 bits can count\n");
}

namespace {

onnx::NodeProto& add_node(one_operation& net, char const* type, strings const& inputs,
                          std::string const& output)
{
    onnx::NodeProto& node = *net.graph().add_node();
    node.set_op_type(type);
    for (auto const& name : inputs) node.add_input(name);
    node.add_output(output);
    return node;
}

/// Layers of a product and a Sigmoid on 64 images, and the gradients of their weights: each activation is
/// needed until its gradient.
one_operation training_network(int layers)
{
    one_operation net("MatMul", 13, {8, 8});
    net.graph().Clear();
    net.graph().set_name("training");
    auto add = [&](char const* type, strings const& inputs, std::string const& output) -> onnx::NodeProto& {
        return add_node(net, type, inputs, output);
    };
    auto transposed = [](onnx::NodeProto& node, char const* which) {
        onnx::AttributeProto& a = *node.add_attribute();
        a.set_name(which);
        a.set_type(onnx::AttributeProto::INT);
        a.set_i(1);
    };
    auto name = [](char const* what, int layer) { return what + std::to_string(layer); };
    set_shape(*net.graph().add_input(), "h0", {64, 8});
    for (int i = 1; i <= layers; ++i) {
        set_shape(*net.graph().add_input(), name("w", i), {8, 8});
        add("MatMul", {name("h", i - 1), name("w", i)}, name("a", i));
        add("Sigmoid", {name("a", i)}, name("h", i));
    }
    add("Sub", {name("h", layers), "h0"}, name("g", layers));
    for (int i = layers; i != 0; --i) {
        add("Mul", {name("h", i), name("h", i)}, name("squared", i)); // the derivative: h - h * h
        add("Sub", {name("h", i), name("squared", i)}, name("slope", i));
        add("Mul", {name("g", i), name("slope", i)}, name("t", i));
        transposed(add("Gemm", {name("h", i - 1), name("t", i)}, name("gradient", i)), "transA");
        set_shape(*net.graph().add_output(), name("gradient", i), {8, 8});
        if (i != 1) transposed(add("Gemm", {name("t", i), name("w", i)}, name("g", i - 1)), "transB");
    }
    return net;
}

/// The number behind a word.
std::uint64_t number_after(std::string const& text, std::string const& word)
{
    auto const at = text.find(word);
    REQUIRE(at != text.npos);
    return std::stoull(text.substr(at + word.size()));
}

} // namespace

TEST_CASE("a network that has to fit a capacity has the same results, with copies and with steps run again")
{
    one_operation const net = training_network(8);
    for (std::string const restore : {"copies", "steps", "both"})
        for (std::string const capacity : {"80%", "60%"}) {
            CAPTURE(restore);
            CAPTURE(capacity);
            std::string const text =
                net.program_text({"--capacity", capacity.c_str(), "--restore", restore.c_str(), "--mode",
                                  "arena", "--threads", "2", "--streams", "3", "--check", "digest"});
            CAPTURE(text);
            CHECK(text.find("results: identical\n") != text.npos);
            auto const bytes = number_after(text, "\ncapacity: ");
            CHECK(bytes < number_after(text, "\nserial arena: peak_bytes "));
            for (char const* run : {"serial capacity", "2 threads capacity", "2 threads handoffs",
                                    "3 simulated streams capacity", "3 simulated streams handoffs"})
                CHECK(number_after(text, '\n' + std::string(run) + ": peak_bytes ") <= bytes);
            bool const copies = number_after(text, "copied_bytes ") != 0;
            bool const runs_again = number_after(text, "steps_again ") != 0;
            CHECK((copies || runs_again));
            CHECK((!copies || restore != "steps"));
            CHECK((!runs_again || restore != "copies"));
        }
    CHECK(net.program_status({"--capacity", "1000"}) ==
          "2 run_network: run_network_layers_test.onnx: no plan was found within a capacity of 1000 bytes; "
          "each needs at least 9728, for node 20 (Gemm)\n");
}

TEST_CASE("a step that runs again leaves alone the views that other steps made")
{
    one_operation lstm("LSTM", 13, {4, 1, 2, 3});
    lstm.given({4, 2, 3}).given({1, 12, 3}).given({1, 12, 3}).with("hidden_size", 3);
    layered_network const all = lstm.read();
    host_steps const steps = steps_of(all);
    host_step const& step = steps.steps.at(0);
    REQUIRE(step.scratch != sublet::no_value);
    struct fake_call { // as of an executor, with one more result
        std::vector<sublet::value_id> used, made;
        std::vector<std::vector<std::byte>>* bytes;
        sublet::step_id step = 0;

        std::span<sublet::value_id const> uses() const { return used; }
        std::span<sublet::value_id const> defs() const { return made; }
        std::span<std::byte const> in(std::size_t i) const { return (*bytes)[used[i]]; }
        std::span<std::byte> out(std::size_t j) const { return (*bytes)[made[j]]; }
        bool is_view(std::size_t) const { return false; }
        std::size_t scratch_count() const { return 1; }
        std::span<std::byte> scratch() const { return bytes->back(); }
    };
    std::vector<std::vector<std::byte>> bytes;
    for (auto size : steps.bytes) bytes.emplace_back(size);
    auto const scratch = steps.bytes[step.scratch];
    auto const view = static_cast<sublet::value_id>(bytes.size());
    bytes.emplace_back(scratch, std::byte{7});
    bytes.emplace_back(scratch);
    fake_call call{{}, step.defs, &bytes};
    for (auto v : step.uses)
        if (v != sublet::no_value) call.used.push_back(v);
    call.made.push_back(view);
    host_kernel{&steps}(call);
    CHECK(bytes[view] == std::vector<std::byte>(scratch, std::byte{7}));
}

TEST_CASE("host results must agree bit by bit, device results up to rounding")
{
    float const one = 1, next = std::nextafter(one, 2.0f);
    auto with = [](char const* executor, float x) {
        mode_run r;
        r.executor = executor, r.mode = "arena", r.outputs = {{4, double(x)}};
        return r;
    };
    CHECK(compare_runs({with("serial", one), with("serial", one)}).are_equal);
    CHECK(!compare_runs({with("serial", one), with("2 threads", next)}).are_equal);
    CHECK(compare_runs({with("serial", one), with("cuda", next), with("cuda", next)}).are_equal);
    CHECK(compare_runs({with("serial", one), with("formulas", one), with("cuda", next)}).are_equal);
    CHECK(compare_runs({with("serial", one), with("formulas", one)}).remarks == strings{});
    CHECK(compare_runs({with("serial", one), with("formulas", next)}).remarks.size() == 1);
    CHECK(!compare_runs({with("serial", one), with("cuda", next), with("cuda", one)}).are_equal);
    CHECK(!compare_runs({with("serial", one), with("cuda", 1.005f)}).are_equal);
    CHECK(!compare_runs({with("serial", NAN)}).are_equal);
    CHECK(!compare_runs({with("serial", one), with("cuda", NAN)}).are_equal);
    mode_run nothing = with("serial", 0);
    nothing.outputs = {{0, 0}};
    CHECK(!compare_runs({nothing, nothing}).are_equal); // proves nothing
    nothing.outputs = {{0}};
    CHECK(!compare_runs({with("serial", 0), nothing}).are_equal);
    CHECK(compare_runs({with("serial", one), with("2 threads", 3)}).remarks ==
          strings{"2 threads arena differs from serial arena in 1 elements, by 0.500000 of the largest"});
}

TEST_CASE("a kernel that overwrites an operand that it still reads changes the result")
{
    integers const size{1, 1, 1, 6};
    one_operation conv("Conv", 13, size);
    conv.in(size, {1, 2, 3, 4, 5, 6}).in({1, 1, 1, 3}, {1, 1, 1}).with("pads", integers{0, 1, 0, 1});
    layered_network const all = conv.read();
    auto const in_place = [](layer const& what) { // each element from its neighbours
        floats buffer{1, 2, 3, 4, 5, 6};
        floats const w{1, 1, 1};
        operands const its{{buffer.data(), w.data()}, buffer.data(), buffer.size() * sizeof(float)};
        run_as_formulas(what, its);
        return buffer;
    };
    CHECK(conv.run() == floats{3, 6, 9, 12, 15, 11});
    CHECK(in_place(all.layers[0]) != floats{3, 6, 9, 12, 15, 11});
    CHECK(overwritable_operands(all.layers[0]).empty());
}

TEST_CASE("primitives compute what the formulas compute, over random shapes")
{
    std::mt19937 random(1);
    auto roll = [&](std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
    };
    std::size_t primitives = 0;
    for (int round = 0; round != 700; ++round) {
        CAPTURE(round);
        std::int64_t const groups = roll(1, 3) == 1 ? roll(2, 9) : 1, in = groups * roll(1, 18),
                           out = groups * roll(1, 18);
        std::int64_t const rows = roll(4, 12), columns = roll(4, 12), tall = roll(1, 3), wide = roll(1, 3);
        std::int64_t const stride = roll(1, 2), gap = roll(1, 2), top = roll(0, tall - 1),
                           left = roll(0, wide - 1);
        integers const x{roll(1, 2), in, rows, columns}, kernel{tall, wide}, strides{stride, 1}, gaps{1, gap};
        integers const pads{top, left, 0, 0};
        std::int64_t const y_rows = (rows + top - tall) / stride + 1,
                           y_columns = columns + left - (wide - 1) * gap;
        char const* const kinds[] = {"Conv",
                                     "ConvTranspose",
                                     "MaxPool",
                                     "AveragePool",
                                     "BatchNormalization",
                                     "Gemm",
                                     "MatMul",
                                     "Softmax",
                                     "LRN",
                                     "Transpose",
                                     "Concat",
                                     "Add",
                                     "Div",
                                     "HardSwish",
                                     "Elu",
                                     "LeakyRelu",
                                     "Softplus",
                                     "Exp",
                                     "Abs",
                                     "Neg",
                                     "Sub",
                                     "Mul",
                                     "Sigmoid",
                                     "Tanh",
                                     "Erf",
                                     "HardSigmoid",
                                     "Relu",
                                     "Gather",
                                     "Slice",
                                     "ReduceMean",
                                     "GlobalMaxPool",
                                     "GlobalAveragePool",
                                     "ReduceSum",
                                     "ReduceMax",
                                     "ReduceMin"};
        std::string const kind = kinds[static_cast<std::size_t>(round) % std::size(kinds)];
        one_operation one(kind, 13, x);
        one.given(x);
        if (kind == "Conv" || kind == "ConvTranspose") {
            bool const is_plain = kind == "Conv";
            one.result(is_plain ? integers{x[0], out, y_rows, y_columns}
                                : integers{x[0], out, (rows - 1) * stride + tall - top,
                                           columns - 1 + (wide - 1) * gap + 1 - left});
            one.given(is_plain ? integers{out, in / groups, tall, wide}
                               : integers{in, out / groups, tall, wide});
            if (roll(0, 1) == 0) one.given({out});
            one.with("group", static_cast<int>(groups))
                .with("strides", strides)
                .with("dilations", gaps)
                .with("pads", pads);
        } else if (kind == "MaxPool" || kind == "AveragePool") {
            one.result({x[0], in, y_rows, columns + left - wide + 1});
            one.with("kernel_shape", kernel).with("strides", strides).with("pads", pads);
            if (kind == "AveragePool") one.with("count_include_pad", static_cast<int>(roll(0, 1)));
        } else if (kind == "BatchNormalization") {
            for (int i = 0; i != 4; ++i) one.given({in});
        } else if (kind == "Gemm") {
            std::int64_t const height = roll(0, 1) == 0 ? 1 : rows;
            one = one_operation(kind, 13, {height, out});
            bool const a = roll(0, 1) == 0, b = roll(0, 1) == 0;
            one.given(a ? integers{in, height} : integers{height, in})
                .given(b ? integers{out, in} : integers{in, out});
            if (roll(0, 1) == 0) one.given(roll(0, 1) == 0 ? integers{out} : integers{height, 1});
            one.with("transA", a).with("transB", b);
            if (roll(0, 1) == 0) one.with("alpha", 0.5f).with("beta", 2.0f);
        } else if (kind == "MatMul") {
            bool const is_repeated = roll(0, 1) == 0;
            one.result({x[0], in, rows, out})
                .given(is_repeated ? integers{columns, out} : integers{x[0], 1, columns, out});
        } else if (kind == "Softmax") {
            one.with("axis", static_cast<int>(roll(0, 3)));
        } else if (kind == "LRN") {
            one.with("size", static_cast<int>(roll(1, 5)));
        } else if (kind == "Transpose") {
            integers order{0, 1, 2, 3}, turned;
            std::shuffle(order.begin(), order.end(), random);
            for (auto axis : order) turned.push_back(x[static_cast<std::size_t>(axis)]);
            one.result(turned).with("perm", order);
        } else if (kind == "Concat") {
            one.result({x[0], in + out, rows, columns}).given({x[0], out, rows, columns}).with("axis", 1);
        } else if (kind.starts_with("Global")) {
            one.result({x[0], in, 1, 1});
        } else if (kind.starts_with("Reduce")) {
            one.result({x[0], in, rows, 1});
            if (kind == "ReduceSum") one.in(integers{-1});
            else one.with("axes", integers{-1});
        } else if (kind == "Gather") {
            one.result({x[0], in, 2, columns}).in(integers{roll(-rows, rows - 1), 1}).with("axis", 2);
        } else if (kind == "Slice") {
            one.in(integers{2, -1}).in(integers{int64_max, int64_min}).in(integers{2, 3}).in(integers{1, -2});
            one.result({x[0], in, rows - 2, (columns + 1) / 2});
        } else if (kind == "Add" || kind == "Div" || kind == "Sub" || kind == "Mul") {
            integers const shapes[] = {x, {1, in, 1, 1}, {columns}, {1}, {in, rows, 1}};
            one.given(shapes[roll(0, 4)]);
        }
        one.run();
        for (host_step const& step : steps_of(one.read()).steps)
            primitives += !step.is_reorder && step.primitive;
    }
    CHECK(primitives > 500);
}

TEST_CASE("the factor of a product is that of no later layer")
{
    one_operation product("Gemm", 13, {1, 1});
    product.in({1, 1}, {3}).in({1, 1}, {2}).with("alpha", 0.5f).then("Relu", {1, 1});
    CHECK(product.run() == floats{3});
}

TEST_CASE("an If that shapes decide is its branch, if it has one")
{
    auto branch = [](onnx::NodeProto& to, char const* name, char const* type) {
        auto& a = *to.add_attribute();
        a.set_name(name);
        auto& inner = *a.mutable_g()->add_node();
        inner.set_op_type(type);
        inner.add_input("a");
        inner.add_output("b");
        a.mutable_g()->add_output()->set_name("b");
    };
    for (bool has_branch : {true, false}) {
        one_operation one("Identity", 13, {2});
        auto& condition = *one.in({2}, {-1, 2}).then("If", {2}).graph().mutable_node(1);
        one.node().set_output(0, "a");
        condition.set_input(0, "c");
        auto& known = *one.graph().add_initializer();
        known.set_name("c");
        known.set_data_type(onnx::TensorProto::BOOL);
        known.set_raw_data(std::string(1, '\1'));
        branch(condition, "else_branch", "Neg");
        if (has_branch) branch(condition, "then_branch", "Relu");
        if (has_branch) CHECK(one.run() == floats{0, 2});
        else CHECK(one.missing() != strings{});
    }
}

TEST_CASE("a sum is not written over an operand that it reads again")
{
    one_operation thrice("Relu", 13, {2});
    thrice.in({2}, {1, 2}).then("Sum", {2}).graph().mutable_node(1)->add_input("hidden");
    thrice.graph().mutable_node(1)->add_input("hidden");
    CHECK(thrice.run() == floats{3, 6});
}

TEST_CASE("a transposed convolution adds the weights times each element")
{
    std::mt19937 random(1);
    auto noise = [&](std::int64_t count) {
        floats all(static_cast<std::size_t>(count));
        for (float& f : all) f = float(random() % 2001) / 1000.0f - 1;
        return all;
    };
    for (std::int64_t groups : {1, 2})
        for (std::int64_t stride : {1, 2, 3})
            for (std::int64_t in : {3, 16}) {
                std::int64_t const out = 4, rows = 3, taps = 2, gap = 2, before = 1, all = in * groups;
                std::int64_t const y_rows = (rows - 1) * stride + (taps - 1) * gap + 1 - before;
                floats const x = noise(all * rows), w = noise(all * out * taps), b = noise(out * groups);
                floats should(static_cast<std::size_t>(out * groups * y_rows));
                auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
                for (std::int64_t f = 0; f != out * groups; ++f)
                    for (std::int64_t i = 0; i != y_rows; ++i) should[at(f * y_rows + i)] = b[at(f)];
                for (std::int64_t c = 0; c != all; ++c)
                    for (std::int64_t i = 0; i != rows; ++i)
                        for (std::int64_t f = 0; f != out; ++f)
                            for (std::int64_t k = 0; k != taps; ++k) {
                                std::int64_t const to = i * stride + k * gap - before;
                                if (to >= 0 && to < y_rows)
                                    should[at((c / in * out + f) * y_rows + to)] +=
                                        x[at(c * rows + i)] * w[at((c * out + f) * taps + k)];
                            }
                one_operation one("ConvTranspose", 13, {1, out * groups, y_rows});
                one.in({1, all, rows}, x).in({all, out, taps}, w).in({out * groups}, b);
                one.with("group", int(groups)).with("strides", integers{stride});
                one.with("dilations", integers{gap}).with("pads", integers{before, 0});
                CHECK(deviation(one.run(), should) <= 1e-5);
            }
}

TEST_CASE("recurrences compute what their definitions say, in both directions")
{
    std::mt19937 random(1);
    auto noise = [&](int count) {
        floats all(static_cast<std::size_t>(count));
        for (float& f : all) f = float(random() % 2001) / 1000.0f - 1;
        return all;
    };
    auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    char const* const ways[] = {"forward", "reverse", "bidirectional"};
    for (int round = 0; round != 36; ++round) {
        CAPTURE(round);
        bool const is_lstm = round % 3 == 0, resets_product = round % 3 == 1, is_biased = round % 2 == 0;
        std::string const way = ways[round / 3 % 3];
        int const steps = 1 + round % 4, images = 1 + round % 2, inputs = 1 + round % 5,
                  states = 1 + round % 9;
        int const gates = is_lstm ? 4 : 3, both = way == "bidirectional" ? 2 : 1,
                  output = round % (is_lstm ? 3 : 2);
        floats const x = noise(steps * images * inputs), w = noise(both * gates * states * inputs);
        floats const r = noise(both * gates * states * states);
        floats const b = is_biased ? noise(both * 2 * gates * states)
                                   : floats(static_cast<std::size_t>(both * 2 * gates * states));
        floats h = noise(both * images * states), c = noise(both * images * states);
        floats all(static_cast<std::size_t>(steps * both * images * states));
        floats const first_h = h, first_c = c;
        for (int d = 0; d != both; ++d)
            for (int n = 0; n != images; ++n)
                for (int k = 0; k != steps; ++k) {
                    int const t = way == "reverse" || d == 1 ? steps - 1 - k : k;
                    auto const state = [&](int j) -> float& {
                        return h[static_cast<std::size_t>((d * images + n) * states + j)];
                    };
                    auto in = [&](int g, int j) { // of gate g and state j
                        double sum = b[static_cast<std::size_t>((d * 2 * gates + g) * states + j)];
                        for (int i = 0; i != inputs; ++i)
                            sum += double(w[static_cast<std::size_t>(((d * gates + g) * states + j) * inputs +
                                                                     i)]) *
                                   x[static_cast<std::size_t>((t * images + n) * inputs + i)];
                        return sum;
                    };
                    auto recur = [&](int g, int j, auto of) {
                        double sum = b[static_cast<std::size_t>((d * 2 * gates + gates + g) * states + j)];
                        for (int i = 0; i != states; ++i)
                            sum += double(r[static_cast<std::size_t>(((d * gates + g) * states + j) * states +
                                                                     i)]) *
                                   of(i);
                        return sum;
                    };
                    auto before = [&](int i) { return double(state(i)); };
                    floats next(static_cast<std::size_t>(states));
                    for (int j = 0; j != states; ++j) {
                        auto gate = [&](int g) { return sigmoid(in(g, j) + recur(g, j, before)); };
                        if (is_lstm) { // input, output, forget, cell
                            float& cell = c[static_cast<std::size_t>((d * images + n) * states + j)];
                            double const now =
                                gate(2) * cell + gate(0) * std::tanh(in(3, j) + recur(3, j, before));
                            cell = float(now);
                            next[static_cast<std::size_t>(j)] = float(gate(1) * std::tanh(now));
                            continue;
                        }
                        auto was_reset = [&](int i) {
                            return sigmoid(in(1, i) + recur(1, i, before)) * state(i);
                        };
                        double const inner =
                            resets_product ? gate(1) * recur(2, j, before) : recur(2, j, was_reset);
                        double const update = gate(0);
                        next[static_cast<std::size_t>(j)] =
                            float((1 - update) * std::tanh(in(2, j) + inner) + update * state(j));
                    }
                    for (int j = 0; j != states; ++j) {
                        state(j) = next[static_cast<std::size_t>(j)];
                        all[static_cast<std::size_t>(((t * both + d) * images + n) * states + j)] = state(j);
                    }
                }
        one_operation one(is_lstm ? "LSTM" : "GRU", 13,
                          output == 0 ? integers{steps, both, images, states}
                                      : integers{both, images, states});
        one.in({steps, images, inputs}, x)
            .in({both, gates * states, inputs}, w)
            .in({both, gates * states, states}, r);
        if (is_biased) one.in({both, 2 * gates * states}, b);
        else one.without();
        one.without().in({both, images, states}, first_h);
        if (is_lstm) one.in({both, images, states}, first_c);
        one.with("hidden_size", states).with("direction", way.c_str());
        if (!is_lstm) one.with("linear_before_reset", int(resets_product));
        one.as_output(output);
        CHECK(deviation(one.run(), output == 0 ? all : output == 1 ? h : c) <= 1e-5);
    }
}
