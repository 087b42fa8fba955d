// SPDX-License-Identifier: BSL-1.0
#include "drawn_models.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fuzz {
namespace {

using shape = std::vector<std::int64_t>;

struct drawn_floats {
    std::string name;
    shape size;
    bool is_above_zero = false; ///< so that a root of it is a number, and a quotient is not too large
};

std::int64_t count_of(shape const& size)
{
    return std::accumulate(size.begin(), size.end(), std::int64_t{1}, [](auto a, auto b) { return a * b; });
}

class layers {
public:
    explicit layers(random_source& d) : d_(d) {}

    onnx::ModelProto draw()
    {
        model_.set_ir_version(8);
        model_.add_opset_import()->set_version(13);
        graph().set_name("drawn");
        for (int i = d_.between(1, 2); i != 0; --i)
            floats_.push_back(new_input(any_shape(d_.percent(60) ? 4 : d_.between(1, 4))));
        for (int i = d_.between(1, 14); i != 0; --i) add_layer();
        auto const x = any();
        add("Sigmoid", {x.name}, x.size); // a result that is not all 0, whatever a Relu leaves
        choose_outputs();
        return std::move(model_);
    }

private:
    onnx::GraphProto& graph() { return *model_.mutable_graph(); }
    std::string new_name() { return numbered("v", names_++); }

    static void declare(onnx::ValueInfoProto& info, std::string const& name, shape const& size, int type)
    {
        info.set_name(name);
        auto& tensor = *info.mutable_type()->mutable_tensor_type();
        tensor.set_elem_type(type);
        auto& dims = *tensor.mutable_shape();
        for (auto d : size) dims.add_dim()->set_dim_value(d);
    }

    shape any_shape(int rank)
    {
        shape size;
        for (; rank != 0; --rank) size.push_back(d_.between(1, 6));
        return size;
    }

    drawn_floats new_input(shape size)
    {
        std::string const name = new_name();
        declare(*graph().add_input(), name, size, onnx::TensorProto::FLOAT);
        return {name, std::move(size)};
    }

    /// What the file holds, or what run_network makes up: by what it is for, a little noise around 0 or 1.
    drawn_floats new_weight(shape size, bool is_above_zero = false)
    {
        if (!is_above_zero && d_.percent(50)) return new_input(std::move(size));
        auto& t = *graph().add_initializer();
        t.set_name(new_name());
        t.set_data_type(onnx::TensorProto::FLOAT);
        for (auto d : size) t.add_dims(d);
        for (std::int64_t i = count_of(size); i > 0; --i)
            t.add_float_data(static_cast<float>(d_.between(is_above_zero ? 50 : -100, 150)) / 100);
        return {t.name(), std::move(size), is_above_zero};
    }

    std::string new_integers(shape const& numbers, bool is_scalar = false)
    {
        auto& t = *graph().add_initializer();
        t.set_name(new_name());
        t.set_data_type(onnx::TensorProto::INT64);
        if (!is_scalar) t.add_dims(static_cast<std::int64_t>(numbers.size()));
        for (auto i : numbers) t.add_int64_data(i);
        return t.name();
    }

    static bool is_small(drawn_floats const& v) { return count_of(v.size) <= 2000; }
    drawn_floats any()
    {
        drawn_floats const& v = floats_[d_.percent(50) ? floats_.size() - 1 : d_.below(floats_.size())];
        return is_small(v) ? v : floats_.front(); // an input is
    }
    drawn_floats any_of_rank(std::size_t rank)
    {
        std::vector<drawn_floats> fitting;
        for (auto const& v : floats_)
            if (v.size.size() == rank && is_small(v)) fitting.push_back(v);
        return fitting.empty() ? new_input(any_shape(static_cast<int>(rank))) : d_.one_of(fitting);
    }

