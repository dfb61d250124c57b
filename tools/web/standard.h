// Parts of C++20's standard library that the one of emscripten 3.1.6 (LLVM 13) lacks and graphkit
// uses: algorithms on ranges, and numbers with a fraction from and to text. The compiler includes
// it before each file of the page's build (tools/cmake/GraphkitWeb.cmake). An algorithm that is
// missing here is one more row below.
#pragma once
#ifdef __cplusplus

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

namespace graphkit_web {

using std::identity;
using std::ranges::begin;
using std::ranges::end;
using std::ranges::less;
using std::ranges::range;

template <class T>
concept Iterator = !range<T> && std::input_or_output_iterator<std::decay_t<T>>;

// A test of a value, and an order of two, that see what `project` makes of them.
template <class Test, class Project>
constexpr auto TestOf(Test& test, Project& project) {
  return [&](auto&& value) -> bool {
    return std::invoke(test, std::invoke(project, std::forward<decltype(value)>(value)));
  };
}
template <class Order, class Project>
constexpr auto OrderOf(Order& order, Project& project) {
  return [&](auto&& a, auto&& b) -> bool {
    return std::invoke(order, std::invoke(project, std::forward<decltype(a)>(a)),
                       std::invoke(project, std::forward<decltype(b)>(b)));
  };
}

// The shapes of the algorithms' parameters. `Run` is the algorithm of old, on two iterators.
template <class Run>
struct Ordering {
  template <Iterator I, std::sentinel_for<I> S, class Order = less, class Project = identity>
  constexpr auto operator()(I first, S last, Order order = {}, Project project = {}) const {
    return Run()(first, I(last), OrderOf(order, project));
  }
  template <range R, class Order = less, class Project = identity>
  constexpr auto operator()(R&& r, Order order = {}, Project project = {}) const {
    return (*this)(begin(r), end(r), std::ref(order), std::ref(project));
  }
};

template <class Run>
struct OrderingTo {  // a place between
  template <Iterator I, std::sentinel_for<I> S, class Order = less, class Project = identity>
  constexpr auto operator()(I first, I middle, S last, Order order = {},
                            Project project = {}) const {
    return Run()(first, middle, I(last), OrderOf(order, project));
  }
  template <range R, class I, class Order = less, class Project = identity>
  constexpr auto operator()(R&& r, I middle, Order order = {}, Project project = {}) const {
    return (*this)(begin(r), middle, end(r), std::ref(order), std::ref(project));
  }
};

template <class Run>
struct Testing {
  template <Iterator I, std::sentinel_for<I> S, class Test, class Project = identity>
  constexpr auto operator()(I first, S last, Test test, Project project = {}) const {
    return Run()(first, I(last), TestOf(test, project));
  }
  template <range R, class Test, class Project = identity>
  constexpr auto operator()(R&& r, Test test, Project project = {}) const {
    return (*this)(begin(r), end(r), std::ref(test), std::ref(project));
  }
};

template <class Run>
struct Matching {
  template <Iterator I, std::sentinel_for<I> S, class T, class Project = identity>
  constexpr auto operator()(I first, S last, const T& value, Project project = {}) const {
    const auto equals = [&](auto&& some) -> bool { return some == value; };
    return Run()(first, I(last), TestOf(equals, project));
  }
  template <range R, class T, class Project = identity>
  constexpr auto operator()(R&& r, const T& value, Project project = {}) const {
    return (*this)(begin(r), end(r), value, std::ref(project));
  }
};

// lower_bound and its like: `Run` is told of a value whether it is before the place that is
// searched.
template <bool kBehindEquals>
struct Bound {
  template <Iterator I, std::sentinel_for<I> S, class T, class Order = less,
            class Project = identity>
  constexpr auto operator()(I first, S last, const T& value, Order order = {},
                            Project project = {}) const {
    return std::partition_point(first, I(last), [&](auto&& some) -> bool {
      auto&& seen = std::invoke(project, std::forward<decltype(some)>(some));
      if constexpr (kBehindEquals)
        return !std::invoke(order, value, seen);
      else
        return std::invoke(order, seen, value);
    });
  }
  template <range R, class T, class Order = less, class Project = identity>
  constexpr auto operator()(R&& r, const T& value, Order order = {}, Project project = {}) const {
    return (*this)(begin(r), end(r), value, std::ref(order), std::ref(project));
  }
};

// The largest or smallest value of a range or list, a copy.
template <class Place>
struct Extreme {
  template <range R, class Order = less, class Project = identity>
  constexpr auto operator()(R&& r, Order order = {}, Project project = {}) const {
    return *Place()(r, std::ref(order), std::ref(project));
  }
  template <class T, class Order = less, class Project = identity>
  constexpr T operator()(std::initializer_list<T> list, Order order = {},
                         Project project = {}) const {
    return *Place()(list.begin(), list.end(), std::ref(order), std::ref(project));
  }
};

#define GRAPHKIT_ALGORITHM(name)                \
  struct name##_run {                           \
    template <class... A>                       \
    constexpr auto operator()(A&&... a) const { \
      return std::name(std::forward<A>(a)...);  \
    }                                           \
  };
