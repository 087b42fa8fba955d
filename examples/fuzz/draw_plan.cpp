// SPDX-License-Identifier: BSL-1.0
#include "drawn_models.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fuzz {
namespace {

struct element {
    int type;
    std::uint64_t bytes;
};
constexpr element elements[] = {{onnx::TensorProto::FLOAT, 4},
                                {onnx::TensorProto::INT64, 8},
                                {onnx::TensorProto::BOOL, 1},
                                {onnx::TensorProto::FLOAT16, 2}};

struct drawn_value {
    std::string name;
    std::vector<std::int64_t> shape = {};
    element of = elements[0];
    std::size_t root = 0;   ///< the root of its views; itself, if it is no view
    bool is_stored = false; ///< an initializer: no node may write it
    bool is_given = false;  ///< an initializer or a graph input
    bool is_constant = false; ///< it lies in the model, unless the graph gives it, or writes what it reads
    std::size_t maker = 0;  ///< the node that defines it, unless it is given

    std::uint64_t count() const
    {
        std::uint64_t all = 1;
        for (auto d : shape) all *= static_cast<std::uint64_t>(d);
        return all;
    }
    std::uint64_t bytes() const { return count() * of.bytes; }
};

/// The values that a node uses and defines, by index.
struct drawn_node {
    std::vector<std::size_t> touched, written, made;
};

class drawing {
public:
    explicit drawing(random_source& d) : d_(d) {}

    drawn_model draw()
    {
        model_.set_ir_version(8);
        for (char const* domain : {"", "other"}) {
            auto& opset = *model_.add_opset_import();
            opset.set_domain(domain);
            opset.set_version(13);
        }
        graph().set_name("drawn");
        for (int i = d_.between(1, 3); i != 0; --i) add_given(false);
        for (int i = d_.between(0, 2); i != 0; --i) add_given(true);
        for (int i = d_.between(1, 12); i != 0; --i) add_node();
        choose_outputs();
        return {std::move(model_), facts()};
    }

private:
    onnx::GraphProto& graph() { return *model_.mutable_graph(); }

    std::string new_name()
    {
        char const* const odd[] = {", ", "\"", "<b>&amp;", "\n", "\\", "\xc3\xa4", "'", " "};
        std::string name = numbered("v", values_.size());
        return d_.percent(4) ? name + d_.one_of(odd) : name;
    }

    void draw_shape(drawn_value& v)
    {
        v.of = d_.percent(70) ? elements[0] : d_.one_of(elements);
        for (int rank = d_.between(0, 3); rank != 0; --rank)
            v.shape.push_back(d_.percent(5) ? 0 : d_.between(1, 5));
    }

    static void declare(onnx::ValueInfoProto& info, drawn_value const& v)
    {
        info.set_name(v.name);
        auto& type = *info.mutable_type()->mutable_tensor_type();
        type.set_elem_type(v.of.type);
        auto& shape = *type.mutable_shape();
        for (auto d : v.shape) shape.add_dim()->set_dim_value(d);
    }

    void add_given(bool is_stored)
    {
        drawn_value v{.name = new_name(), .root = values_.size(), .is_stored = is_stored, .is_given = true};
        draw_shape(v);
        if (is_stored) {
            auto& t = *graph().add_initializer();
            t.set_name(v.name);
            t.set_data_type(v.of.type);
            for (auto d : v.shape) t.add_dims(d);
            t.set_raw_data(std::string(v.bytes(), '\1'));
        }
        if (!is_stored || d_.percent(30)) declare(*graph().add_input(), v); // its default
        values_.push_back(v);
    }

    std::size_t any_value()
    {
        return d_.percent(60) ? values_.size() - 1 - d_.below(std::min<std::size_t>(4, values_.size()))
                              : d_.below(values_.size());
    }

    void add_node()
    {
        int const kind = d_.between(0, 99);
        nodes_.emplace_back();
        auto& node = *graph().add_node();
        if (kind < 25) add_view(node);
        else if (kind < 30) add_constant(node);
        else if (kind < 36) add_branches(node);
        else add_operator(node);
        if (d_.percent(30)) node.set_name(numbered("n", nodes_.size()));
    }

    void read(onnx::NodeProto& node, std::size_t v)
    {
        node.add_input(values_[v].name);
        nodes_.back().touched.push_back(v);
    }

    void make(onnx::NodeProto& node, drawn_value v)
    {
        v.maker = nodes_.size() - 1;
        node.add_output(v.name);
        nodes_.back().made.push_back(values_.size());
        values_.push_back(std::move(v));
    }

