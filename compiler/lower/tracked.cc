// Temporaries that are appended to a sparse result: which of their elements have been written is remembered,
// so that only those are appended (Kjolstad et al., CGO 2019, section 5.3: dense arrays with coordinate
// lists).
#include <algorithm>
#include <utility>

#include "compiler/lower/emitter.h"

namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Match;
using loop_ir::Step;
using loop_ir::Write;

/// The result's entries come in the order of their coordinates, else in that of their first writes.
bool Emitter::is_ordered(int target) const {
  const auto& levels = tensor_of(target).levels;
  return std::all_of(levels.begin(), levels.end(), format::is_ordered);
}

bool Emitter::tracks(int target) const { return tensor_of(target).tracked > 0; }

bool Emitter::sums_in_register(int target) const {
  return !tracks(target) || !appends_to(target_of(tree_.root));
}

void Emitter::emit_tracked(const Branch& branch, Statements& out, const std::function<void()>& produce,
                           const std::function<void()>& consume) {
  const int writer = target_of(branch.producer);
  const auto& indices = operand(writer).indices;
  const std::vector<int> tracked(indices.begin(),
                                 indices.begin() + static_cast<std::ptrdiff_t>(tensor_of(writer).tracked));
  const bool appended = appends_to(target_of(branch.consumer));
  Tracking& tracking = tracking_[branch.temporary];
  tracking = {};
  if (tensor_of(writer).hashed) return emit_table(branch, out, produce, consume);
  const auto* outermost = std::get_if<Loop>(&branch.consumer->node);
  if (step_ == Step::count && appended && tracked.size() == 1 && tracked_walk(branch, tree_) == outermost)
    return emit_counted(branch, tracked, out, produce);
  builder_.add_workspace(branch.temporary, indices);
  if (tracked.size() != 1) {
    tracking.flags = builder_.add_flags(branch.temporary, tracked);
    produce();
    return consume();
  }
  tracking.list = builder_.add_list(branch.temporary, tracked);
  tracking.count = builder_.names().fresh("n");
  tracking.flags = builder_.add_marks(branch.temporary, tracked);
  tracking.extent = builder_.extents(branch.temporary, tracked);
  out.push_back(make(loop_ir::Counter{tracking.count, loop_ir::integer(0)}));
  produce();
  out.push_back(make(loop_ir::Collect{tracking.marks()}));
  if (step_ != Step::compute || !starts_clean(writer)) return consume();
  tracking.writer = writer;
  tracking.reader = std::get_if<Loop>(&branch.consumer->node);
  consume();
  if (tracking.writer >= 0) emit_clean(tracking, out);
}

/// How many elements are written is all there is to know. Instead of a flag each element has the stamp of the
/// turn that wrote it last, so nothing has to be taken back: stamps of one thread never come again.
void Emitter::emit_counted(const Branch& branch, const std::vector<int>& tracked, Statements& out,
                           const std::function<void()>& produce) {
  Tracking& tracking = tracking_[branch.temporary];
  tracking.flags = builder_.add_stamps(branch.temporary, tracked);
  tracking.count = builder_.names().fresh("n");
  tracking.stamp = builder_.names().fresh("stamp");
  const std::string last = builder_.add_last_stamp(branch.temporary);
  const auto next = loop_ir::add(loop_ir::load(last, loop_ir::integer(0)), loop_ir::integer(1));
  out.push_back(make(loop_ir::Let{tracking.stamp, loop_ir::Type::index, next}));
  out.push_back(make(loop_ir::Store{last, loop_ir::integer(0), Write::set, loop_ir::name(tracking.stamp)}));
  out.push_back(make(loop_ir::Counter{tracking.count, loop_ir::integer(0)}));
  produce();
  const std::string& counter = counters_.rbegin()->second;  // of the last compressed level
  out.push_back(make(
      loop_ir::SetCounter{counter, loop_ir::add(loop_ir::name(counter), loop_ir::name(tracking.count))}));
}

/// Elements are 0 until they are written, as a workspace is at first, and again when they have been read:
/// their first write needs no branch, which would often be mispredicted.
bool Emitter::starts_clean(int target) const { return tensor_of(target).fill == 0; }

void Emitter::emit_clean(const Tracking& tracking, Statements& out) {
  const std::string place = builder_.names().fresh("p");
  Statements reset;
  emit_first(tracking.writer, loop_ir::load(tracking.list, loop_ir::name(place)), reset);
  out.push_back(make(loop_ir::For{place, loop_ir::integer(0), loop_ir::name(tracking.count),
                                  loop_ir::Shape::scalar, loop_ir::block(std::move(reset))}));
}