    drawn_floats const& add(char const* type, std::vector<std::string> const& inputs, shape size,
                            bool is_above_zero = false)
    {
        node_ = graph().add_node();
        node_->set_op_type(type);
        for (auto const& name : inputs) node_->add_input(name);
        node_->add_output(new_name());
        floats_.push_back({node_->output(0), std::move(size), is_above_zero});
        results_.push_back(floats_.back());
        return floats_.back();
    }
    /// Attributes of the node that was added last.
    void set(char const* name, std::int64_t i)
    {
        auto& a = *node_->add_attribute();
        a.set_name(name), a.set_type(onnx::AttributeProto::INT), a.set_i(i);
    }
    void set(char const* name, shape const& ints)
    {
        auto& a = *node_->add_attribute();
        a.set_name(name), a.set_type(onnx::AttributeProto::INTS);
        for (auto i : ints) a.add_ints(i);
    }
    void set(char const* name, std::string const& text)
    {
        auto& a = *node_->add_attribute();
        a.set_name(name), a.set_type(onnx::AttributeProto::STRING), a.set_s(text);
    }
    void set(char const* name, float f)
    {
        auto& a = *node_->add_attribute();
        a.set_name(name), a.set_type(onnx::AttributeProto::FLOAT), a.set_f(f);
    }

    void add_layer()
    {
        switch (d_.between(0, 24)) {
        case 0: return add_convolution();
        case 1: return add_conv_transpose();
        case 2: return add_pooling();
        case 3: return add_mean();
        case 4: return add_normalization();
        case 5: return add_local_response();
        case 6: return add_softmax();
        case 7:
        case 8: return add_elementwise();
        case 9:
        case 10: return add_arithmetic();
        case 11: return add_gemm();
        case 12: return add_product();
        case 13: return add_transposition();
        case 14: return add_slice();
        case 15: return add_concatenation();
        case 16: return add_padding();
        case 17:
        case 18: return add_gather();
        case 19: return add_resize();
        case 20: return add_expansion();
        case 21: return add_constant();
        default: return add_view();
        }
    }

    struct window {
        std::int64_t taps, stride, dilation, before, after, out;
    };
    /// One that fits.
    window draw_window(std::int64_t in)
    {
        window w{d_.between(1, 3), d_.between(1, 3), d_.between(1, 2), 0, 0, 0};
        std::int64_t const reach = (w.taps - 1) * w.dilation;
        if (reach > 0)
            w.before = d_.between(0, static_cast<int>(reach)),
            w.after = d_.between(0, static_cast<int>(reach));
        if (in + w.before + w.after <= reach) w.taps = 1, w.before = w.after = 0;
        w.out = (in + w.before + w.after - (w.taps - 1) * w.dilation - 1) / w.stride + 1;
        return w;
    }
    void set_windows(window const& rows, window const& columns)
    {
        set("strides", shape{rows.stride, columns.stride});
        set("dilations", shape{rows.dilation, columns.dilation});
        set("pads", shape{rows.before, columns.before, rows.after, columns.after});
    }

    void add_convolution()
    {
        auto const x = any_of_rank(4);
        std::int64_t const groups = x.size[1] % 2 == 0 && d_.percent(30) ? 2 : 1,
                           filters = groups * d_.between(1, 3);
        auto rows = draw_window(x.size[2]), columns = draw_window(x.size[3]);
        bool const is_same = d_.percent(20);
        if (is_same)
            rows.out = (x.size[2] + rows.stride - 1) / rows.stride,
            columns.out = (x.size[3] + columns.stride - 1) / columns.stride;
        std::vector<std::string> inputs{
            x.name, new_weight({filters, x.size[1] / groups, rows.taps, columns.taps}).name};
        if (d_.percent(50)) inputs.push_back(new_weight({filters}).name);
        add("Conv", inputs, {x.size[0], filters, rows.out, columns.out});
        set("group", groups);
        if (!is_same) return set_windows(rows, columns);
        set("strides", shape{rows.stride, columns.stride});
        set("dilations", shape{rows.dilation, columns.dilation});
        set("auto_pad", std::string(d_.percent(50) ? "SAME_UPPER" : "SAME_LOWER"));
    }

    void add_conv_transpose()
    {
        auto const x = any_of_rank(4);
        std::int64_t const groups = x.size[1] % 2 == 0 && d_.percent(30) ? 2 : 1, channels = d_.between(1, 3);
        auto rows = draw_window(x.size[2]), columns = draw_window(x.size[3]);
        auto size_of = [](std::int64_t in, window& w) {
            std::int64_t const covered = (in - 1) * w.stride + (w.taps - 1) * w.dilation + 1;
            if (covered <= w.before + w.after) w.before = w.after = 0;
            return covered - w.before - w.after;
        };
        std::int64_t const height = size_of(x.size[2], rows), width = size_of(x.size[3], columns);
        std::vector<std::string> inputs{x.name,
                                        new_weight({x.size[1], channels, rows.taps, columns.taps}).name};
        if (d_.percent(50)) inputs.push_back(new_weight({channels * groups}).name);
        add("ConvTranspose", inputs, {x.size[0], channels * groups, height, width});
        set("group", groups);
        set_windows(rows, columns);
    }