// clang-format off
GRAPHKIT_ALGORITHM(adjacent_find)
GRAPHKIT_ALGORITHM(all_of)
GRAPHKIT_ALGORITHM(any_of)
GRAPHKIT_ALGORITHM(count_if)
GRAPHKIT_ALGORITHM(find_if)
GRAPHKIT_ALGORITHM(find_if_not)
GRAPHKIT_ALGORITHM(is_sorted)
GRAPHKIT_ALGORITHM(make_heap)
GRAPHKIT_ALGORITHM(max_element)
GRAPHKIT_ALGORITHM(min_element)
GRAPHKIT_ALGORITHM(minmax_element)
GRAPHKIT_ALGORITHM(none_of)
GRAPHKIT_ALGORITHM(nth_element)
GRAPHKIT_ALGORITHM(partial_sort)
GRAPHKIT_ALGORITHM(partition_point)
GRAPHKIT_ALGORITHM(pop_heap)
GRAPHKIT_ALGORITHM(push_heap)
GRAPHKIT_ALGORITHM(sort)
GRAPHKIT_ALGORITHM(sort_heap)
GRAPHKIT_ALGORITHM(stable_partition)
GRAPHKIT_ALGORITHM(stable_sort)
// clang-format on
#undef GRAPHKIT_ALGORITHM

}  // namespace graphkit_web

namespace std::ranges {

inline constexpr graphkit_web::Ordering<graphkit_web::is_sorted_run> is_sorted;
inline constexpr graphkit_web::Ordering<graphkit_web::make_heap_run> make_heap;
inline constexpr graphkit_web::Ordering<graphkit_web::max_element_run> max_element;
inline constexpr graphkit_web::Ordering<graphkit_web::min_element_run> min_element;
inline constexpr graphkit_web::Ordering<graphkit_web::minmax_element_run> minmax_element;
inline constexpr graphkit_web::Ordering<graphkit_web::pop_heap_run> pop_heap;
inline constexpr graphkit_web::Ordering<graphkit_web::push_heap_run> push_heap;
inline constexpr graphkit_web::Ordering<graphkit_web::sort_heap_run> sort_heap;
inline constexpr graphkit_web::Ordering<graphkit_web::sort_run> sort;
inline constexpr graphkit_web::Ordering<graphkit_web::stable_sort_run> stable_sort;
inline constexpr graphkit_web::OrderingTo<graphkit_web::nth_element_run> nth_element;
inline constexpr graphkit_web::OrderingTo<graphkit_web::partial_sort_run> partial_sort;
inline constexpr graphkit_web::Testing<graphkit_web::all_of_run> all_of;
inline constexpr graphkit_web::Testing<graphkit_web::any_of_run> any_of;
inline constexpr graphkit_web::Testing<graphkit_web::count_if_run> count_if;
inline constexpr graphkit_web::Testing<graphkit_web::find_if_run> find_if;
inline constexpr graphkit_web::Testing<graphkit_web::find_if_not_run> find_if_not;
inline constexpr graphkit_web::Testing<graphkit_web::none_of_run> none_of;
inline constexpr graphkit_web::Testing<graphkit_web::partition_point_run> partition_point;
inline constexpr graphkit_web::Testing<graphkit_web::stable_partition_run> stable_partition;
inline constexpr graphkit_web::Matching<graphkit_web::count_if_run> count;
inline constexpr graphkit_web::Matching<graphkit_web::find_if_run> find;
inline constexpr graphkit_web::Bound<false> lower_bound;
inline constexpr graphkit_web::Bound<true> upper_bound;
inline constexpr graphkit_web::Extreme<graphkit_web::Ordering<graphkit_web::max_element_run>> max;
inline constexpr graphkit_web::Extreme<graphkit_web::Ordering<graphkit_web::min_element_run>> min;

template <range R, class Order = less, class Project = identity>
constexpr auto minmax(R&& r, Order order = {}, Project project = {}) {
  const auto [least, most] = minmax_element(r, std::ref(order), std::ref(project));
  return std::pair(*least, *most);
}
template <range R, class Order = less, class Project = identity>
constexpr auto adjacent_find(R&& r, Order order = {}, Project project = {}) {
  return std::adjacent_find(begin(r), end(r), graphkit_web::OrderOf(order, project));
}
template <range R, class T, class Order = less, class Project = identity>
constexpr bool binary_search(R&& r, const T& value, Order order = {}, Project project = {}) {
  const auto at = lower_bound(r, value, std::ref(order), std::ref(project));
  return at != end(r) && !std::invoke(order, value, std::invoke(project, *at));
}
template <range A, range B, class Equal = equal_to, class ProjectA = identity,
          class ProjectB = identity>
constexpr bool equal(A&& a, B&& b, Equal equals = {}, ProjectA project_a = {},
                     ProjectB project_b = {}) {
  return std::equal(begin(a), end(a), begin(b), end(b), [&](auto&& x, auto&& y) -> bool {
    return std::invoke(equals, std::invoke(project_a, x), std::invoke(project_b, y));
  });
}
template <range R, class Out>
constexpr auto copy(R&& r, Out out) {
  return std::copy(begin(r), end(r), out);
}
template <range R, class Out, class Test, class Project = identity>
constexpr auto copy_if(R&& r, Out out, Test test, Project project = {}) {
  return std::copy_if(begin(r), end(r), out, graphkit_web::TestOf(test, project));
}
template <range R, class Out>
constexpr auto move(R&& r, Out out) {
  return std::move(begin(r), end(r), out);
}
template <range R, class T>
constexpr void fill(R&& r, const T& value) {
  std::fill(begin(r), end(r), value);
}
template <range A, range B>
constexpr auto find_first_of(A&& a, B&& b) {
  return std::find_first_of(begin(a), end(a), begin(b), end(b));
}
template <range R, class T>
constexpr void replace(R&& r, const T& from, const T& to) {
  std::replace(begin(r), end(r), from, to);
}
template <range R>
constexpr void reverse(R&& r) {
  std::reverse(begin(r), end(r));
}
template <range A, range B, class Out, class Order = less>
constexpr auto set_intersection(A&& a, B&& b, Out out, Order order = {}) {
  return std::set_intersection(begin(a), end(a), begin(b), end(b), out, order);
}
template <range R, class Out, class F>
constexpr auto transform(R&& r, Out out, F f) {
  return std::transform(begin(r), end(r), out, f);
}

}  // namespace std::ranges

