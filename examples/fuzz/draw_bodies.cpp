// SPDX-License-Identifier: BSL-1.0

// Models of standard operators with graphs inside of graphs, and functions. The drawing knows the shape of
// each value because it chose it: neither the rules of ONNX nor those of plan_model are asked.
#include "drawn_models.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fuzz {
namespace {

using shape = std::vector<std::int64_t>;

constexpr int most_depth = 4, most_nodes_in_all = 60;

struct drawn_value {
    std::string name;
    shape size = {};
    int type = onnx::TensorProto::FLOAT;
    std::size_t root = 0;             ///< the root of its views; itself, if it is no view
    bool is_given = false;            ///< no plan has storage for it
    bool is_constant = false;         ///< it lies in the model, unless its graph gives it
    bool is_unsized = false;          ///< only a run knows its size
    bool is_planned = true;           ///< its graph may run
    std::size_t maker = 0;            ///< the step of its graph that defines it
    std::optional<bool> is_true = {}; ///< of a condition that is known without a run

    std::uint64_t bytes() const
    {
        if (is_unsized) return 0;
        std::uint64_t all = type == onnx::TensorProto::FLOAT ? 4 : type == onnx::TensorProto::INT64 ? 8 : 1;
        for (auto d : size) all *= static_cast<std::uint64_t>(d);
        return all;
    }
    bool is_like(drawn_value const& other) const
    {
        return !is_unsized && !other.is_unsized && size == other.size && type == other.type;
    }
    bool is_condition() const { return type == onnx::TensorProto::BOOL && size.empty() && !is_unsized; }
};

/// The values that a step of a graph uses, with those that graphs inside of it capture, and defines.
struct drawn_step {
    std::vector<std::size_t> used, made;
    std::vector<std::size_t> after; ///< used when the graphs inside have begun
    std::vector<std::size_t> never; ///< used by branches that never run
    bool has_graphs = false;
    std::uint64_t inside = 0; ///< bytes that the graphs inside have to hold at once, of what only they have
};

/// A graph that is being drawn.
struct drawn_scope {
    onnx::GraphProto& graph;
    drawn_scope* outer = nullptr;
    int depth = 0;
    bool is_planned = true;                 ///< not in a branch that never runs
    std::vector<std::size_t> visible = {};  ///< values by index
    std::vector<std::string> shadowed = {}; ///< names of outer values that this graph may use for its own
    std::vector<drawn_step> steps = {};
    std::vector<std::size_t> own = {};       ///< values that this graph defines
    std::vector<std::size_t> given_out = {}; ///< values that it gives to the graph around it
};

class drawing {
public:
    explicit drawing(random_source& d) : d_(d) {}

    drawn_model draw()
    {
        model_.set_ir_version(8);
        for (char const* domain : {"", "own"}) {
            auto& opset = *model_.add_opset_import();
            opset.set_domain(domain);
            opset.set_version(13);
        }
        model_.mutable_graph()->set_name("drawn");
        drawn_scope main{*model_.mutable_graph()};
        add_functions();
        for (int i = d_.between(1, 3); i != 0; --i) add_input(main);
        for (int i = d_.between(1, 3); i != 0; --i) add_initializer(main, any_shape(), any_type());
        for (int i = d_.between(2, 9); i != 0; --i) add_node(main);
        choose_outputs(main);
        drawn_model drawn{std::move(model_), facts(main), std::move(words_)};
        return drawn;
    }

private:
    // --- values
    // ---------------------------------------------------------------------------------------------

    std::string new_name(drawn_scope& in)
    {
        if (!in.shadowed.empty() && d_.percent(40)) {
            std::string name = in.shadowed.back();
            in.shadowed.pop_back();
            return name;
        }
        return numbered("v", names_++);
    }

    shape any_shape()
    {
        shape size;
        for (int rank = d_.between(0, 3); rank != 0; --rank)
            size.push_back(d_.percent(5) ? 0 : d_.between(1, 4));
        return size;
    }
    int any_type()
    {
        return d_.percent(85)   ? onnx::TensorProto::FLOAT
               : d_.percent(50) ? onnx::TensorProto::INT64
                                : onnx::TensorProto::BOOL;
    }

