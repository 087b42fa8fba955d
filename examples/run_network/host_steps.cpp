// SPDX-License-Identifier: BSL-1.0

// Chooses a primitive of oneDNN for each layer, the layouts of its operands, and the reorders between them.

#include "host_steps.hpp"

#include "evaluate_layers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>

namespace run_network {
namespace {

using dnnl::memory;
using sublet::no_value;
using sublet::value_id;
using dims = memory::dims;

constexpr auto real = memory::data_type::f32;
constexpr auto inference = dnnl::prop_kind::forward_inference;

/// Row by row.
memory::desc in_order(dims const& size)
{
    dims strides(size.size());
    memory::dim stride = 1;
    for (std::size_t i = size.size(); i-- != 0; stride *= std::max<memory::dim>(size[i], 1))
        strides[i] = stride;
    return {size, real, strides};
}

memory::desc any_layout(dims const& size) { return {size, real, memory::format_tag::any}; }

/// As a primitive needs it; an operand may have one more form.
struct wanted_operand {
    int number;
    std::size_t index;     ///< of the layer's operands
    memory::desc layout;   ///< wanted
    memory::desc plain;    ///< the same tensor in order, under the dimensions that the primitive uses
    std::size_t first = 0; ///< byte of it
    value_id is_packed = no_value; ///< this value instead
};

/// A value in one layout.
struct value_form {
    memory::desc layout;
    value_id value;
};

class step_maker {
public:
    step_maker(host_steps& to, kernels which) : to_(to), all_(*to.all), which_(which)
    {
        for (auto const& v : all_.net.values) add_value(v.bytes, v.role, v.alias_of);
        made_.resize(to_.bytes.size());
        forms_.resize(to_.bytes.size());
        has_plain_.assign(to_.bytes.size(), 0);
        for (value_id v = 0; v != to_.bytes.size(); ++v)
            has_plain_[v] = all_.net.values[v].producer == sublet::no_node;
        user_scratch_.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    }

    void add_all()
    {
        for (at_ = 0; at_ != all_.layers.size(); ++at_)
            if (!add_by(which_) && !add_by(kernels::primitives) && !add_by(kernels::formulas) &&
                !add_by(kernels::rules))
                throw std::runtime_error(operation().label + " has no primitive for its sizes");
        for (value_id v = 0; v != made_.size(); ++v)
            if (has_role(all_.net.values[v].role, sublet::value_role::output)) need_plain(v);
    }

private:
    bool add_by(kernels which)
    {
        layer const& what = all_.layers[at_];
        bool const is_copy = std::holds_alternative<view>(what) || std::holds_alternative<constant>(what);
        if (which == kernels::primitives) return !has_no_elements() && has_primitive();
        if (which == kernels::formulas ? !has_formula(what) : is_copy || !is_evaluated(all_, operation()))
            return false;
        add_formula(which == kernels::rules);
        return true;
    }

    plan_model::operation const& operation() const { return all_.net.operations[at_]; }
    value_id operand(std::size_t i) const { return operation().inputs[i]; }
    value_id result() const // the first that is there
    {
        for (auto v : operation().outputs)
            if (v != no_value) return v;
        return no_value;
    }
    dims size_of(value_id v) const
    {
        auto const& size = all_.types[v].size;
        return size.empty() ? dims{1} : dims(size.begin(), size.end());
    }
    bool is_constant(value_id v) const
    {
        return has_role(all_.net.values[all_.elements_of[v]].role, sublet::value_role::external);
    }
    bool has_no_elements() const
    {
        auto is_empty = [&](value_id v) { return v != no_value && all_.net.values[v].bytes == 0; };
        if (std::holds_alternative<resize>(all_.layers[at_])) return is_empty(result()); // no region is given
        return result() == no_value || is_empty(result()) ||
               std::any_of(operation().inputs.begin(), operation().inputs.end(), is_empty);
    }

    value_id add_value(sublet::byte_count bytes, sublet::value_role role = sublet::value_role::intermediate,
                       value_id view_of = no_value)
    {
        to_.bytes.push_back(bytes);
        to_.roles.push_back(role);
        to_.view_of.push_back(view_of);
        return static_cast<value_id>(to_.bytes.size() - 1);
    }

    // --- forms of values --------------------------------------------------------------------------------

    /// As its primitive made it, or in order.
    value_form made(value_id v) const { return made_[v] ? *made_[v] : value_form{in_order(size_of(v)), v}; }

    void add_reorder(value_form const& from, value_form const& to)
    {
        dnnl::reorder::primitive_desc const what(to_.engine, from.layout, to_.engine, to.layout,
                                                 user_scratch_);
        host_step& step = add_step(dnnl::reorder(what), what.scratchpad_desc());
        step.is_reorder = true;
        step.uses = {from.value};
        step.defs = {to.value};
        step.arguments.insert(step.arguments.begin(),
                              {{DNNL_ARG_FROM, from.layout}, {DNNL_ARG_TO, to.layout}});
    }

