// SPDX-License-Identifier: BSL-1.0

// What a file says, as numbers that come out: networks of one operation, written as ONNX, read and run.

#include "compare_runs.hpp"
#include "layered_program.hpp"
#include "read_layers.hpp"
#include "weights.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/planner.hpp>

#include <doctest/doctest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace run_network;
using floats = std::vector<float>;
using integers = std::vector<std::int64_t>;

void set_shape(onnx::ValueInfoProto& value, std::string const& name, integers const& size)
{
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    auto* const shape = value.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (auto n : size) shape->add_dim()->set_dim_value(n);
}

/// A file with one operation, of constants that it holds.
class one_operation {
public:
    one_operation(std::string const& type, std::int64_t opset, integers const& result)
    {
        model_.set_ir_version(7);
        model_.add_opset_import()->set_version(opset);
        model_.mutable_graph()->set_name("one");
        model_.mutable_graph()->add_node();
        node().set_op_type(type);
        node().add_output("y");
        set_shape(*model_.mutable_graph()->add_output(), "y", result);
    }
    one_operation& in(integers const& size, floats const& numbers)
    {
        auto& tensor = add(size, onnx::TensorProto::FLOAT);
        for (float f : numbers) tensor.add_float_data(f);
        return *this;
    }
    one_operation& in(integers const& numbers) // as exporters do it, raw
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
        std::string const file = "run_network_layers_test.onnx";
        {
            std::ofstream out(file, std::ios::binary);
            REQUIRE(model_.SerializeToOstream(&out));
        }
        return read_layers(file);
    }
    floats run() const
    {
        layered_network const all = read();
        REQUIRE(all.missing() == std::vector<std::string>{});
        weights given(all, 1, false);
        layered_program const made = program_of(all);
        auto const planned = sublet::plan_memory(made.program, made.options);
        sublet::executor_options how;
        how.scratch = made.is_scratch;
        how.check = sublet::check_level::digest;
        sublet::cpu_executor execute{made.program, made.options, sublet::arena{planned.plan},
                                     host_kernel{&all}, how};
        given.each([&](sublet::value_id v, std::span<std::byte> bytes) { execute.bind(v, bytes); });
        execute.run();
        auto const result = all.net.operations[0].outputs[0];
        std::span<float const> const y = sublet::as<float>(execute.output(result));
        return {y.begin(), y.end()};
    }
    std::vector<std::string> missing() const { return read().missing(); }

private:
    onnx::TensorProto& add(integers const& size, int type)
    {
        std::string const name = "x" + std::to_string(node().input_size());
        node().add_input(name);
        auto& tensor = *model_.mutable_graph()->add_initializer();
        tensor.set_name(name);
        tensor.set_data_type(type);
        for (auto n : size) tensor.add_dims(n);
        return tensor;
    }

    onnx::NodeProto& node() { return *model_.mutable_graph()->mutable_node(0); }

    onnx::ModelProto model_;
};

using strings = std::vector<std::string>;

} // namespace

TEST_CASE("padding is what the attributes say, before and after, or by itself")
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
    integers const beside{0, 1, 0, 1};
    CHECK(conv({1, 1, 1, 2}).with("dilations", by_two).with("pads", beside).run() == floats{6, 4});
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

TEST_CASE("pools round up if they are told to, and count padding if they are told to")
{
    auto pool = [](char const* type, integers const& y, floats const& x) {
        one_operation op(type, 13, y);
        return op.in({1, 1, 1, std::int64_t(x.size())}, x);
    };
    integers const two{1, 2}, three{1, 3}, beside{0, 1, 0, 1};
    floats const five{1, 2, 3, 4, 5}, four{1, 2, 3, 4};
    CHECK(pool("MaxPool", {1, 1, 1, 3}, five)
              .with("kernel_shape", two)
              .with("strides", two)
              .with("ceil_mode", 1)
              .run() == floats{2, 4, 5});
    CHECK(pool("MaxPool", {1, 1, 1, 2}, five).with("kernel_shape", two).with("strides", two).run() ==
          floats{2, 4});
    auto average = pool("AveragePool", {1, 1, 1, 4}, four).with("kernel_shape", three).with("pads", beside);
    CHECK(average.run() == floats{1.5f, 2, 3, 3.5f});
    CHECK(average.with("count_include_pad", 1).run() == floats{1, 2, 3, 7 / 3.0f});
    CHECK(pool("GlobalAveragePool", {1, 1, 1, 1}, four).run() == floats{2.5f});
    CHECK(one_operation("ReduceMean", 13, {2}).in({2, 2}, four).with("axes", integers{-1}).run() ==
          floats{1.5f, 3.5f});
    CHECK(one_operation("ReduceMean", 18, {2}).in({2, 2}, four).in({1}).run() == floats{1.5f, 3.5f});
}