    std::size_t add(drawn_scope& in, drawn_value v)
    {
        std::size_t const id = values_.size();
        v.root = v.root == no_root ? id : v.root;
        v.is_planned = in.is_planned;
        values_.push_back(std::move(v));
        in.visible.push_back(id);
        in.own.push_back(id);
        return id;
    }

    /// A result of the node that is being added.
    std::size_t make(drawn_scope& in, onnx::NodeProto& node, shape size, int type, std::size_t root = no_root)
    {
        drawn_value v{.name = new_name(in), .size = std::move(size), .type = type, .root = root};
        v.maker = in.steps.size() - 1;
        node.add_output(v.name);
        std::size_t const id = add(in, std::move(v));
        in.steps.back().made.push_back(id);
        if (in.is_planned) ++results_;
        return id;
    }

    static void declare(onnx::ValueInfoProto& info, drawn_value const& v)
    {
        info.set_name(v.name);
        auto& type = *info.mutable_type()->mutable_tensor_type();
        type.set_elem_type(v.type);
        if (v.is_unsized) return;
        auto& dims = *type.mutable_shape();
        for (auto d : v.size) dims.add_dim()->set_dim_value(d);
    }

    /// A graph input, of which a dimension may be open in the file and given by --dim.
    void add_input(drawn_scope& main)
    {
        drawn_value v{.name = new_name(main), .size = any_shape(), .type = any_type(), .root = no_root};
        v.is_given = true;
        if (d_.percent(25)) v.size = {}, v.type = onnx::TensorProto::BOOL;
        auto& input = *main.graph.add_input();
        declare(input, v);
        if (v.is_condition()) {
            if (d_.percent(30)) {
                v.is_true = d_.percent(50);
                words_.insert(words_.end(), {"--value", v.name + '=' + (*v.is_true ? '1' : '0')});
                is_declared_ = false; // a value is given: all nodes are followed
            }
        } else if (!v.size.empty() && d_.percent(35)) {
            std::size_t const axis = d_.below(v.size.size());
            auto& dim = *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(
                static_cast<int>(axis));
            dim.clear_dim_value();
            bool const is_named = d_.percent(60);
            if (is_named) dim.set_dim_param(numbered("n", names_));
            words_.insert(words_.end(),
                          {"--dim", (is_named ? numbered("n", names_) : v.name + ':' + std::to_string(axis)) +
                                        '=' + std::to_string(v.size[axis])});
            is_declared_ = false;
        }
        add(main, std::move(v));
    }

    std::size_t add_initializer(drawn_scope& in, shape size, int type, char content = '\1')
    {
        drawn_value v{.name = new_name(in), .size = std::move(size), .type = type, .root = no_root};
        v.is_given = true;
        auto& t = *in.graph.add_initializer();
        t.set_name(v.name);
        t.set_data_type(v.type);
        for (auto d : v.size) t.add_dims(d);
        t.set_raw_data(std::string(v.bytes(), content));
        if (v.is_condition()) v.is_true = content != 0;
        return add(in, std::move(v));
    }

    std::size_t add_integers(drawn_scope& in, shape const& numbers, bool is_scalar)
    {
        drawn_value v{.name = new_name(in), .type = onnx::TensorProto::INT64, .root = no_root};
        v.is_given = true;
        if (!is_scalar) v.size = {static_cast<std::int64_t>(numbers.size())};
        auto& t = *in.graph.add_initializer();
        t.set_name(v.name);
        t.set_data_type(v.type);
        for (auto d : v.size) t.add_dims(d);
        for (auto i : numbers) t.add_int64_data(i);
        return add(in, std::move(v));
    }