    void need_plain(value_id v)
    {
        if (has_plain_[v] || !made_[v]) return;
        add_reorder(*made_[v], {in_order(made_[v]->layout.dims()), v});
        has_plain_[v] = 1;
    }

    value_id in_layout(wanted_operand const& w)
    {
        value_id const v = operand(w.index);
        if (w.layout == w.plain) { // also transposed: no layout of a primitive, even if it has these strides
            need_plain(v);
            return v;
        }
        if (made_[v] && made_[v]->layout == w.layout) return made_[v]->value;
        for (value_form const& form : forms_[v])
            if (form.layout == w.layout) return form.value;
        bool const is_other_size = made_[v] && made_[v]->layout.dims() != w.layout.dims();
        if (is_other_size) need_plain(v);
        value_id const added = add_value(w.layout.get_size());
        if (w.index != 0 && is_constant(v)) {
            to_.roles[added] = sublet::value_role::external;
            to_.packed.push_back(
                {added, v,
                 [engine = to_.engine, from = w.plain, to = w.layout](void const* plain, void* packed) {
                     dnnl::stream stream(engine);
                     memory before(from, engine, const_cast<void*>(plain)), after(to, engine, packed);
                     dnnl::reorder(before, after).execute(stream, before, after);
                     stream.wait();
                 }});
        } else {
            bool const from_made = made_[v] && !is_other_size;
            add_reorder(from_made ? *made_[v] : value_form{w.plain, v}, {w.layout, added});
        }
        forms_[v].push_back({w.layout, added});
        return added;
    }

    // --- steps ------------------------------------------------------------------------------------------

    host_step& add_step(dnnl::primitive primitive, memory::desc const& scratch)
    {
        host_step& step = to_.steps.emplace_back();
        step.operation = at_;
        step.primitive = std::move(primitive);
        if (scratch.get_size() == 0) return step;
        step.scratch = add_value(scratch.get_size(), sublet::value_role::intermediate);
        step.arguments.push_back({DNNL_ARG_SCRATCHPAD, scratch});
        return step;
    }

    void add_formula(bool is_evaluated)
    {
        for (auto v : operation().inputs)
            if (v != no_value) need_plain(v);
        host_step& step = to_.steps.emplace_back();
        step.operation = at_;
        step.is_evaluated = is_evaluated;
        step.uses = operation().inputs;
        for (auto v : operation().outputs)
            if (v != no_value) step.defs.push_back(v);
        if (!is_evaluated) step.overwritable = overwritable_operands(all_.layers[at_]);
        for (auto v : step.defs) has_plain_[v] = 1;
    }

    /// `overwritable`: indexes of `operands`, which have to have the layout of the result.
    template <class Description>
    bool add(Description const& what, dnnl::primitive primitive, std::vector<wanted_operand> const& operands,
             memory::desc const& layout, memory::desc const& plain,
             std::vector<std::size_t> const& overwritable = {})
    {
        return add_several(what, std::move(primitive), operands, {{DNNL_ARG_DST, result(), layout, plain}},
                           overwritable);
    }
    /// A result as a primitive makes it. `no_value`: the network has none, but the primitive does.
    struct made_result {
        int number;
        value_id value;
        memory::desc layout, plain;
    };
    /// A reference implementation of oneDNN is slower than a formula.
    template <class Description>
    bool is_slow(Description const& what) const
    {
        if constexpr (requires { what.impl_info_str(); })
            return has_formula(all_.layers[at_]) && std::string_view(what.impl_info_str()).starts_with("ref");
        else return false;
    }
    template <class Description>
    bool add_several(Description const& what, dnnl::primitive primitive,
                     std::vector<wanted_operand> const& operands, std::vector<made_result> const& results,
                     std::vector<std::size_t> const& overwritable = {})
    {
        if (is_slow(what)) return false;
        std::vector<value_id> uses, defs;
        std::vector<primitive_argument> arguments;
        for (wanted_operand const& w : operands) {
            uses.push_back(w.is_packed == no_value ? in_layout(w) : w.is_packed);
            arguments.push_back({w.number, w.layout, w.first});
        }
        for (made_result const& r : results) {
            arguments.push_back({r.number, r.layout});
            defs.push_back(r.value);
            if (r.value != no_value && r.layout == r.plain) has_plain_[r.value] = 1;
            else {
                defs.back() = add_value(r.layout.get_size());
                if (r.value != no_value) made_[r.value] = value_form{r.layout, defs.back()};
            }
        }
        host_step& step = add_step(std::move(primitive), what.scratchpad_desc());
        step.arguments.insert(step.arguments.begin(), arguments.begin(), arguments.end());
        for (std::size_t i : overwritable)
            if (operands[i].layout == results[0].layout && operands[i].first == 0)
                step.overwritable.push_back(i);
        step.uses = std::move(uses);
        step.defs = std::move(defs);
        return true;
    }