    void add_pooling()
    {
        auto const x = any_of_rank(4);
        if (d_.percent(20)) return void(add("GlobalAveragePool", {x.name}, {x.size[0], x.size[1], 1, 1}));
        auto rows = draw_window(x.size[2]), columns = draw_window(x.size[3]);
        bool const is_max = d_.percent(50);
        for (auto [w, in] : {std::pair{&rows, x.size[2]}, std::pair{&columns, x.size[3]}}) {
            if (!is_max) w->dilation = 1; // in opset 13 an average has none
            // Each window covers an element: one with holes could lie on padding alone.
            std::int64_t const most = w->dilation == 1 ? w->taps - 1 : 0;
            w->before = std::min(w->before, most), w->after = std::min(w->after, most);
            if (in + w->before + w->after <= (w->taps - 1) * w->dilation)
                w->taps = 1, w->before = w->after = 0;
            w->out = (in + w->before + w->after - (w->taps - 1) * w->dilation - 1) / w->stride + 1;
        }
        bool const counts = d_.percent(50);
        add(is_max ? "MaxPool" : "AveragePool", {x.name}, {x.size[0], x.size[1], rows.out, columns.out});
        set("kernel_shape", shape{rows.taps, columns.taps});
        set("strides", shape{rows.stride, columns.stride});
        set("pads", shape{rows.before, columns.before, rows.after, columns.after});
        if (is_max) set("dilations", shape{rows.dilation, columns.dilation});
        else set("count_include_pad", std::int64_t{counts});
    }

    void add_mean()
    {
        auto const x = any();
        bool const keeps = d_.percent(50);
        std::size_t const first = d_.below(x.size.size() + 1);
        if (first == x.size.size()) return add_elementwise();
        shape size(x.size.begin(), x.size.begin() + static_cast<std::ptrdiff_t>(first)), axes;
        for (std::size_t a = first; a != x.size.size(); ++a) {
            axes.push_back(d_.percent(50)
                               ? static_cast<std::int64_t>(a)
                               : static_cast<std::int64_t>(a) - static_cast<std::int64_t>(x.size.size()));
            if (keeps) size.push_back(1);
        }
        add("ReduceMean", {x.name}, size);
        set("axes", axes);
        set("keepdims", std::int64_t{keeps});
    }

    void add_normalization()
    {
        auto const x = any_of_rank(static_cast<std::size_t>(d_.between(2, 4)));
        shape const channels{x.size[1]};
        add("BatchNormalization",
            {x.name, new_weight(channels).name, new_weight(channels).name, new_weight(channels).name,
             new_weight(channels, true).name},
            x.size);
    }

    void add_local_response()
    {
        auto const x = any_of_rank(static_cast<std::size_t>(d_.between(2, 4)));
        std::int64_t const size = d_.between(1, 7);
        add("LRN", {x.name}, x.size);
        set("size", size);
    }

    void add_softmax()
    {
        auto const x = any();
        if (x.size.empty()) return add_elementwise();
        auto const rank = static_cast<int>(x.size.size());
        int const axis = d_.between(-rank, rank - 1);
        add("Softmax", {x.name}, x.size, true);
        set("axis", std::int64_t{axis});
    }

    void add_elementwise()
    {
        auto const x = any();
        char const* const types[] = {"Relu", "Sigmoid", "Tanh", "Erf", "Clip"};
        std::string const type = x.is_above_zero && d_.percent(50) ? "Sqrt" : d_.one_of(types);
        std::vector<std::string> inputs{x.name};
        if (type == "Clip" && d_.percent(70)) {
            inputs.push_back(d_.percent(50) ? new_number(-0.5f) : "");
            inputs.push_back(new_number(0.75f));
        }
        add(type.c_str(), inputs, x.size, type == "Sigmoid" || type == "Sqrt");
    }

    std::string new_number(float f)
    {
        auto& t = *graph().add_initializer();
        t.set_name(new_name());
        t.set_data_type(onnx::TensorProto::FLOAT);
        t.add_float_data(f);
        return t.name();
    }