    template <class Holds>
    std::optional<std::size_t> any_that(drawn_scope& in, Holds holds)
    {
        std::vector<std::size_t> all;
        for (std::size_t v : in.visible)
            if (!values_[v].is_unsized && holds(values_[v])) all.push_back(v);
        if (all.empty()) return std::nullopt;
        std::size_t const recent = std::min<std::size_t>(all.size(), 4);
        return d_.percent(60) ? all[all.size() - 1 - d_.below(recent)] : d_.one_of(all);
    }
    std::size_t any(drawn_scope& in)
    {
        auto const found = any_that(in, [](drawn_value const&) { return true; });
        return found ? *found : add_initializer(in, any_shape(), onnx::TensorProto::FLOAT);
    }
    std::size_t any_float(drawn_scope& in)
    {
        auto const found =
            any_that(in, [](drawn_value const& v) { return v.type == onnx::TensorProto::FLOAT; });
        return found ? *found : add_initializer(in, any_shape(), onnx::TensorProto::FLOAT);
    }
    /// Of the size and type of another one: this one, or one that is made for it.
    std::size_t any_like(drawn_scope& in, std::size_t like)
    {
        drawn_value const wanted = values_[like];
        auto const found = any_that(in, [&](drawn_value const& v) { return v.is_like(wanted); });
        if (found && d_.percent(85)) return *found;
        if (d_.percent(40)) return add_initializer(in, wanted.size, wanted.type);
        auto& node = begin(in, "Constant");
        auto& value = *node.add_attribute();
        value.set_name("value");
        value.set_type(onnx::AttributeProto::TENSOR);
        value.mutable_t()->set_data_type(wanted.type);
        for (auto d : wanted.size) value.mutable_t()->add_dims(d);
        value.mutable_t()->set_raw_data(std::string(wanted.bytes(), '\1'));
        std::size_t const made = make(in, node, wanted.size, wanted.type);
        values_[made].is_constant = true;
        if (values_[made].is_condition()) values_[made].is_true = true;
        return made;
    }
    std::size_t any_condition(drawn_scope& in)
    {
        auto const found = any_that(in, [](drawn_value const& v) { return v.is_condition(); });
        if (found && d_.percent(80)) return *found;
        if (in.outer == nullptr && d_.percent(60)) {
            drawn_value v{.name = new_name(in), .type = onnx::TensorProto::BOOL, .root = no_root};
            v.is_given = true;
            declare(*in.graph.add_input(), v);
            return add(in, std::move(v));
        }
        return add_initializer(in, {}, onnx::TensorProto::BOOL, d_.percent(50) ? '\1' : '\0');
    }

    // --- nodes
    // ----------------------------------------------------------------------------------------------

    onnx::NodeProto& begin(drawn_scope& in, char const* type)
    {
        in.steps.emplace_back();
        auto& node = *in.graph.add_node();
        node.set_op_type(type);
        if (d_.percent(20)) node.set_name(numbered("node", in.steps.size()));
        return node;
    }
    void read(drawn_scope& in, onnx::NodeProto& node, std::size_t v)
    {
        node.add_input(values_[v].name);
        in.steps.back().used.push_back(v);
    }
    static void set(onnx::NodeProto& node, char const* name, std::int64_t i)
    {
        auto& a = *node.add_attribute();
        a.set_name(name), a.set_type(onnx::AttributeProto::INT), a.set_i(i);
    }

    void add_node(drawn_scope& in)
    {
        if (++drawn_nodes_ > most_nodes_in_all) return add_unary(in);
        int const kind = d_.between(0, 99);
        bool const may_nest = in.depth < most_depth;
        if (kind < 14 && may_nest) add_if(in);
        else if (kind < 28 && may_nest) add_loop(in);
        else if (kind < 36 && may_nest) add_scan(in);
        else if (kind < 42 && !functions_.empty()) add_call(in);
        else if (kind < 54) add_view(in);
        else if (kind < 60) add_not(in);
        else if (kind < 66) add_concatenation(in);
        else if (kind < 72) add_split(in);
        else if (kind < 76) add_transposition(in);
        else if (kind < 88) add_sum(in);
        else add_unary(in);
    }

