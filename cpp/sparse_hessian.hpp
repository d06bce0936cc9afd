// The explicit Hessian of sparse rows: half of it, Z' N Z for half the Laplacian N of a sweep.
//
// One document after the other, in the order of the sweep: its row of N Z is dense in general, but
// its own row z is not, and each value that this stores adds a multiple of the one to a row of the
// result,
//
//   result[k, :] += z[k] (N Z)[p, :].
//
// That takes d additions for each stored value instead of d^2 for each row, and no memory but for
// the sums of the walk. Where few values are stored in all the rows that N takes, as for documents
// that are the worse one of no pair, whose row of N is diagonal, only these are added.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "pair_sums/row_sums.hpp"
#include "sweep.hpp"

namespace ranksvm {

// Z: rows with columns that lie at less than 2^32.
class SparseMatrix {
 public:
  virtual ~SparseMatrix() = default;
  [[nodiscard]] virtual std::int64_t n_stored(std::int64_t row) const = 0;
  // Writes what a row stores, with columns counted from the first one, modulo 2^32.
  virtual void copy(std::int64_t row, std::uint32_t first_column, std::uint32_t* column,
                    double* value) const = 0;
  // Starts loading what a row stores.
  virtual void prefetch_row(std::int64_t /*row*/) const {}
};

// Which queries: those from first to last whose number is a multiple of `every`.
struct SomeQueries {
  std::int64_t first, last, every;
};

// Some columns of Z' N Z, of some queries. Every element is added up in the same order, whatever
// the columns are.
class SparseHessian {
 public:
  // Adds to a matrix of n_columns rows that are `stride` apart, in the columns first_column,
  // ..., first_column + width - 1; there need not be as many in Z.
  SparseHessian(std::shared_ptr<const Sweep> sweep, std::unique_ptr<const SparseMatrix> Z,
                std::int64_t n_columns, std::int64_t first_column, std::size_t width,
                double* result, std::int64_t stride, SomeQueries queries);

  SparseHessian(const SparseHessian&) = delete;
  SparseHessian& operator=(const SparseHessian&) = delete;

  // Goes through so many documents more, those passed over included; whether there are others left.
  bool advance(std::int64_t n_documents);

 private:
  // Several rows, one after the other.
  class RowBuffer {
   public:
    void clear() { begin_.assign(1, 0); }
    void add(const SparseMatrix& Z, std::int64_t row, std::uint32_t first_column);
    [[nodiscard]] SparseRow operator[](std::size_t place) const {
      return {begin_[place + 1] - begin_[place], column_.data() + begin_[place],
              value_.data() + begin_[place]};
    }

   private:
    std::vector<std::size_t> begin_{0};
    std::vector<std::uint32_t> column_;
    std::vector<double> value_;
  };
  // The rows of the query at hand.
  class Reader final : public SparseReader {
   public:
    explicit Reader(const SparseHessian& of) : of_(of) {}
    SparseRow read(std::uint32_t position) override;
    void prefetch(std::uint32_t position) const override;

   private:
    const SparseHessian& of_;
    RowBuffer row_;
  };

  void begin_query();
  void add_document(std::uint32_t p);
  void add_sorted(std::uint32_t p);
  void add_unsorted(std::uint32_t p);
  void add_terms(const SparseRow& own);
  void subtract_partners(std::uint32_t p);

  std::shared_ptr<const Sweep> sweep_;
  std::unique_ptr<const SparseMatrix> Z_;
  std::int64_t n_columns_;
  std::uint32_t first_column_;
  std::size_t width_;
  double* result_;
  std::int64_t stride_;
  SomeQueries queries_;

  std::int64_t query_, begin_ = 0, position_, end_;
  RowBuffer rows_;                        // of a query that is not in order
  RowSums<double> sums_;                  // of one that is,
  std::uint32_t entered_ = 0, left_ = 0;  // and how many have come and gone
  Reader own_, moving_;
  std::vector<std::pair<SparseRow, double>> terms_;
  std::vector<double> moved_;  // a row of N Z
};

}  // namespace ranksvm