    /// A shape that is repeated to `size`.
    shape narrower(shape const& size)
    {
        shape less(size.begin() + static_cast<std::ptrdiff_t>(d_.below(size.size() + 1)), size.end());
        for (auto& n : less)
            if (d_.percent(30)) n = 1;
        return less;
    }
    static bool is_narrower(shape const& a, shape const& size)
    {
        if (a.size() > size.size()) return false;
        for (std::size_t i = 1; i <= a.size(); ++i)
            if (a[a.size() - i] != 1 && a[a.size() - i] != size[size.size() - i]) return false;
        return true;
    }
    drawn_floats fitting(shape const& size)
    {
        std::vector<drawn_floats> all;
        for (auto const& v : floats_)
            if (is_narrower(v.size, size)) all.push_back(v);
        return all.empty() || d_.percent(30) ? new_weight(narrower(size)) : d_.one_of(all);
    }

    void add_arithmetic()
    {
        auto const x = any();
        char const* const types[] = {"Add", "Sub", "Mul", "Sum", "Div", "Pow"};
        std::string type = d_.one_of(types);
        if ((type == "Pow" || type == "Mul") && ++powers_ > 2) type = "Sub"; // numbers stay finite
        std::vector<std::string> inputs{x.name};
        if (type == "Pow") inputs.push_back(new_number(2));
        else if (type == "Div") inputs.push_back(new_weight(narrower(x.size), true).name);
        else inputs.push_back(fitting(x.size).name);
        if (type == "Sum" && d_.percent(50)) inputs.push_back(fitting(x.size).name);
        if (type != "Pow" && type != "Div" && d_.percent(30)) std::swap(inputs[0], inputs[1]);
        add(type.c_str(), inputs, x.size);
    }

    void add_gemm()
    {
        auto const a = any_of_rank(2);
        bool const transposes_a = d_.percent(30), transposes_b = d_.percent(30);
        std::int64_t const rows = a.size[transposes_a], depth = a.size[!transposes_a],
                           columns = d_.between(1, 6);
        std::vector<std::string> inputs{
            a.name, new_weight(transposes_b ? shape{columns, depth} : shape{depth, columns}).name};
        if (d_.percent(60)) inputs.push_back(fitting({rows, columns}).name);
        add("Gemm", inputs, {rows, columns});
        set("transA", std::int64_t{transposes_a});
        set("transB", std::int64_t{transposes_b});
        if (d_.percent(30)) set("alpha", 0.5f), set("beta", 2.0f);
    }

    void add_product()
    {
        auto const a = any_of_rank(static_cast<std::size_t>(d_.between(2, 4)));
        shape size = a.size, right(a.size.begin(), a.size.end() - 2);
        right = narrower(right);
        right.push_back(a.size.back());
        right.push_back(d_.between(1, 6));
        size.back() = right.back();
        add("MatMul", {a.name, new_weight(right).name}, size);
    }

    void add_transposition()
    {
        auto const x = any();
        shape order(x.size.size()), size;
        std::iota(order.begin(), order.end(), std::int64_t{0});
        bool const is_present = d_.percent(80);
        if (is_present)
            for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[d_.below(i)]);
        else std::reverse(order.begin(), order.end());
        for (auto axis : order) size.push_back(x.size[static_cast<std::size_t>(axis)]);
        add("Transpose", {x.name}, size);
        if (is_present) set("perm", order);
    }

    void add_slice()
    {
        auto const x = any();
        if (x.size.empty()) return add_elementwise();
        shape starts, ends, axes, steps, size = x.size;
        for (std::size_t a = 0; a != x.size.size(); ++a) {
            if (d_.percent(50)) continue;
            std::int64_t const in = x.size[a], step = d_.between(1, 2),
                               begin = d_.between(0, static_cast<int>(in) - 1);
            std::int64_t const end = d_.between(static_cast<int>(begin) + 1, static_cast<int>(in));
            bool const is_backward = d_.percent(30);
            axes.push_back(d_.percent(50)
                               ? static_cast<std::int64_t>(a)
                               : static_cast<std::int64_t>(a) - static_cast<std::int64_t>(x.size.size()));
            steps.push_back(is_backward ? -step : step);
            starts.push_back(is_backward ? end - 1 : d_.percent(30) ? begin - in : begin);
            ends.push_back(is_backward                   ? (begin == 0 ? INT64_MIN : begin - 1)
                           : end == in && d_.percent(50) ? INT64_MAX
                                                         : end);
            size[a] = (end - begin + step - 1) / step;
        }
        if (axes.empty()) return add_elementwise();
        auto const s = new_integers(starts), e = new_integers(ends), a = new_integers(axes),
                   t = new_integers(steps);
        add("Slice", {x.name, s, e, a, t}, size);
    }