    void add_unary(drawn_scope& in)
    {
        char const* const types[] = {"Relu", "Exp", "Sigmoid", "Tanh"};
        std::size_t const x = any_float(in);
        auto& node = begin(in, d_.one_of(types));
        read(in, node, x);
        make(in, node, values_[x].size, values_[x].type);
    }
    void add_sum(drawn_scope& in)
    {
        char const* const types[] = {"Add", "Mul", "Sub"};
        std::size_t const x = any_float(in), y = any_like(in, x);
        auto& node = begin(in, d_.one_of(types));
        read(in, node, x);
        read(in, node, y);
        make(in, node, values_[x].size, values_[x].type);
    }
    void add_not(drawn_scope& in)
    {
        std::size_t const x = any_condition(in);
        auto& node = begin(in, "Not");
        read(in, node, x);
        std::size_t const made = make(in, node, {}, onnx::TensorProto::BOOL);
        if (values_[x].is_true) values_[made].is_true = !*values_[x].is_true;
    }
    void add_view(drawn_scope& in)
    {
        char const* const types[] = {"Identity", "Unsqueeze", "Reshape", "Flatten", "Dropout"};
        std::string type = d_.one_of(types);
        std::size_t const x = type == "Dropout" ? any_float(in) : any(in);
        if (values_[x].bytes() == 0 && type == "Reshape") type = "Identity";
        shape size = values_[x].size;
        std::size_t list = no_root;
        if (type == "Unsqueeze") {
            list = add_integers(in, {0}, false);
            size.insert(size.begin(), 1);
        } else if (type == "Reshape") {
            size = {std::accumulate(size.begin(), size.end(), std::int64_t{1}, std::multiplies<>())};
            list = add_integers(in, size, false);
        }
        auto& node = begin(in, type.c_str());
        read(in, node, x);
        if (list != no_root) read(in, node, list);
        if (type == "Flatten") {
            set(node, "axis", 0);
            size = {1, std::accumulate(size.begin(), size.end(), std::int64_t{1}, std::multiplies<>())};
        }
        std::size_t const made = make(in, node, size, values_[x].type, values_[x].root);
        if (values_[made].is_condition()) values_[made].is_true = values_[x].is_true;
        if (type == "Dropout" && d_.percent(40)) make(in, node, values_[x].size, onnx::TensorProto::BOOL);
    }
    void add_concatenation(drawn_scope& in)
    {
        std::size_t const x = any_float(in), y = any_like(in, x);
        if (values_[x].size.empty()) return add_unary(in);
        auto& node = begin(in, "Concat");
        set(node, "axis", 0);
        read(in, node, x);
        read(in, node, y);
        shape size = values_[x].size;
        size[0] *= 2;
        if (size[0] > 64) size[0] = values_[x].size[0], node.mutable_input()->RemoveLast();
        make(in, node, size, values_[x].type);
    }
    void add_split(drawn_scope& in)
    {
        std::size_t const x = any_float(in);
        if (values_[x].size.empty() || values_[x].size[0] % 2 != 0) return add_unary(in);
        auto& node = begin(in, "Split");
        set(node, "axis", 0);
        read(in, node, x);
        shape size = values_[x].size;
        size[0] /= 2;
        for (int i = 0; i != 2; ++i) make(in, node, size, values_[x].type);
    }
    void add_transposition(drawn_scope& in)
    {
        std::size_t const x = any_float(in);
        auto& node = begin(in, "Transpose");
        read(in, node, x);
        shape size(values_[x].size.rbegin(), values_[x].size.rend());
        make(in, node, size, values_[x].type);
    }

    // --- graphs inside
    // --------------------------------------------------------------------------------------

    onnx::GraphProto& new_graph(onnx::NodeProto& node, char const* name)
    {
        auto& a = *node.add_attribute();
        a.set_name(name);
        a.set_type(onnx::AttributeProto::GRAPH);
        a.mutable_g()->set_name(name);
        return *a.mutable_g();
    }

    /// Sees what the graph around it has, but for a few names that it uses for its own values.
    drawn_scope scope_in(drawn_scope& outer, onnx::GraphProto& graph, bool is_planned)
    {
        drawn_scope inner{graph, &outer, outer.depth + 1, is_planned};
        for (std::size_t v : outer.visible)
            if (d_.percent(5)) inner.shadowed.push_back(values_[v].name);
            else inner.visible.push_back(v);
        return inner;
    }

    /// An input of a body. `is_given`: no plan has storage for it.
    std::size_t add_body_input(drawn_scope& body, drawn_value const& like, bool is_given)
    {
        drawn_value v{.name = new_name(body), .size = like.size, .type = like.type, .root = no_root};
        v.is_given = is_given;
        v.maker = 0;
        auto& input = *body.graph.add_input();
        input.set_name(v.name);
        input.mutable_type()->mutable_tensor_type()->set_elem_type(v.type);
        return add(body, std::move(v));
    }

