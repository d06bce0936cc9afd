// What a reader collects without knowing how much there will be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ranksvm::svmlight {

// An array that grows by realloc, which remaps large ones where it can rather than copy them.  New
// elements are left uninitialised, so that the threads that fill it are the first to touch them.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size) { resize(size); }
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }

  void resize(std::int64_t size) {
    if (size > capacity_) {
      const auto grown = std::max(size, capacity_ + capacity_ / 2);
      reallocate(grown < kSmall ? grown : std::max(grown, kRemappable));
    }
    size_ = size;
  }

  // Gives the room beyond the last element back.
  void shrink() {
    if (size_ < capacity_ || !data_) reallocate(size_);
  }

  // Hands the elements over, to be freed by std::free.
  T* release() {
    shrink();
    size_ = capacity_ = 0;
    return data_.release();
  }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };

  // Address space costs nothing until it is used, and where there is so much it can be remapped.
  static constexpr std::int64_t kRemappable = (std::int64_t{1} << 25) / sizeof(T);
  static constexpr std::int64_t kSmall = (std::int64_t{1} << 18) / sizeof(T);

  void reallocate(std::int64_t capacity) {
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(capacity, 1)) * sizeof(T);
    auto* moved = static_cast<T*>(std::realloc(data_.get(), bytes));
    if (!moved) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(moved);
    capacity_ = capacity;
  }

  std::unique_ptr<T[], Free> data_;
  std::int64_t size_ = 0, capacity_ = 0;
};

// Many short strings in one.
class Strings {
 public:
  std::int64_t size() const { return std::ssize(ends_); }
  void push_back(std::string_view element) {
    text_ += element;
    ends_.push_back(text_.size());
  }
  std::string_view operator[](std::int64_t i) const {
    const auto k = static_cast<std::size_t>(i);
    const auto begin = k == 0 ? 0 : ends_[k - 1];
    return std::string_view(text_).substr(begin, ends_[k] - begin);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

}  // namespace ranksvm::svmlight