    // --- primitives -------------------------------------------------------------------------------------

    bool has_primitive()
    {
        try {
            return std::visit([&](auto const& what) { return add_layer(what); }, all_.layers[at_]);
        } catch (dnnl::error const& e) {
            if (e.status == dnnl_unimplemented || e.status == dnnl_invalid_arguments) return false;
            throw;
        }
    }

    template <class Layer>
    bool add_layer(Layer const&)
    {
        return false;
    }

    static dims over_planes(int rows, int columns) { return {rows, columns}; }
    /// Padding that makes so many windows.
    static memory::dim after(sliding const& w)
    {
        int const reach = (w.taps - 1) * w.dilation + 1, room = w.in + w.before + w.after - reach;
        return room >= 0 && room / w.stride + 1 == w.out ? w.after
                                                         : (w.out - 1) * w.stride + reach - w.in - w.before;
    }

    template <class Convolution, class Sizes>
    bool add_convolution(Convolution const& s, dnnl::algorithm how, Sizes sizes)
    {
        auto const& [x, w, y, w_plain] = sizes;
        std::vector<wanted_operand> operands;
        memory::desc const bias = s.has_bias ? in_order({y[1]}) : memory::desc();
        typename Description<Convolution>::primitive_desc const what(
            {inference,
             how,
             any_layout(x),
             any_layout(w),
             bias,
             any_layout(y),
             over_planes(s.rows.stride, s.columns.stride),
             over_planes(s.rows.dilation - 1, s.columns.dilation - 1),
             over_planes(s.rows.before, s.columns.before),
             {after(s.rows), after(s.columns)}},
            user_scratch_, to_.engine);
        operands.push_back({DNNL_ARG_SRC, 0, what.src_desc(), in_order(x)});
        operands.push_back({DNNL_ARG_WEIGHTS, 1, what.weights_desc(), w_plain});
        if (s.has_bias) operands.push_back({DNNL_ARG_BIAS, 2, bias, bias});
        return add(what, Description<Convolution>(what), operands, what.dst_desc(), in_order(y));
    }
    template <class Convolution>
    using Description = std::conditional_t<std::is_same_v<Convolution, convolution>,
                                           dnnl::convolution_forward, dnnl::deconvolution_forward>;

    struct convolution_sizes {
        dims x, w, y;
        memory::desc w_plain;
    };
    bool add_layer(convolution const& s)
    {
        dims w{s.filters, s.channels, s.rows.taps, s.columns.taps};
        if (s.groups != 1) w.insert(w.begin(), s.groups);
        return add_convolution(s, dnnl::algorithm::convolution_auto,
                               convolution_sizes{{s.images, s.groups * s.channels, s.rows.in, s.columns.in},
                                                 w,
                                                 {s.images, s.groups * s.filters, s.rows.out, s.columns.out},
                                                 in_order(w)});
    }
    /// The weights of ONNX are those of the convolution that it is the gradient of: channels of x first.
    bool add_layer(conv_transpose const& s)
    {
        memory::dim const plane = memory::dim{s.rows.taps} * s.columns.taps;
        dims w{s.filters, s.channels, s.rows.taps, s.columns.taps};
        dims strides{plane, plane * s.filters, s.columns.taps, 1};
        if (s.groups != 1) {
            w.insert(w.begin(), s.groups);
            strides.insert(strides.begin(), plane * s.filters * s.channels);
        }
        return add_convolution(s, dnnl::algorithm::deconvolution_direct,
                               convolution_sizes{{s.images, s.groups * s.channels, s.rows.out, s.columns.out},
                                                 w,
                                                 {s.images, s.groups * s.filters, s.rows.in, s.columns.in},
                                                 {w, real, strides}});
    }