    void add_concatenation()
    {
        auto const x = any();
        if (x.size.empty()) return add_elementwise();
        std::size_t const axis = d_.below(x.size.size());
        shape size = x.size;
        std::vector<std::string> inputs{x.name};
        for (int i = d_.between(0, 2); i != 0; --i) {
            shape one = x.size;
            std::vector<drawn_floats> alike;
            for (auto const& v : floats_) {
                if (v.size.size() != one.size()) continue;
                one[axis] = v.size[axis];
                if (v.size == one) alike.push_back(v);
            }
            auto const more = d_.one_of(alike); // itself at least
            inputs.push_back(more.name);
            size[axis] += more.size[axis];
        }
        add("Concat", inputs, size);
        set("axis", d_.percent(50)
                        ? static_cast<std::int64_t>(axis)
                        : static_cast<std::int64_t>(axis) - static_cast<std::int64_t>(size.size()));
    }

    void add_padding()
    {
        auto const x = any();
        if (x.size.empty()) return add_elementwise();
        shape pads(2 * x.size.size()), size = x.size;
        for (std::size_t a = 0; a != x.size.size(); ++a) {
            pads[a] = d_.between(x.size[a] > 1 ? -1 : 0, 2), pads[a + x.size.size()] = d_.between(0, 2);
            size[a] += pads[a] + pads[a + x.size.size()];
        }
        std::vector<std::string> inputs{x.name, new_integers(pads)};
        if (d_.percent(40)) inputs.push_back(new_number(0.25f));
        add("Pad", inputs, size);
    }

    /// Indices that the file holds, that run_network makes up, and views of both.
    void add_gather()
    {
        auto const x = any();
        if (x.size.empty()) return add_elementwise();
        std::size_t const axis = d_.below(x.size.size());
        auto const below = static_cast<int>(x.size[axis]);
        int const kind = d_.between(0, 3);
        shape of = kind == 3 ? shape{1} : kind == 0 && d_.percent(30) ? shape{} : any_shape(d_.between(1, 2));
        std::string indices;
        int type = onnx::TensorProto::INT64;
        if (kind == 0) {
            shape numbers;
            for (std::int64_t i = count_of(of); i > 0; --i) numbers.push_back(d_.between(-below, below - 1));
            indices = new_integers(numbers, of.empty());
            if (of.size() == 2) {
                auto& t = *graph().mutable_initializer(graph().initializer_size() - 1);
                t.clear_dims();
                for (auto n : of) t.add_dims(n);
            }
        } else if (kind == 3) {
            indices = new_name();
            auto& node = *graph().add_node();
            node.set_op_type("ConstantOfShape");
            node.add_input(new_integers({1}));
            node.add_output(indices);
            auto& value = *node.add_attribute();
            value.set_name("value"), value.set_type(onnx::AttributeProto::TENSOR);
            value.mutable_t()->set_data_type(type);
            value.mutable_t()->add_dims(1);
            value.mutable_t()->add_int64_data(d_.between(-below, below - 1));
            declare(*graph().add_value_info(), indices, of, type);
        } else {
            if (d_.percent(30)) type = onnx::TensorProto::INT32;
            indices = new_name();
            declare(*graph().add_input(), indices, of, type);
        }
        for (int views = d_.percent(50) ? d_.between(1, 2) : 0; views != 0; --views) {
            auto& node = *graph().add_node();
            bool const is_flat = !of.empty() && d_.percent(50);
            node.set_op_type(is_flat ? "Flatten" : "Identity");
            node.add_input(indices);
            indices = new_name();
            node.add_output(indices);
            if (is_flat) of = {of[0], count_of(of) / of[0]};
            declare(*graph().add_value_info(), indices, of, type);
        }
        shape size(x.size.begin(), x.size.begin() + static_cast<std::ptrdiff_t>(axis));
        size.insert(size.end(), of.begin(), of.end());
        size.insert(size.end(), x.size.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.size.end());
        if (size.size() > 6) return;
        add("Gather", {x.name, indices}, size);
        set("axis", static_cast<std::int64_t>(axis));
    }