TEST_CASE("what changed from one opset to another is read as the file's says")
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

TEST_CASE("products take their operands as they are, or turned")
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

TEST_CASE("elements go where the attributes say")
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

TEST_CASE("what cannot be computed is said, and why")
{
    floats const two{1, 2};
    CHECK(one_operation("Frobnicate", 13, {2}).in({2}, two).missing() == strings{"Frobnicate (1)"});
    CHECK(one_operation("Conv", 13, {1, 1, 2}).in({1, 1, 2}, two).in({1, 1, 1}, {1}).missing() ==
          strings{"Conv over 1 dimensions (1)"});
    CHECK(one_operation("Conv", 13, {1, 1, 1, 3}).in({1, 1, 1, 2}, two).in({1, 1, 1, 1}, {1}).missing() ==
          strings{"Conv whose result has another shape than its windows give (1)"});
    CHECK(one_operation("Pad", 13, {4}).in({2}, two).in({1, 1}).with("mode", "reflect").missing() ==
          strings{"Pad with other than a constant (1)"});
    CHECK(one_operation("Add", 13, {2}).in({2}, two).in({3}, {1, 2, 3}).missing() ==
          strings{"Add of shapes that do not fit (1)"});
    CHECK(one_operation("Neg", 13, {2}).in({2}, two).with("alias_of_input", integers{-1}).missing() ==
          strings{"Neg (1)"});
    CHECK(one_operation("Relu", 13, {3}).in({2}, two).missing() ==
          strings{"Relu of shapes that do not fit (1)"});
    CHECK(one_operation("Gather", 13, {1}).in({2}, two).in({2}).missing() ==
          strings{"Gather of rows that are not there (1)"});
    CHECK(one_operation("ReduceMean", 13, {2}).in({2, 1, 1}, two).with("axes", integers{1}).missing() ==
          strings{"ReduceMean over axes that are not the last (1)"});
}

TEST_CASE("results of the host differ by a bit, those of a device by what rounding cannot explain")
{
    float const one = 1, next = std::nextafter(one, 2.0f);
    auto with = [](char const* executor, float x) {
        mode_run r;
        r.executor = executor, r.mode = "arena", r.outputs = {{4, x}};
        return r;
    };
    CHECK(judge({with("serial", one), with("serial", one)}).are_equal);
    CHECK(!judge({with("serial", one), with("2 threads", next)}).are_equal);
    CHECK(judge({with("serial", one), with("cuda", next), with("cuda", next)}).are_equal);
    CHECK(judge({with("serial", one), with("formulas", one), with("cuda", next)}).are_equal);
    CHECK(!judge({with("serial", one), with("cuda", next), with("cuda", one)}).are_equal);
    CHECK(!judge({with("serial", one), with("cuda", 1.005f)}).are_equal);
    CHECK(!judge({with("serial", NAN)}).are_equal);
    CHECK(!judge({with("serial", one), with("cuda", NAN)}).are_equal);
    mode_run nothing = with("serial", 0);
    nothing.outputs = {{0, 0}};
    CHECK(!judge({nothing, nothing}).are_equal); // proves nothing
    nothing.outputs = {{0}};
    CHECK(!judge({with("serial", 0), nothing}).are_equal);
    CHECK(judge({with("serial", one), with("2 threads", 3)}).remarks ==
          strings{"2 threads arena is other than serial arena in 1 elements, by 0.500000 of the largest"});
}

TEST_CASE("a kernel that is allowed to write over what it still reads makes a difference")
{
    integers const size{1, 1, 1, 6};
    one_operation conv("Conv", 13, size);
    conv.in(size, {1, 2, 3, 4, 5, 6}).in({1, 1, 1, 3}, {1, 1, 1}).with("pads", integers{0, 1, 0, 1});
    layered_network const all = conv.read();
    auto const in_place = [](layer const& what) { // each element from its neighbours
        floats there{1, 2, 3, 4, 5, 6};
        floats const w{1, 1, 1};
        operands const its{{there.data(), w.data()}, there.data(), there.size() * sizeof(float)};
        run_as_formulas(what, its);
        return there;
    };
    CHECK(conv.run() == floats{3, 6, 9, 12, 15, 11});
    CHECK(in_place(all.layers[0]) != floats{3, 6, 9, 12, 15, 11});
    CHECK(overwritable_operands(all.layers[0]).empty());
}