    /// The operand as a batch of images.
    value_form images(int planes, int rows, int columns) const
    {
        value_form const x = made(operand(0));
        if (x.layout.dims().size() == 4) return x;
        return {in_order({1, planes, rows, columns}), operand(0)};
    }
    bool add_pooling(dnnl::algorithm how, int planes, sliding const& rows, sliding const& columns)
    {
        value_form const x = images(planes, rows.in, columns.in);
        dims const in = x.layout.dims(), out{in[0], in[1], rows.out, columns.out};
        dnnl::pooling_v2_forward::primitive_desc const what(
            {inference,
             how,
             x.layout,
             any_layout(out),
             over_planes(rows.stride, columns.stride),
             over_planes(rows.taps, columns.taps),
             over_planes(rows.dilation - 1, columns.dilation - 1),
             over_planes(rows.before, columns.before),
             {after(rows), after(columns)}},
            user_scratch_, to_.engine);
        return add(what, dnnl::pooling_v2_forward(what), {{DNNL_ARG_SRC, 0, x.layout, in_order(in)}},
                   what.dst_desc(), in_order(out));
    }
    bool add_layer(pooling const& s)
    {
        auto ends_inside = [](sliding const& w) { return after(w) <= w.after; };
        if (!s.is_max && s.counts_padding && !(ends_inside(s.rows) && ends_inside(s.columns))) return false;
        return add_pooling(s.is_max           ? dnnl::algorithm::pooling_max
                           : s.counts_padding ? dnnl::algorithm::pooling_avg_include_padding
                                              : dnnl::algorithm::pooling_avg_exclude_padding,
                           s.planes, s.rows, s.columns);
    }
    bool add_layer(reduction const& s)
    {
        dims const size = size_of(operand(0));
        if (s.what == combined::smallest || s.what == combined::sum) return add_reduction(s);
        if (size.size() == 4 && s.length == size[2] * size[3] && s.rows == size[0] * size[1]) {
            auto whole = [](memory::dim n) {
                int const in = static_cast<int>(n);
                return sliding{.in = in, .out = 1, .taps = in};
            };
            return add_pooling(s.what == combined::mean ? dnnl::algorithm::pooling_avg_exclude_padding
                                                        : dnnl::algorithm::pooling_max,
                               s.rows, whole(size[2]), whole(size[3]));
        }
        return add_reduction(s);
    }
    bool add_reduction(reduction const& s)
    {
        using dnnl::algorithm;
        dims const x{s.rows, s.length}, y{s.rows, 1};
        dnnl::reduction::primitive_desc const what({s.what == combined::mean      ? algorithm::reduction_mean
                                                    : s.what == combined::sum     ? algorithm::reduction_sum
                                                    : s.what == combined::largest ? algorithm::reduction_max
                                                                                  : algorithm::reduction_min,
                                                    in_order(x), in_order(y), 0, 0},
                                                   user_scratch_, to_.engine);
        return add(what, dnnl::reduction(what), {plain_operand(DNNL_ARG_SRC, 0, x)}, in_order(y),
                   in_order(y));
    }

    static wanted_operand plain_operand(int number, std::size_t index, dims const& size)
    {
        return {number, index, in_order(size), in_order(size)};
    }

    bool add_layer(normalization const& s)
    {
        using flags = dnnl::normalization_flags;
        value_form const x = made(operand(0));
        dims const size = x.layout.dims(), channels{s.channels};
        dnnl::batch_normalization_forward::primitive_desc const what(
            {inference, x.layout, s.epsilon, flags::use_global_stats | flags::use_scale | flags::use_shift},
            user_scratch_, to_.engine);
        return add(what, dnnl::batch_normalization_forward(what),
                   {{DNNL_ARG_SRC, 0, x.layout, in_order(size)},
                    plain_operand(DNNL_ARG_SCALE, 1, channels),
                    plain_operand(DNNL_ARG_SHIFT, 2, channels),
                    plain_operand(DNNL_ARG_MEAN, 3, channels),
                    plain_operand(DNNL_ARG_VARIANCE, 4, channels)},
                   x.layout, in_order(size), {0});
    }
    bool add_layer(local_response const& s)
    {
        if (s.size % 2 == 0) return false; // the window of ONNX is not symmetric then
        value_form const x = made(operand(0));
        dims const size = x.layout.dims();
        dnnl::lrn_forward::primitive_desc const what(
            {inference, dnnl::algorithm::lrn_across_channels, x.layout, s.size, s.alpha, s.beta, s.bias},
            user_scratch_, to_.engine);
        return add(what, dnnl::lrn_forward(what), {{DNNL_ARG_SRC, 0, x.layout, in_order(size)}}, x.layout,
                   in_order(size));
    }
    bool add_layer(softmax const& s)
    {
        dims const size{s.rows / s.stride, s.length, s.stride};
        dnnl::softmax_v2_forward::primitive_desc const what(
            {inference, dnnl::algorithm::softmax_accurate, in_order(size), in_order(size), 1}, user_scratch_,
            to_.engine);
        return add(what, dnnl::softmax_v2_forward(what), {plain_operand(DNNL_ARG_SRC, 0, size)},
                   in_order(size), in_order(size), {0});
    }