/// The producer without its values.
void Emitter::emit_inserts(const NestPtr& nest, const Scope& scope, Statements& out) {
  std::visit(Match{
                 [&](const Loop& loop) {
                   emit_loop(loop, scope, loop_ir::Shape::scalar, out,
                             [&](Scope& below, Statements& body) { emit_inserts(loop.body, below, body); });
                 },
                 [&](const Blocks& blocks) {
                   emit_blocks(blocks, scope, out, [&](Scope& below, Statements& body) {
                     emit_inserts(blocks.body, below, body);
                   });
                 },
                 [&](const Branch& branch) {
                   const auto consume = [&] { emit_inserts(branch.consumer, scope, out); };
                   if (!tracks(target_of(branch.producer))) return consume();
                   emit_tracked(
                       branch, out, [&] { emit_inserts(branch.producer, scope, out); }, consume);
                 },
                 [&](const Terms& sum) {
                   for (const auto& term : sum.terms) emit_inserts(term, scope, out);
                 },
                 [&](const Leaf& leaf) {
                   Scope inserted = scope;
                   emit_insert(leaf.target, inserted, out);
                 },
             },
             nest->node);
}

/// Place of the tracked levels of one use.
ExpressionPtr Emitter::tracked_place(const Operand& use, const Scope& scope) {
  const Tensor& temporary = tree_.tensors[static_cast<std::size_t>(use.tensor)];
  ExpressionPtr place;
  for (int level = 0; level < temporary.tracked; ++level) {
    const int index = use.indices[static_cast<std::size_t>(level)];
    const auto coordinate = loop_ir::name(scope.coordinates.at(index));
    place = place ? loop_ir::add(loop_ir::multiply(place, builder_.extent(index)), coordinate) : coordinate;
  }
  return place;
}

/// The first write of an element since the start: it is noted and gets its start value.
void Emitter::emit_insert(int target, Scope& scope, Statements& out) {
  if (tensor_of(target).hashed) return emit_table_insert(target, scope, out);
  const Operand& use = operand(target);
  const Tracking& tracking = tracking_.at(use.tensor);
  const std::string place = builder_.names().fresh("o");
  out.push_back(make(loop_ir::Let{place, loop_ir::Type::index, tracked_place(use, scope)}));
  const auto at_place = loop_ir::name(place);
  if (!tracking.stamp.empty()) return emit_stamp(tracking, at_place, out);
  Statements first;
  if (tracking.list.empty()) {
    first.push_back(make(loop_ir::Store{tracking.flags, at_place, Write::set, loop_ir::integer(1)}));
  } else {
    first.push_back(make(loop_ir::Mark{tracking.marks(), at_place}));
    if (step_ == Step::count || starts_clean(target)) {
      out.insert(out.end(), first.begin(), first.end());
      return;
    }
  }
  if (step_ == Step::compute) emit_first(target, at_place, first);
  const auto unset = loop_ir::apply(operators::Function::equal,
                                    {loop_ir::load(tracking.flags, at_place), loop_ir::integer(0)});
  out.push_back(make(loop_ir::If{unset, loop_ir::block(std::move(first))}));
}

/// The start values of what is at one place of the tracked levels.
void Emitter::emit_first(int target, const ExpressionPtr& place, Statements& out) {
  const Operand& use = operand(target);
  const std::vector<int> rest(use.indices.begin() + static_cast<std::ptrdiff_t>(tensor_of(target).tracked),
                              use.indices.end());
  const auto size = builder_.extents(use.tensor, rest);
  const auto begin = loop_ir::multiply(place, size);
  const std::string values = builder_.values(use.tensor);
  const auto start = loop_ir::number(tensor_of(target).fill);
  if (rest.empty()) {
    out.push_back(make(loop_ir::Store{values, begin, Write::set, start}));
    return;
  }
  const std::string variable = builder_.names().fresh("x");
  const auto body =
      make(loop_ir::Store{values, loop_ir::add(begin, loop_ir::name(variable)), Write::set, start});
  out.push_back(make(loop_ir::For{variable, loop_ir::integer(0), size, loop_ir::Shape::simd, body}));
}