    /// The standard operators that give their first operand another shape.
    void add_view(onnx::NodeProto& node)
    {
        char const* const types[] = {"Identity", "Dropout", "Squeeze", "Flatten", "Reshape", "Unsqueeze"};
        std::string type = d_.one_of(types);
        std::size_t const of = any_value();
        read(node, of);
        if (type == "Reshape" || type == "Unsqueeze") { // the shape or the axes: numbers that a node computes
            auto const numbers = std::find_if(values_.rbegin(), values_.rend(), [](drawn_value const& v) {
                return v.of.type == onnx::TensorProto::INT64 && v.shape.size() == 1;
            });
            if (numbers == values_.rend()) type = "Identity";
            else read(node, static_cast<std::size_t>(values_.rend() - numbers) - 1);
        }
        node.set_op_type(type);
        drawn_value v{.name = new_name(), .shape = values_[of].shape, .of = values_[of].of};
        v.root = values_[of].root;
        if (type == "Squeeze") std::erase(v.shape, 1);
        if (type == "Unsqueeze") v.shape.insert(v.shape.begin(), 1);
        if (type == "Reshape") v.shape = {static_cast<std::int64_t>(values_[of].count())};
        if (type == "Flatten") {
            v.shape = {1, static_cast<std::int64_t>(values_[of].count())};
            auto& axis = *node.add_attribute();
            axis.set_name("axis");
            axis.set_type(onnx::AttributeProto::INT);
            axis.set_i(0);
        }
        make(node, std::move(v));
        if (type == "Dropout" && d_.percent(30)) {
            drawn_value mask{.name = new_name(), .shape = values_[of].shape, .of = elements[2]};
            mask.root = values_.size();
            make(node, std::move(mask));
        }
    }

    void add_constant(onnx::NodeProto& node)
    {
        node.set_op_type("Constant");
        drawn_value v{.name = new_name(), .root = values_.size()};
        v.is_constant = true;
        draw_shape(v);
        auto& value = *node.add_attribute();
        value.set_name("value");
        value.set_type(onnx::AttributeProto::TENSOR);
        value.mutable_t()->set_data_type(v.of.type);
        for (auto d : v.shape) value.mutable_t()->add_dims(d);
        value.mutable_t()->set_raw_data(std::string(v.bytes(), '\2'));
        make(node, std::move(v));
    }

    /// The graphs in an If read outer values by name.
    void add_branches(onnx::NodeProto& node)
    {
        node.set_op_type("If");
        read(node, any_value());
        for (char const* name : {"then_branch", "else_branch"}) {
            auto& branch = *node.add_attribute();
            branch.set_name(name);
            branch.set_type(onnx::AttributeProto::GRAPH);
            auto& within = *branch.mutable_g();
            within.set_name(name);
            auto& inner = *within.add_node();
            inner.set_op_type("Relu");
            std::size_t const captured = any_value();
            inner.add_input(values_[captured].name);
            nodes_.back().touched.push_back(captured);
            inner.add_output("within"); // in both branches, and of every If
            within.add_output()->set_name("within");
        }
        for (int i = 0; i != 2; ++i) { // of which the graphs have one: they are not planned
            drawn_value v{.name = new_name(), .root = values_.size()};
            draw_shape(v);
            make(node, std::move(v));
        }
    }

    void add_operator(onnx::NodeProto& node)
    {
        node.set_op_type("Op");
        node.set_domain("other");
        std::vector<std::size_t> operands; // values_.size(): absent
        for (int i = d_.between(0, 4); i != 0; --i) {
            std::size_t const v = d_.percent(5) ? values_.size() : any_value();
            operands.push_back(v);
            if (v == values_.size()) node.add_input("");
            else read(node, v);
        }
        std::size_t const none = values_.size();
        auto indexes_if = [&](auto holds) {
            std::vector<std::int64_t> found;
            for (std::size_t i = 0; i != operands.size(); ++i)
                if (operands[i] != none && holds(values_[operands[i]]))
                    found.push_back(static_cast<std::int64_t>(i));
            return found;
        };
        std::vector<std::int64_t> written = indexes_if([&](drawn_value const& v) {
            return !v.is_stored && !values_[v.root].is_stored && d_.percent(12);
        });
        for (auto i : written) nodes_.back().written.push_back(operands[static_cast<std::size_t>(i)]);
        std::vector<std::int64_t> alias_of;
        int const results = !written.empty() && d_.percent(20) ? 0 : d_.percent(70) ? 1 : d_.between(2, 3);
        std::size_t first = none; // the first result with storage of its own
        for (int r = 0; r != results; ++r) {
            alias_of.push_back(-1);
            if (d_.percent(results == 1 ? 0 : 10)) {
                node.add_output("");
                continue;
            }
            drawn_value v{.name = new_name(), .root = values_.size()};
            draw_shape(v);
            auto const like = indexes_if([](drawn_value const&) { return true; });
            if (!like.empty() && d_.percent(50)) { // of the same size as an operand
                drawn_value const& o =
                    values_[operands[static_cast<std::size_t>(like[d_.below(like.size())])]];
                v.shape = o.shape, v.of = o.of;
            }
            auto const larger = indexes_if([&](drawn_value const& o) { return o.bytes() >= v.bytes(); });
            if (!larger.empty() && d_.percent(30)) {
                alias_of.back() = larger[d_.below(larger.size())];
                v.root = values_[operands[static_cast<std::size_t>(alias_of.back())]].root;
            } else if (r == 0) {
                first = values_.size();
            }
            make(node, std::move(v));
        }
        std::vector<std::int64_t> overwritable;
        if (first != none)
            overwritable = indexes_if([&](drawn_value const& o) {
                return o.bytes() == values_[first].bytes() && values_[o.root].bytes() == o.bytes() &&
                       d_.percent(70);
            });
        set_ints(node, "alias_of_input", alias_of,
                 std::any_of(alias_of.begin(), alias_of.end(), [](auto i) { return i != -1; }) ||
                     d_.percent(10));
        set_ints(node, "may_inplace", overwritable, !overwritable.empty());
        set_ints(node, "writes_input", written, !written.empty());
        writes_ = writes_ || !written.empty();
    }