    bool add_layer(elementwise const& s)
    {
        struct described {
            dnnl::algorithm how;
            float alpha = 0, beta = 0;
        };
        auto const description = [&]() -> std::optional<described> {
            using dnnl::algorithm;
            switch (s.what) {
            case function::clip:
                if (s.low == 0 && std::isinf(s.high)) return described{algorithm::eltwise_relu};
                if (std::isinf(s.low) || std::isinf(s.high) || s.low > s.high) return std::nullopt;
                return described{algorithm::eltwise_clip, s.low, s.high};
            case function::sigmoid: return described{algorithm::eltwise_logistic};
            case function::tanh: return described{algorithm::eltwise_tanh};
            case function::sqrt: return described{algorithm::eltwise_sqrt};
            case function::exp: return described{algorithm::eltwise_exp};
            case function::log: return described{algorithm::eltwise_log};
            case function::abs: return described{algorithm::eltwise_abs};
            case function::negative: return described{algorithm::eltwise_linear, -1, 0};
            case function::elu: return described{algorithm::eltwise_elu, s.low};
            case function::leaky: return described{algorithm::eltwise_relu, s.low};
            case function::softplus: return described{algorithm::eltwise_soft_relu};
            case function::hard_swish: return described{algorithm::eltwise_hardswish};
            default: return std::nullopt;
            }
        }();
        if (!description) return false;
        value_form const x = made(operand(0));
        dims const size = x.layout.dims();
        dnnl::eltwise_forward::primitive_desc const what(
            {inference, description->how, x.layout, description->alpha, description->beta}, user_scratch_,
            to_.engine);
        return add(what, dnnl::eltwise_forward(what), {{DNNL_ARG_SRC, 0, x.layout, in_order(size)}}, x.layout,
                   in_order(size), {0});
    }

    /// An operand of as many dimensions as the result.
    dims padded_size(std::size_t i, std::size_t rank) const
    {
        dims size = size_of(operand(i));
        size.insert(size.begin(), rank - std::min(rank, size.size()), 1);
        return size;
    }
    bool add_layer(broadcast_arithmetic const& s)
    {
        dims const size = size_of(result());
        std::vector<std::size_t> whole; // operands of the size of the result
        for (std::size_t i = 0; i != s.operands.size(); ++i)
            if (padded_size(i, size.size()) == size) whole.push_back(i);
        if (s.operands.size() > 2)
            return s.what == arithmetic::add && whole.size() == s.operands.size() && add_sum();
        if (s.operands.size() != 2 || s.what == arithmetic::power || whole.empty()) return false;
        bool const commutes = s.what == arithmetic::add || s.what == arithmetic::multiply;
        std::size_t first = whole[0];
        if (commutes && whole.size() == 2 && !made_[operand(0)] && made_[operand(1)]) first = 1;
        if (first == 1 && !commutes) return false;
        std::size_t const second = 1 - first;
        dims const other = padded_size(second, size.size());
        value_form const x = made(operand(first));
        memory::desc const layout = x.layout.dims() == size ? x.layout : in_order(size);
        memory::desc const second_layout = other == size ? layout : in_order(other);
        using dnnl::algorithm;
        algorithm const how = s.what == arithmetic::add        ? algorithm::binary_add
                              : s.what == arithmetic::subtract ? algorithm::binary_sub
                              : s.what == arithmetic::multiply ? algorithm::binary_mul
                                                               : algorithm::binary_div;
        dnnl::binary::primitive_desc const what({how, layout, second_layout, layout}, user_scratch_,
                                                to_.engine);
        return add(what, dnnl::binary(what),
                   {{DNNL_ARG_SRC_0, first, layout, in_order(size)},
                    {DNNL_ARG_SRC_1, second, second_layout, in_order(other)}},
                   layout, in_order(size), {0});
    }
    bool add_sum()
    {
        std::vector<wanted_operand> operands;
        memory::desc const layout = made(operand(0)).layout;
        std::vector<memory::desc> layouts;
        for (std::size_t i = 0; i != operation().inputs.size(); ++i) {
            operands.push_back(
                {DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), i, layout, in_order(layout.dims())});
            layouts.push_back(layout);
        }
        dnnl::sum::primitive_desc const what(layout, std::vector<float>(layouts.size(), 1), layouts,
                                             to_.engine, user_scratch_);
        // Over the first, unless it is read once more after a part of the sum is written.
        bool const is_once = std::count(operation().inputs.begin(), operation().inputs.end(), operand(0)) == 1;
        return add(what, dnnl::sum(what), operands, layout, in_order(layout.dims()),
                   is_once ? std::vector<std::size_t>{0} : std::vector<std::size_t>());
    }