/// A walk over ascending coordinates, each of which is marked: the first and the last say whether many share
/// a group, whose mark is then stored once instead of for each.
void Emitter::emit_marking(const loop_ir::For& walk, const std::string& coordinates,
                           const std::string& coordinate, Statements& out) {
  using operators::Function;
  auto inside = loop_ir::statements_of(walk.body);
  std::string place;  // the `let` that is the coordinate
  const auto found = std::find_if(inside.begin(), inside.end(), [&](const loop_ir::StatementPtr& each) {
    const auto* let = std::get_if<loop_ir::Let>(&each->node);
    if (let != nullptr && equal(let->value, loop_ir::name(coordinate))) place = let->name;
    const auto* mark = std::get_if<loop_ir::Mark>(&each->node);
    return mark != nullptr && !place.empty() && equal(mark->place, loop_ir::name(place));
  });
  if (found == inside.end()) return out.push_back(make(walk));
  const loop_ir::Marks marks = std::get<loop_ir::Mark>((*found)->node).marks;
  *found = make(
      loop_ir::Store{marks.array, loop_ir::name(place), Write::set, loop_ir::integer(loop_ir::marked_place)});
  loop_ir::For near_each_other = walk;
  near_each_other.body = loop_ir::block(std::move(inside));
  const std::string near = builder_.names().fresh("near");
  const auto last = loop_ir::add(walk.end, loop_ir::integer(-1));
  const auto far = loop_ir::apply(Function::equal, {loop_ir::name(near), loop_ir::integer(0)});
  out.push_back(
      make(loop_ir::MarkGroups{near, marks, loop_ir::load(coordinates, walk.begin),
                               loop_ir::load(coordinates, last), loop_ir::subtract(walk.end, walk.begin)}));
  out.push_back(make(loop_ir::If{loop_ir::name(near), make(std::move(near_each_other))}));
  out.push_back(make(loop_ir::If{far, make(walk)}));
}

/// Counts an element without a branch, which would often be mispredicted.
void Emitter::emit_stamp(const Tracking& tracking, const ExpressionPtr& element, Statements& out) {
  const auto stamp = loop_ir::name(tracking.stamp);
  const auto is_new =
      loop_ir::apply(operators::Function::not_equal, {loop_ir::load(tracking.flags, element), stamp});
  out.push_back(
      make(loop_ir::SetCounter{tracking.count, loop_ir::add(loop_ir::name(tracking.count), is_new)}));
  out.push_back(make(loop_ir::Store{tracking.flags, element, Write::set, stamp}));
}

/// The use of a tracked temporary whose last tracked level the loop binds, read below it; or null.
const Operand* Emitter::tracked_read(const NestPtr& body, int index) const {
  if (!is_chain(body)) return nullptr;
  for (const int number : factors_below(body, tree_)) {
    const int tracked = tensor_of(number).tracked;
    if (tracked > 0 && level_of(operand(number), index) == tracked - 1) return &operand(number);
  }
  return nullptr;
}

/// Walks the list when there is one.
bool Emitter::emit_list_loop(const Loop& loop, const Scope& scope, Statements& out, const Body& body) {
  const Operand* read = tracked_read(loop.body, loop.index);
  if (read == nullptr || tracking_.at(read->tensor).list.empty()) return false;
  Tracking& tracking = tracking_.at(read->tensor);
  const std::string place = builder_.names().fresh("p" + letter_of(loop.index));
  const std::string coordinate = builder_.names().fresh(letter_of(loop.index));
  Statements statements;
  statements.push_back(make(
      loop_ir::Let{coordinate, loop_ir::Type::index, loop_ir::load(tracking.list, loop_ir::name(place))}));
  Scope inner = scope;
  if (!tracking.keys.empty()) emit_table_read(*read, coordinate, inner, statements);
  const int writer = tracking.reader == &loop ? std::exchange(tracking.writer, -1) : -1;
  const Body whole = [&](Scope& below, Statements& read_here) {
    body(below, read_here);
    if (writer >= 0) emit_first(writer, loop_ir::name(coordinate), read_here);
  };
  const auto inside = loop_body(loop, {}, std::move(inner), coordinate, std::move(statements), whole);
  out.push_back(make(loop_ir::For{place, loop_ir::integer(0), loop_ir::name(tracking.count),
                                  loop_ir::Shape::scalar, inside}));
  return true;
}

/// Where flags are asked one by one. Those of one thread are taken back; shared ones are asked once more.
Emitter::Body Emitter::with_flag(const Loop& loop, const Body& body) {
  const Operand* read = tracked_read(loop.body, loop.index);
  if (read == nullptr || !tracking_.at(read->tensor).list.empty()) return body;
  return [this, body, read](Scope& scope, Statements& out) {
    const Tracking& tracking = tracking_.at(read->tensor);
    const auto place = tracked_place(*read, scope);
    Statements inside;
    if (builder_.is_private(tracking.flags))
      inside.push_back(make(loop_ir::Store{tracking.flags, place, Write::set, loop_ir::integer(0)}));
    body(scope, inside);
    out.push_back(make(loop_ir::If{loop_ir::load(tracking.flags, place), loop_ir::block(std::move(inside))}));
  };
}

}  // namespace schaas::lower