    void add_resize()
    {
        auto const x = any_of_rank(4);
        std::int64_t const rows = d_.between(1, 2), columns = d_.between(1, 3);
        shape size{x.size[0], x.size[1], x.size[2] * rows, x.size[3] * columns};
        std::vector<std::string> inputs{x.name, ""};
        if (d_.percent(50)) {
            inputs.insert(inputs.end(), {"", new_integers(size)});
        } else {
            auto& t = *graph().add_initializer();
            t.set_name(new_name());
            t.set_data_type(onnx::TensorProto::FLOAT);
            t.add_dims(4);
            for (float f : {1.0f, 1.0f, static_cast<float>(rows), static_cast<float>(columns)})
                t.add_float_data(f);
            inputs.push_back(t.name());
        }
        add("Resize", inputs, size);
        set("mode", std::string("linear"));
    }

    void add_expansion()
    {
        auto const x = any();
        shape size = x.size;
        for (auto& n : size)
            if (n == 1) n = d_.between(1, 3);
        if (size.size() < 4 && d_.percent(50)) size.insert(size.begin(), d_.between(1, 3));
        add("Expand", {x.name, new_integers(size)}, size);
    }

    void add_constant()
    {
        shape const size = any_shape(d_.between(0, 4));
        bool const is_alike = d_.percent(50);
        std::vector<std::string> inputs;
        if (is_alike) inputs.push_back(new_integers(size));
        add(is_alike ? "ConstantOfShape" : "Constant", inputs, size, is_alike);
        auto& value = *node_->add_attribute();
        value.set_name("value"), value.set_type(onnx::AttributeProto::TENSOR);
        value.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
        if (is_alike) value.mutable_t()->add_dims(1);
        else
            for (auto n : size) value.mutable_t()->add_dims(n);
        for (std::int64_t i = is_alike ? 1 : count_of(size); i > 0; --i)
            value.mutable_t()->add_float_data(static_cast<float>(d_.between(is_alike ? 50 : -100, 100)) /
                                              100);
    }

    void add_view()
    {
        auto const x = any();
        auto const count = count_of(x.size);
        switch (d_.between(0, 5)) {
        case 0: return void(add("Identity", {x.name}, x.size, x.is_above_zero));
        case 1: return void(add("Dropout", {x.name}, x.size, x.is_above_zero));
        case 2: {
            std::int64_t const axis = x.size.empty() ? 0 : d_.between(0, static_cast<int>(x.size.size()));
            std::int64_t const rows = count_of(shape(x.size.begin(), x.size.begin() + axis));
            add("Flatten", {x.name}, {rows, count / rows}, x.is_above_zero);
            return set("axis", axis);
        }
        case 3: {
            shape size;
            for (auto n : x.size)
                if (n != 1) size.push_back(n);
            return void(add("Squeeze", {x.name}, size, x.is_above_zero));
        }
        case 4: {
            if (x.size.size() >= 4) break;
            std::size_t const axis = d_.below(x.size.size() + 1);
            shape size = x.size;
            size.insert(size.begin() + static_cast<std::ptrdiff_t>(axis), 1);
            return void(add("Unsqueeze", {x.name, new_integers({static_cast<std::int64_t>(axis)})}, size,
                            x.is_above_zero));
        }
        default: break;
        }
        shape size{count};
        if (d_.percent(70) && !x.size.empty()) { // into four dimensions, or other two
            auto const first = d_.one_of(x.size);
            size = d_.percent(50) ? shape{first, count / first} : shape{1, first, 1, count / first};
        }
        add("Reshape", {x.name, new_integers(size)}, size, x.is_above_zero);
    }

    void choose_outputs()
    {
        std::vector<bool> is_output(results_.size());
        is_output.back() = true;
        for (int i = d_.between(0, 2); i != 0; --i) is_output[d_.below(results_.size())] = true;
        for (std::size_t r = 0; r != results_.size(); ++r)
            declare(is_output[r] ? *graph().add_output() : *graph().add_value_info(), results_[r].name,
                    results_[r].size, onnx::TensorProto::FLOAT);
    }

    random_source& d_;
    onnx::ModelProto model_;
    std::vector<drawn_floats> floats_, results_;
    onnx::NodeProto* node_ = nullptr; // the last
    std::size_t names_ = 0;
    int powers_ = 0;
};

} // namespace

onnx::ModelProto draw_layers(random_source& d) { return layers(d).draw(); }

} // namespace fuzz