    void draw_nodes(drawn_scope& in)
    {
        for (int i = d_.between(0, 4); i != 0; --i) add_node(in);
    }

    void give(drawn_scope& body, std::size_t v)
    {
        auto& output = *body.graph.add_output();
        if (d_.percent(50)) declare(output, values_[v]);
        else output.set_name(values_[v].name);
        body.given_out.push_back(v);
        if (std::find(body.own.begin(), body.own.end(), v) != body.own.end()) values_[v].is_constant = false;
    }

    /// The graph inside is complete: what it reads of the graph around it is used by its node.
    void close(drawn_scope& outer, drawn_scope const& body)
    {
        auto& step = outer.steps.back();
        step.has_graphs = true;
        auto is_own = [&](std::size_t v) {
            return std::find(body.own.begin(), body.own.end(), v) != body.own.end();
        };
        auto& reads = body.is_planned ? step.after : step.never;
        auto add_outer = [&](std::vector<std::size_t> const& list, std::vector<std::size_t>& to) {
            for (std::size_t v : list)
                if (!is_own(v)) to.push_back(v);
        };
        for (drawn_step const& inner : body.steps) {
            add_outer(inner.used, reads);
            add_outer(inner.after, reads);
            add_outer(inner.never, step.never);
        }
        add_outer(body.given_out, reads);
        if (body.is_planned) step.inside = std::max(step.inside, peak(body, false));
    }

    void add_if(drawn_scope& in)
    {
        std::size_t const condition = any_condition(in);
        std::optional<bool> const taken = values_[condition].is_true;
        auto& node = begin(in, "If");
        read(in, node, condition);
        auto& then_graph = new_graph(node, "then_branch");
        auto& else_graph = new_graph(node, "else_branch");
        std::size_t const results = d_.below(3) + (d_.percent(90) ? 1 : 0);
        drawn_scope then = scope_in(in, then_graph, in.is_planned && taken != false);
        draw_nodes(then);
        if (results != 0)
            while (then.steps.empty() && d_.percent(50)) add_node(then);
        std::vector<std::size_t> outs;
        for (std::size_t i = 0; i != results; ++i)
            outs.push_back(!outs.empty() && d_.percent(15) ? outs.back() : any(then));
        for (std::size_t v : outs) give(then, v);
        drawn_scope other = scope_in(in, else_graph, in.is_planned && taken != true);
        draw_nodes(other);
        std::vector<std::size_t> others;
        for (std::size_t v : outs) others.push_back(any_like(other, v));
        for (std::size_t v : others) give(other, v);
        close(in, then);
        close(in, other);
        drawn_scope const* const from = taken == false ? &other : &then;
        for (std::size_t i = 0; i != results; ++i) {
            if (results > 1 && d_.percent(10)) {
                node.add_output("");
                continue;
            }
            drawn_value const like = values_[from->given_out[i]];
            std::size_t const made = make(in, node, like.size, like.type);
            if (taken && like.is_condition()) values_[made].is_true = like.is_true;
        }
    }