    bool add_layer(concatenation const& s)
    {
        std::vector<wanted_operand> operands;
        std::vector<memory::desc> layouts;
        dims const size = size_of(result());
        for (std::size_t i = 0; i != s.lengths.size(); ++i) {
            dims const part = size_of(operand(i));
            value_form const x = made(operand(i));
            memory::desc const layout = x.layout.dims() == part ? x.layout : in_order(part);
            operands.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), i, layout, in_order(part)});
            layouts.push_back(layout);
        }
        dnnl::concat::primitive_desc const what(s.axis, layouts, to_.engine, user_scratch_);
        return add(what, dnnl::concat(what), operands, what.dst_desc(), in_order(size));
    }

    bool add_layer(strided_copy const& s)
    {
        dims size, strides;
        for (int axis = 0; axis != s.from.rank; ++axis) {
            if (s.from.size[axis] != 1 && s.from.stride[axis] <= 0) return false;
            size.push_back(s.from.size[axis]);
            strides.push_back(s.from.size[axis] == 1 ? 1 : s.from.stride[axis]);
        }
        if (size.empty()) return false;
        memory::desc const from(size, real, strides);
        dnnl::reorder::primitive_desc const what(to_.engine, from, to_.engine, in_order(size), user_scratch_);
        return add(what, dnnl::reorder(what),
                   {{DNNL_ARG_FROM, 0, from, from, static_cast<std::size_t>(s.from.first) * sizeof(float)}},
                   in_order(size), in_order(size));
    }

    bool add_layer(resize const& s)
    {
        value_form const x = made(operand(0));
        dims const in = x.layout.dims(), out{in[0], in[1], s.rows, s.columns};
        dnnl::resampling_forward::primitive_desc const what(
            {inference,
             s.is_linear ? dnnl::algorithm::resampling_linear : dnnl::algorithm::resampling_nearest, x.layout,
             any_layout(out)},
            user_scratch_, to_.engine);
        return add(what, dnnl::resampling_forward(what), {{DNNL_ARG_SRC, 0, x.layout, in_order(in)}},
                   what.dst_desc(), in_order(out));
    }

    bool add_layer(layer_normalization const& s)
    {
        using flags = dnnl::normalization_flags;
        dims const x{s.rows, s.length}, channels{s.length};
        bool const has_bias = operation().inputs.size() > 2 && operand(2) != no_value;
        dnnl::layer_normalization_forward::primitive_desc const what(
            {inference, in_order(x), s.epsilon,
             has_bias ? flags::use_scale | flags::use_shift : flags::use_scale},
            user_scratch_, to_.engine);
        std::vector<wanted_operand> operands{plain_operand(DNNL_ARG_SRC, 0, x),
                                             plain_operand(DNNL_ARG_SCALE, 1, channels)};
        if (has_bias) operands.push_back(plain_operand(DNNL_ARG_SHIFT, 2, channels));
        return add(what, dnnl::layer_normalization_forward(what), operands, in_order(x), in_order(x), {0});
    }

    // --- recurrences ------------------------------------------------------------------------------------

    /// The gates of ONNX in oneDNN's order.
    static int gate_of(recurrence const& s, int gate)
    {
        constexpr int of_lstm[] = {0, 2, 3, 1};
        return s.what == recurrence::lstm ? of_lstm[gate] : gate;
    }
    static std::size_t count_of(std::initializer_list<int> sizes)
    {
        std::size_t count = 1;
        for (int n : sizes) count *= static_cast<std::size_t>(n);
        return count;
    }
    value_id add_packed(std::size_t index, sublet::byte_count bytes,
                        std::function<void(float const* plain, float* packed)> pack)
    {
        auto const whole = [pack](void const* plain, void* packed) {
            pack(static_cast<float const*>(plain), static_cast<float*>(packed));
        };
        value_id const v = operand(index);
        if (is_constant(v)) {
            value_id const added = add_value(bytes, sublet::value_role::external);
            to_.packed.push_back({added, v, whole});
            return added;
        }
        need_plain(v);
        value_id const added = add_value(bytes);
        host_step& step = add_step({}, {});
        step.is_reorder = true;
        step.uses = {v};
        step.defs = {added};
        step.pack = whole;
        return added;
    }
    /// Direction, gate, state, operand  ->  direction, operand, gate, state.
    value_id packed_weights(recurrence const& s, std::size_t index, int length)
    {
        std::size_t const count = count_of({s.directions(), s.gates(), s.states, length});
        return add_packed(index, count * sizeof(float), [s, length](float const* plain, float* packed) {
            for (int d = 0; d != s.directions(); ++d)
                for (int i = 0; i != length; ++i)
                    for (int g = 0; g != s.gates(); ++g)
                        for (int h = 0; h != s.states; ++h)
                            *packed++ = plain[((d * s.gates() + gate_of(s, g)) * s.states + h) * length + i];
        });
    }
    /// The biases of both products, as far as they are summed.
    value_id packed_bias(recurrence const& s, bool has_bias)
    {
        bool const is_apart = s.what == recurrence::linear_reset_gru; // of the last gate
        int const gates = s.gates() + is_apart, all = s.gates() * s.states;
        std::size_t const count = count_of({s.directions(), gates, s.states});
        if (!has_bias) // a primitive needs one
            return add_packed(1, count * sizeof(float),
                              [count](float const*, float* packed) { std::fill_n(packed, count, 0.0f); });
        return add_packed(3, count * sizeof(float), [=](float const* plain, float* packed) {
            for (int d = 0; d != s.directions(); ++d, plain += 2 * all)
                for (int g = 0; g != gates; ++g)
                    for (int h = 0; h != s.states; ++h) {
                        int const at = gate_of(s, std::min(g, s.gates() - 1)) * s.states + h;
                        *packed++ = is_apart && g == 2   ? plain[at]
                                    : is_apart && g == 3 ? plain[all + at]
                                                         : plain[at] + plain[all + at];
                    }
        });
    }

    bool add_layer(recurrence const& s)
    {
        bool const is_lstm = s.what == recurrence::lstm, is_apart = s.what == recurrence::linear_reset_gru;
        int const d = s.directions(), all = d * s.states;
        dims const x{s.steps, s.images, s.inputs}, w{1, d, s.inputs, s.gates(), s.states},
            r{1, d, s.states, s.gates(), s.states}, b{1, d, s.gates() + is_apart, s.states},
            state{1, d, s.images, s.states}, y{s.steps, s.images, all};
        auto has = [&](std::size_t i) { return i < operation().inputs.size() && operand(i) != no_value; };
        auto out = [&](std::size_t i) {
            return i < operation().outputs.size() ? operation().outputs[i] : no_value;
        };
        memory::desc const none, first = has(5) ? in_order(state) : none,
                                 last = out(1) != no_value || out(2) != no_value ? in_order(state) : none;
        std::vector<wanted_operand> operands{
            plain_operand(DNNL_ARG_SRC_LAYER, 0, x),
            {DNNL_ARG_WEIGHTS_LAYER, 1, in_order(w), in_order(w), 0, packed_weights(s, 1, s.inputs)},
            {DNNL_ARG_WEIGHTS_ITER, 2, in_order(r), in_order(r), 0, packed_weights(s, 2, s.states)}};
        operands.push_back({DNNL_ARG_BIAS, 3, in_order(b), in_order(b), 0, packed_bias(s, has(3))});
        if (has(5)) operands.push_back(plain_operand(DNNL_ARG_SRC_ITER, 5, state));
        if (has(6) && is_lstm) operands.push_back(plain_operand(DNNL_ARG_SRC_ITER_C, 6, state));
        // All states: step, image, direction, state; those of ONNX have the direction before the image.
        dims const states{s.steps, d, s.images, s.states};
        memory::desc const made(states, real, dims{s.images * all, s.states, all, 1});
        std::vector<made_result> results{
            {DNNL_ARG_DST_LAYER, out(0), d == 1 ? in_order(states) : made, in_order(states)}};
        if (last != none) results.push_back({DNNL_ARG_DST_ITER, out(1), last, last});
        if (last != none && is_lstm) results.push_back({DNNL_ARG_DST_ITER_C, out(2), last, last});

        auto const way = s.is_both_ways ? dnnl::rnn_direction::bidirectional_concat
                         : s.is_reverse ? dnnl::rnn_direction::unidirectional_right2left
                                        : dnnl::rnn_direction::unidirectional_left2right;
        auto finish = [&](auto const& what, auto primitive) {
            add_several(what, std::move(primitive), operands, results);
            // The primitive sees its result as a sequence of rows.
            to_.steps.back().arguments[operands.size()].layout = in_order(y);
            return true;
        };
        if (is_lstm) {
            dnnl::lstm_forward::primitive_desc const what({inference, way, in_order(x), first, first,
                                                           in_order(w), in_order(r), in_order(b), in_order(y),
                                                           last, last},
                                                          user_scratch_, to_.engine);
            return finish(what, dnnl::lstm_forward(what));
        }
        if (is_apart) {
            dnnl::lbr_gru_forward::primitive_desc const what({inference, way, in_order(x), first, in_order(w),
                                                              in_order(r), in_order(b), in_order(y), last},
                                                             user_scratch_, to_.engine);
            return finish(what, dnnl::lbr_gru_forward(what));
        }
        dnnl::gru_forward::primitive_desc const what(
            {inference, way, in_order(x), first, in_order(w), in_order(r), in_order(b), in_order(y), last},
            user_scratch_, to_.engine);
        return finish(what, dnnl::gru_forward(what));
    }

    // --- products ---------------------------------------------------------------------------------------

    /// A matrix, or a batch of them; a dimension that is repeated is 1.
    static memory::desc matrices(strided const& batch, int rows, int columns, int row, int column)
    {
        dims size, strides;
        for (int axis = 0; axis != batch.rank; ++axis) {
            bool const is_repeated = batch.stride[axis] == 0;
            size.push_back(is_repeated ? 1 : batch.size[axis]);
            strides.push_back(is_repeated ? memory::dim{rows} * columns : batch.stride[axis]);
        }
        size.insert(size.end(), {rows, columns});
        strides.insert(strides.end(), {row, column});
        return {size, real, strides};
    }
    bool add_layer(product const& s)
    {
        if (s.depth == 0 || (s.has_c && s.beta != 1)) return false;
        dnnl::primitive_attr how; // a copy of another one would be the same object
        how.set_scratchpad_mode(dnnl::scratchpad_mode::user);
        if (s.alpha != 1) {
            if (s.has_c) return false;
            how.set_output_scales(0, {s.alpha});
        }
        memory::desc const a = matrices(s.a, s.rows, s.depth, s.a_row, s.a_depth);
        memory::desc const b = matrices(s.b, s.depth, s.columns, s.b_depth, s.b_column);
        dims y = a.dims();
        for (std::size_t i = 0; i != y.size(); ++i) y[i] = std::max(y[i], b.dims()[i]);
        y[y.size() - 2] = s.rows, y[y.size() - 1] = s.columns;
        memory::desc const c({s.c_row == 0 ? 1 : s.rows, s.c_column == 0 ? 1 : s.columns}, real,
                             dims{s.c_row == 0 ? s.columns : s.c_row, s.c_column == 0 ? 1 : s.c_column});
        bool const is_packed = y.size() == 2 && is_constant(operand(1));
        memory::desc const weights = is_packed ? any_layout(b.dims()) : b;
        dnnl::matmul::primitive_desc const what(s.has_c ? dnnl::matmul::desc(a, weights, c, in_order(y))
                                                        : dnnl::matmul::desc(a, weights, in_order(y)),
                                                how, to_.engine);
        std::vector<wanted_operand> operands{{DNNL_ARG_SRC, 0, a, a},
                                             {DNNL_ARG_WEIGHTS, 1, what.weights_desc(), b}};
        if (s.has_c) operands.push_back({DNNL_ARG_BIAS, 2, c, c});
        return add(what, dnnl::matmul(what), operands, in_order(y), in_order(y));
    }

    host_steps& to_;
    layered_network const& all_;
    kernels which_;
    dnnl::primitive_attr user_scratch_;
    std::size_t at_ = 0;                          // the layer
    std::vector<std::optional<value_form>> made_; // by value: by a primitive, in a layout of its own
    std::vector<std::vector<value_form>> forms_;  // by value: reordered
    std::vector<unsigned char> has_plain_;        // by value
};

} // namespace