namespace std {

// In "C"'s locale, which is the only one. Of "1e5" read as fixed that is "1".
inline from_chars_result from_chars(const char* first, const char* last, double& value,
                                    chars_format format = chars_format::general) {
  const bool fixed = format == chars_format::fixed;
  const char* behind = first != last && *first == '-' ? first + 1 : first;
  if (behind == last || !(isdigit(*behind) || *behind == '.'))
    return {first, errc::invalid_argument};
  while (behind != last &&
         (isdigit(*behind) || *behind == '.' || (!fixed && strchr("eE+-", *behind))))
    ++behind;
  const string text(first, behind);
  char* stop = nullptr;
  const double number = strtod(text.c_str(), &stop);
  if (stop == text.c_str()) return {first, errc::invalid_argument};
  const char* read = first + (stop - text.c_str());
  if (isinf(number)) return {read, errc::result_out_of_range};
  value = number;
  return {read, errc()};
}

// The shortest text that reads back as the number, without an exponent where that isn't longer.
inline to_chars_result to_chars(char* first, char* last, double value) {
  char text[400];
  int precision = 1;
  do snprintf(text, sizeof text, "%.*e", precision - 1, value);
  while (strtod(text, nullptr) != value && ++precision <= 17);
  const char* mark = strchr(text, 'e');
  if (mark != nullptr) {
    char plain[400];
    const int exponent = atoi(mark + 1);
    snprintf(plain, sizeof plain, "%.*f", max(0, precision - 1 - exponent), value);
    if (strlen(plain) <= strlen(text)) strcpy(text, plain);
  }
  const size_t length = strlen(text);
  if (length > static_cast<size_t>(last - first)) return {last, errc::value_too_large};
  memcpy(first, text, length);
  return {first + length, errc()};
}

inline strong_ordering operator<=>(const string& a, const string& b) { return a.compare(b) <=> 0; }
template <class T>
requires requires(const T& value) { value <=> value; }
strong_ordering operator<=>(const optional<T>& a, const optional<T>& b) {
  return a && b ? *a <=> *b : a.has_value() <=> b.has_value();
}

template <class T>
unique_ptr<T> make_unique_for_overwrite(size_t count) {
  return unique_ptr<T>(new remove_extent_t<T>[count]);
}

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

}  // namespace std

#endif
