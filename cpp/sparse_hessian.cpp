#include "sparse_hessian.hpp"

#include <algorithm>
#include <utility>

#include "compiler.hpp"

namespace ranksvm {
namespace {

// Rows of the result, whose numbers are those of the columns at hand.
struct Target {
  double* result;
  std::int64_t stride;
  std::uint32_t first_column;
  std::size_t width;

  [[nodiscard]] RANKSVM_INLINE double* row(std::uint32_t column) const {
    return result + stride * static_cast<std::uint32_t>(column + first_column);
  }
};

RANKSVM_CLONES void add_outer_product(const SparseRow& z, const double* moved,
                                      const Target& target) {
  for (std::size_t m = 0; m < z.n; ++m)
    add_row(z.value[m], moved, target.width, target.row(z.column[m]));
}

void add_outer_product(const SparseRow& z, double factor, const SparseRow& other,
                       const Target& target) {
  for (std::size_t m = 0; m < z.n; ++m)
    add_row(z.value[m] * factor, other, target.width, target.row(z.column[m]));
}

}  // namespace

void SparseHessian::RowBuffer::add(const SparseMatrix& Z, std::int64_t row,
                                   std::uint32_t first_column) {
  const auto begin = begin_.back();
  begin_.push_back(begin + static_cast<std::size_t>(Z.n_stored(row)));
  if (begin_.back() > column_.size()) {
    column_.resize(begin_.back());
    value_.resize(begin_.back());
  }
  Z.copy(row, first_column, column_.data() + begin, value_.data() + begin);
}

SparseRow SparseHessian::Reader::read(std::uint32_t position) {
  row_.clear();
  row_.add(*of_.Z_, of_.sweep_->row_at(of_.begin_ + position), of_.first_column_);
  return row_[0];
}

void SparseHessian::Reader::prefetch(std::uint32_t position) const {
  of_.Z_->prefetch_row(of_.sweep_->row_at(of_.begin_ + position));
}

SparseHessian::SparseHessian(std::shared_ptr<const Sweep> sweep,
                             std::unique_ptr<const SparseMatrix> Z, std::int64_t n_columns,
                             std::int64_t first_column, std::size_t width, double* result,
                             std::int64_t stride, SomeQueries queries)
    : sweep_(std::move(sweep)),
      Z_(std::move(Z)),
      n_columns_(n_columns),
      first_column_(static_cast<std::uint32_t>(first_column)),
      width_(width),
      result_(result + first_column),
      stride_(stride),
      queries_(queries),
      query_(queries.first - 1),
      position_(sweep_->pairs().query_start(queries.first)),
      end_(position_),
      sums_(sweep_->pairs().scale().gap, width),
      own_(*this),
      moving_(*this),
      moved_(width) {}

bool SparseHessian::advance(std::int64_t n_documents) {
  const auto last = sweep_->pairs().query_start(queries_.last);
  const auto stop = position_ + std::min(n_documents, last - position_);
  while (position_ < stop) {
    while (position_ == end_ && position_ < stop) begin_query();
    for (; position_ < std::min(stop, end_); ++position_)
      if (sweep_->half_degree(position_) > 0)
        add_document(static_cast<std::uint32_t>(position_ - begin_));
  }
  return position_ < last;
}

void SparseHessian::begin_query() {
  const auto& pairs = sweep_->pairs();
  begin_ = end_;
  end_ = pairs.query_start(++query_ + 1);
  if (query_ % queries_.every != 0) {
    position_ = end_;
    return;
  }
  if (sweep_->is_sorted(query_)) {
    sums_ = sweep_->row_sums<double>(query_, static_cast<std::int64_t>(width_));
    entered_ = left_ = 0;
    return;
  }
  rows_.clear();
  for (auto p = begin_; p < end_; ++p) rows_.add(*Z_, sweep_->row_at(p), first_column_);
}

void SparseHessian::add_document(std::uint32_t p) {
  terms_.clear();
  if (sweep_->is_sorted(query_))
    add_sorted(p);
  else
    add_unsorted(p);
}

void SparseHessian::add_unsorted(std::uint32_t p) {
  ShortQueries::Terms terms;
  sweep_->terms(query_, p, terms);
  for (std::size_t m = 0; m < terms.n; ++m)
    terms_.emplace_back(rows_[terms.place[m]], terms.factor[m]);
  add_terms(rows_[p]);
}

void SparseHessian::add_sorted(std::uint32_t p) {
  constexpr std::uint32_t kAhead = 12;  // rows in order of score lie anywhere
  if (begin_ + p + kAhead < end_) own_.prefetch(p + kAhead);
  const SparseRow own = own_.read(p);
  const double half_degree = sweep_->half_degree(begin_ + p);
  if (sweep_->is_never_worse(query_, begin_ + p)) {
    terms_.emplace_back(own, half_degree);
    return add_terms(own);
  }
  std::fill(moved_.begin(), moved_.end(), 0.0);
  add_row(half_degree, own, width_, moved_.data());
  subtract_partners(p);
  add_outer_product(own, moved_.data(), {result_, stride_, first_column_, width_});
}

void SparseHessian::subtract_partners(std::uint32_t p) {
  const auto reach = [&](std::size_t window, std::uint32_t& reached) {
    const auto first = reached;
    if (window < sweep_->n_windows())
      reached = std::max(first, sweep_->window_ends(query_, window)[p]);
    return SparseRows{moving_, first, reached};
  };
  const auto entering = reach(0, entered_), leaving = reach(1, left_);
  sweep_->subtract_partners(sums_, query_, entering, leaving,
                            Rows<double>{moved_.data(), 0, p, p + 1});
}

// Adds the outer product of a row, and the sum of all terms.
void SparseHessian::add_terms(const SparseRow& own) {
  constexpr std::int64_t kAsDense = 4;  // numbers that are added in a row, in the time of one alone
  const Target target{result_, stride_, first_column_, width_};
  std::int64_t n_stored = 0;
  for (const auto& [row, factor] : terms_) n_stored += static_cast<std::int64_t>(row.n);
  if (kAsDense * n_stored <= n_columns_) {
    for (const auto& [row, factor] : terms_) add_outer_product(own, factor, row, target);
    return;
  }
  std::fill(moved_.begin(), moved_.end(), 0.0);
  for (const auto& [row, factor] : terms_) add_row(factor, row, width_, moved_.data());
  add_outer_product(own, moved_.data(), target);
}

}  // namespace ranksvm