    void add_loop(drawn_scope& in)
    {
        bool const is_counted = d_.percent(70);
        std::int64_t const trips = d_.between(0, 3);
        std::optional<std::size_t> count, condition;
        if (is_counted) count = add_integers(in, {trips}, true);
        if (!is_counted || d_.percent(30)) condition = any_condition(in);
        std::vector<std::size_t> carried;
        for (int i = d_.between(0, 3); i != 0; --i)
            carried.push_back(!carried.empty() && d_.percent(30) ? any_like(in, carried.back()) : any(in));
        auto& node = begin(in, "Loop");
        if (count) read(in, node, *count);
        else node.add_input("");
        if (condition) read(in, node, *condition);
        else node.add_input("");
        for (std::size_t v : carried) read(in, node, v);
        bool const begins = !condition || values_[*condition].is_true == true;
        bool const never_begins = condition && values_[*condition].is_true == false;

        drawn_scope body = scope_in(in, new_graph(node, "body"), in.is_planned);
        add_body_input(body, drawn_value{"", {}, onnx::TensorProto::INT64}, true);
        std::size_t const goes_on = add_body_input(body, drawn_value{"", {}, onnx::TensorProto::BOOL}, true);
        if (begins) values_[goes_on].is_true = true;
        std::vector<std::size_t> inputs;
        for (std::size_t v : carried) inputs.push_back(add_body_input(body, values_[v], false));
        draw_nodes(body);
        std::size_t const next_condition = d_.percent(50) ? goes_on : any_condition(body);
        std::vector<std::size_t> next = draw_next(body, inputs);
        give(body, next_condition);
        for (std::size_t v : next) give(body, v);
        std::vector<std::size_t> rows;
        for (int i = d_.between(-1, 2); i > 0; --i) rows.push_back(any(body));
        for (std::size_t v : rows) give(body, v);
        close(in, body);

        bool const is_known =
            never_begins ||
            (is_counted && (trips == 0 || (begins && values_[next_condition].is_true == true)));
        std::size_t const results =
            d_.percent(80) ? carried.size() + rows.size() : d_.below(carried.size() + rows.size() + 1);
        std::vector<bool> is_kept(carried.size());
        for (std::size_t i = 0; i != results; ++i) {
            if (d_.percent(8)) {
                node.add_output("");
                continue;
            }
            if (i < carried.size()) {
                is_kept[i] = true;
                std::size_t const made = make(in, node, values_[carried[i]].size, values_[carried[i]].type);
                bool const never_runs = never_begins || (is_counted && trips == 0);
                if (never_runs && values_[made].is_condition())
                    values_[made].is_true = values_[carried[i]].is_true;
                continue;
            }
            drawn_value const row = values_[rows[i - carried.size()]];
            shape size = row.size;
            size.insert(size.begin(), never_begins ? 0 : trips);
            make_rows(in, node, std::move(size), row.type, !is_known);
        }
        for (std::size_t i = 0; i != carried.size(); ++i)
            if (body.is_planned && !is_kept[i] && !is_read(body, inputs[i])) {
                values_[inputs[i]].is_planned = false;
                unread_bytes_ += values_[inputs[i]].bytes();
            }
    }

    static bool is_read(drawn_scope const& body, std::size_t v)
    {
        auto has = [v](std::vector<std::size_t> const& list) {
            return std::find(list.begin(), list.end(), v) != list.end();
        };
        return has(body.given_out) ||
               std::any_of(body.steps.begin(), body.steps.end(),
                           [&](auto const& step) { return has(step.used) || has(step.after); });
    }

    /// What a body gives for its carried values: passed through, exchanged, captured, one twice, or new.
    std::vector<std::size_t> draw_next(drawn_scope& body, std::vector<std::size_t> const& inputs)
    {
        std::vector<std::size_t> next;
        for (std::size_t v : inputs) next.push_back(d_.percent(25) ? v : any_like(body, v));
        for (std::size_t i = 1; i < next.size(); ++i)
            if (d_.percent(25) && values_[inputs[i]].is_like(values_[inputs[i - 1]]))
                next[i - 1] = inputs[i], next[i] = d_.percent(70) ? inputs[i - 1] : inputs[i];
        return next;
    }

    void make_rows(drawn_scope& in, onnx::NodeProto& node, shape size, int type, bool is_open)
    {
        std::size_t const made = make(in, node, std::move(size), type);
        values_[made].is_unsized = is_open;
    }