    static void set_ints(onnx::NodeProto& node, char const* name, std::vector<std::int64_t> const& ints,
                         bool is_present)
    {
        if (!is_present) return;
        auto& a = *node.add_attribute();
        a.set_name(name);
        a.set_type(onnx::AttributeProto::INTS);
        for (auto i : ints) a.add_ints(i);
    }

    void choose_outputs()
    {
        std::vector<bool> is_output(values_.size());
        for (int i = d_.percent(5) ? 0 : d_.between(1, 3); i != 0; --i) is_output[any_value()] = true;
        for (std::size_t v = 0; v != values_.size(); ++v) {
            if (is_output[v]) declare(*graph().add_output(), values_[v]), outputs_.push_back(v);
            if (is_output[v]) values_[v].is_constant = false;
            if (!is_output[v] && !values_[v].is_given) declare(*graph().add_value_info(), values_[v]);
        }
    }

    /// Recomputed without the library.
    model_facts facts()
    {
        model_facts known;
        std::size_t const end = nodes_.size();
        std::vector<std::size_t> last(values_.size(), 0);
        for (std::size_t n = 0; n != end; ++n) {
            for (std::size_t v : nodes_[n].touched) last[values_[v].root] = n + 1;
            for (std::size_t v : nodes_[n].made) last[values_[v].root] = n + 1;
        }
        for (std::size_t v : outputs_) last[values_[v].root] = end;
        std::vector<std::uint64_t> alive(end);
        for (std::size_t v = 0; v != values_.size(); ++v) {
            drawn_value const& value = values_[v];
            known.names.insert(value.name);
            if (value.is_given || value.root != v || value.bytes() == 0) continue;
            if (value.is_constant && !writes_) continue;
            ++known.buffers;
            known.naive_bytes += value.bytes();
            for (std::size_t n = value.maker; n != last[v]; ++n) alive[n] += value.bytes();
        }
        for (auto bytes : alive) known.peak_bytes = std::max(known.peak_bytes, bytes);
        known.order = another_order();
        return known;
    }

    /// Two nodes keep their order if one touches bytes that the other defines or writes.
    std::vector<std::size_t> another_order()
    {
        auto share_root = [&](std::vector<std::size_t> const& a, std::vector<std::size_t> const& b) {
            for (std::size_t x : a)
                for (std::size_t y : b)
                    if (values_[x].root == values_[y].root) return true;
            return false;
        };
        auto reads_from = [&](drawn_node const& later, drawn_node const& earlier) {
            for (std::size_t v : later.touched)
                if (std::count(earlier.made.begin(), earlier.made.end(), v) != 0) return true;
            return false;
        };
        auto must_follow = [&](drawn_node const& later, drawn_node const& earlier) {
            return reads_from(later, earlier) || share_root(later.touched, earlier.written) ||
                   share_root(later.written, earlier.touched);
        };
        std::vector<std::size_t> order, left;
        for (std::size_t n = 0; n != nodes_.size(); ++n) left.push_back(n);
        while (!left.empty()) {
            std::vector<std::size_t> ready;
            for (std::size_t i = 0; i != left.size(); ++i)
                if (std::none_of(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(i),
                                 [&](std::size_t n) { return must_follow(nodes_[left[i]], nodes_[n]); }))
                    ready.push_back(i);
            std::size_t const next = d_.one_of(ready);
            order.push_back(left[next]);
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
        }
        return order;
    }

    random_source& d_;
    onnx::ModelProto model_;
    std::vector<drawn_value> values_;
    std::vector<drawn_node> nodes_;
    std::vector<std::size_t> outputs_;
    bool writes_ = false; // what a node reads
};

} // namespace

drawn_model draw_plan(random_source& d) { return drawing(d).draw(); }

} // namespace fuzz