sublet::byte_count host_steps::largest_scratch() const
{
    sublet::byte_count largest = 0;
    for (host_step const& s : steps)
        if (s.scratch != no_value) largest = std::max(largest, bytes[s.scratch]);
    return largest;
}

sublet::snapshot host_steps::program() const
{
    return sublet::sequence(steps.size(), bytes.size(), [&](auto i, sublet::effect_sink& sink) {
        host_step const& step = steps[i];
        for (auto v : step.uses) sink.use(v);
        for (auto v : step.defs)
            if (view_of[v] != no_value) sink.view(v);
            else sink.def(v);
        sink.allocate(step.scratch);
        sink.only_views(); // a reshape reads its shape
        sink.may_recompute(step.is_reorder || all->net.operations[step.operation].may_recompute);
        for (std::size_t o : step.overwritable)
            if (bytes[step.uses[o]] == bytes[step.defs[0]]) sink.may_overwrite(step.uses[o], step.defs[0]);
    });
}

sublet::plan_options host_steps::options() const
{
    return {.bytes = bytes, .alignment = 64, .role = roles, .alias_of = view_of};
}

host_steps steps_of(layered_network const& all, kernels which)
{
    host_steps steps;
    steps.all = &all;
    steps.engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
    step_maker(steps, which).add_all();
    return steps;
}

void run_step(host_steps const& of, host_step const& step, operands const& io, void* scratch)
{
    if (step.pack) return step.pack(io.in[0], io.out);
    if (step.is_evaluated) return evaluate(*of.all, step.operation, io);
    if (!step.primitive) return run_as_formulas(of.all->layers[step.operation], io);
    std::unordered_map<int, memory> arguments;
    for (std::size_t i = 0; i != step.arguments.size(); ++i) {
        auto const& [number, layout, first] = step.arguments[i];
        std::size_t const result = i - io.in.size();
        void* const bytes = i < io.in.size()          ? const_cast<void*>(io.in[i])
                            : result < io.outs.size() ? io.outs[result]
                                                      : scratch;
        arguments.emplace(number, memory(layout, of.engine, static_cast<std::byte*>(bytes) + first));
    }
    dnnl::stream stream(of.engine);
    step.primitive.execute(stream, arguments);
    stream.wait();
}

} // namespace run_network