    void add_scan(drawn_scope& in)
    {
        auto const scanned =
            any_that(in, [](drawn_value const& v) { return !v.size.empty() && v.size.size() < 4; });
        if (!scanned) return add_sum(in);
        std::int64_t const trips = values_[*scanned].size[0];
        std::vector<std::size_t> carried;
        for (int i = d_.between(0, 2); i != 0; --i)
            carried.push_back(!carried.empty() && d_.percent(30) ? any_like(in, carried.back()) : any(in));
        auto& node = begin(in, "Scan");
        for (std::size_t v : carried) read(in, node, v);
        node.add_input(values_[*scanned].name);
        in.steps.back().after.push_back(*scanned); // each iteration reads a part
        set(node, "num_scan_inputs", 1);
        drawn_scope body = scope_in(in, new_graph(node, "body"), in.is_planned);
        std::vector<std::size_t> inputs;
        for (std::size_t v : carried) inputs.push_back(add_body_input(body, values_[v], false));
        drawn_value part = values_[*scanned];
        part.size.erase(part.size.begin());
        add_body_input(body, part, false);
        draw_nodes(body);
        std::vector<std::size_t> const next = draw_next(body, inputs);
        for (std::size_t v : next) give(body, v);
        std::vector<std::size_t> rows;
        for (int i = d_.between(carried.empty() ? 1 : 0, 2); i != 0; --i) rows.push_back(any(body));
        for (std::size_t v : rows) give(body, v);
        close(in, body);
        for (std::size_t v : carried) make(in, node, values_[v].size, values_[v].type);
        for (std::size_t v : rows) {
            shape size = values_[v].size;
            size.insert(size.begin(), trips);
            make(in, node, std::move(size), values_[v].type);
        }
    }

    // --- functions
    // ------------------------------------------------------------------------------------------

    /// Of one operand: each is a chain that keeps the shape, and calls those before it.
    struct drawn_function {
        std::string name;
        std::size_t nodes = 0; ///< with those of the functions that it calls in their place
    };

    void add_functions()
    {
        if (!d_.percent(35)) return;
        is_inlined_ = d_.percent(50);
        if (is_inlined_) words_.push_back("--inline");
        for (int i = d_.between(1, 3); i != 0; --i) {
            drawn_function f{numbered("f", functions_.size())};
            auto& function = *model_.add_functions();
            function.set_domain("own");
            function.set_name(f.name);
            for (char const* domain : {"", "own"}) {
                auto& opset = *function.add_opset_import();
                opset.set_domain(domain);
                opset.set_version(13);
            }
            function.add_input("v0"); // a name that occurs outside, too
            std::string last = "v0";
            int const count = d_.between(1, 3);
            for (int n = 1; n <= count; ++n) {
                auto& node = *function.add_node();
                bool const calls = !functions_.empty() && d_.percent(30);
                drawn_function const called = calls ? d_.one_of(functions_) : drawn_function{"Exp", 1};
                if (calls) node.set_domain("own");
                node.set_op_type(called.name);
                f.nodes += called.nodes;
                node.add_input(last);
                last = n == count ? "out" : numbered("v", static_cast<std::size_t>(n));
                node.add_output(last);
            }
            function.add_output("out");
            functions_.push_back(f);
        }
    }

    void add_call(drawn_scope& in)
    {
        drawn_function const f = d_.one_of(functions_);
        std::size_t x = any_float(in);
        std::size_t const steps = is_inlined_ ? f.nodes : 1;
        shape const size = values_[x].size;
        for (std::size_t i = 0; i + 1 != steps; ++i) { // their nodes are not written: --inline makes them
            in.steps.emplace_back();
            in.steps.back().used.push_back(x);
            drawn_value v{.name = {}, .size = size, .root = no_root};
            v.maker = in.steps.size() - 1;
            x = values_.size();
            v.root = x;
            v.is_planned = in.is_planned;
            values_.push_back(v);
            in.own.push_back(x);
            in.steps.back().made.push_back(x);
            if (in.is_planned) ++results_;
        }
        auto& node = begin(in, f.name.c_str());
        node.set_domain("own");
        if (steps == 1) read(in, node, x);
        else {
            node.add_input(values_[in.steps[in.steps.size() - steps].used.front()].name);
            in.steps.back().used.push_back(x);
        }
        make(in, node, size, onnx::TensorProto::FLOAT);
    }

    // --- the answer
    // -----------------------------------------------------------------------------------------

    void choose_outputs(drawn_scope& main)
    {
        std::vector<bool> is_output(values_.size());
        for (int i = d_.between(1, 3); i != 0; --i) {
            std::size_t const v = any(main);
            if (!values_[v].is_given || d_.percent(20)) is_output[v] = true;
        }
        bool const declares = is_declared_ && d_.percent(40);
        for (std::size_t v : main.own) {
            drawn_value const& value = values_[v];
            if (value.name.empty()) continue;
            if (is_output[v]) {
                auto& output = *main.graph.add_output();
                if (declares || d_.percent(50)) declare(output, value);
                else output.set_name(value.name);
                main.given_out.push_back(v);
                values_[v].is_constant = false;
            } else if (declares && !value.is_given) {
                declare(*main.graph.add_value_info(), value);
            }
        }
    }

    /// Bytes that any plan without results in place has to hold at once, of values of the graph and of graphs
    /// inside. `is_main`: also of what it gives; what a body gives may lie where its node's result does.
    std::uint64_t peak(drawn_scope const& in, bool is_main) const
    {
        std::size_t const end = in.steps.size();
        std::vector<std::size_t> last_before(values_.size(), 0), last(values_.size(), 0);
        std::vector<bool> counts(values_.size(), false);
        for (std::size_t n = 0; n != end; ++n) {
            for (std::size_t v : in.steps[n].made) {
                counts[v] = values_[v].root == v && !values_[v].is_given && !values_[v].is_constant;
                last[v] = std::max(last[v], n);
            }
            for (std::size_t v : in.steps[n].used) last[values_[v].root] = n;
            for (std::size_t v : in.steps[n].after) last[values_[v].root] = n;
        }
        for (std::size_t v : in.given_out) {
            last[values_[v].root] = end;
            if (!is_main) counts[values_[v].root] = false;
        }
        std::uint64_t most = 0;
        for (std::size_t n = 0; n != end; ++n) {
            std::uint64_t around = 0, made = 0;
            for (std::size_t v : in.own) {
                if (!counts[v] || values_[v].maker > n) continue;
                bool const is_dead = in.steps[n].has_graphs && last[v] == n;
                if (values_[v].maker == n) made += is_dead ? 0 : values_[v].bytes();
                else if (last[v] > n) around += values_[v].bytes();
            }
            most = std::max(most, around + std::max(made, in.steps[n].inside));
        }
        return most;
    }

    model_facts facts(drawn_scope const& main)
    {
        model_facts known;
        known.is_of_bodies = true;
        known.results = results_;
        known.peak_bytes = peak(main, true);
        for (std::size_t v = 0; v != values_.size(); ++v)
            if (values_[v].is_planned && !values_[v].is_given && !values_[v].is_constant && values_[v].root == v)
                known.naive_bytes += values_[v].bytes();
        known.unread_bytes = unread_bytes_;
        if (!is_inlined_)
            for (drawn_value const& v : values_) known.names.insert(v.name);
        known.order = another_order(main);
        return known;
    }

    std::vector<std::size_t> another_order(drawn_scope const& main)
    {
        std::vector<std::size_t> order, left(main.steps.size());
        std::iota(left.begin(), left.end(), std::size_t{0});
        auto reads = [&](std::size_t later, std::size_t earlier) {
            for (auto const* const list :
                 {&main.steps[later].used, &main.steps[later].after, &main.steps[later].never})
                for (std::size_t v : *list)
                    if (std::count(main.steps[earlier].made.begin(), main.steps[earlier].made.end(), v) != 0)
                        return true;
            return false;
        };
        while (!left.empty()) {
            std::vector<std::size_t> ready;
            for (std::size_t i = 0; i != left.size(); ++i)
                if (std::none_of(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(i),
                                 [&](std::size_t n) { return reads(left[i], n); }))
                    ready.push_back(i);
            std::size_t const next = d_.one_of(ready);
            order.push_back(left[next]);
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
        }
        return order;
    }

    static constexpr std::size_t no_root = static_cast<std::size_t>(-1);

    random_source& d_;
    onnx::ModelProto model_;
    std::vector<drawn_value> values_;
    std::vector<drawn_function> functions_;
    std::vector<std::string> words_;
    std::size_t names_ = 0, results_ = 0;
    std::uint64_t unread_bytes_ = 0; // of carried values that nothing reads
    int drawn_nodes_ = 0;
    bool is_declared_ = true, is_inlined_ = false;
};

} // namespace

drawn_model draw_bodies(random_source& d) { return drawing(d).draw(); }

} // namespace fuzz
