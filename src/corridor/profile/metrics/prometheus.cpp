// SPDX-License-Identifier: Apache-2.0
// One line at a time: a comment with a type, or a name, labels in braces, a value and perhaps a time.
#include "corridor/profile/metrics/prometheus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

constexpr std::size_t most_samples = 200000;
constexpr std::size_t most_metric_labels = 64;
constexpr std::size_t longest_metric_name = 200, longest_label_value = 300;
constexpr std::size_t longest_metric_number = 40;
constexpr std::size_t longest_metric_line = 64U << 10U;

bool is_name_char(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == ':' || c == '.';
}

/// A value of a sample: not finite for NaN and the infinities; nothing when the word is no number.
std::optional<double> metric_number(std::string_view word) {
  if (word.empty() || word.size() > longest_metric_number) return std::nullopt;
  const std::string text(word);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() ? std::optional(value) : std::nullopt;
}

class MetricLine {
 public:
  explicit MetricLine(std::string_view line) : rest_(trim(line)) {}

  /// Name, labels and value; false when the line is no sample.
  bool read(MetricSample& sample) {
    std::size_t end = 0;
    while (end < rest_.size() && is_name_char(rest_[end])) ++end;
    if (end == 0 || end > longest_metric_name || is_digit(rest_[0])) return false;
    sample.name = rest_.substr(0, end);
    rest_ = trim(rest_.substr(end));
    if (rest_.starts_with("{") && !read_labels(sample.labels)) return false;
    const std::string_view value_word = word();
    const auto value = metric_number(value_word);
    if (!value) return false;
    sample.value = *value;
    if (rest_.empty() || rest_.front() == '#') return true;  // '#': an exemplar of OpenMetrics
    const std::string_view time_word = word();
    const auto time = metric_number(time_word);
    if (!time) return false;
    // Prometheus states milliseconds, OpenMetrics seconds.
    constexpr double first_milliseconds = 1e11;
    if (std::isfinite(*time) && *time > 0) sample.time_s = *time >= first_milliseconds ? *time * 1e-3 : *time;
    return rest_.empty() || rest_.front() == '#';
  }

 private:
  std::string_view word() {
    const std::size_t end = std::min(rest_.find_first_of(" \t"), rest_.size());
    const std::string_view first = rest_.substr(0, end);
    rest_ = trim(rest_.substr(end));
    return first;
  }

  bool read_labels(std::vector<MetricLabel>& labels) {
    rest_.remove_prefix(1);
    while (true) {
      rest_ = trim(rest_);
      if (rest_.starts_with("}")) break;
      const std::size_t equals = rest_.find('=');
      if (equals > longest_metric_name) return false;  // or there is none
      MetricLabel label{std::string(trim(rest_.substr(0, equals))), ""};
      rest_ = trim(rest_.substr(equals + 1));
      if (!rest_.starts_with("\"") || !read_quoted(label.value)) return false;
      if (labels.size() < most_metric_labels) labels.push_back(std::move(label));
      rest_ = trim(rest_);
      if (rest_.starts_with(",")) rest_.remove_prefix(1);
    }
    rest_ = trim(rest_.substr(1));
    return true;
  }

  bool read_quoted(std::string& value) {
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      char c = rest_[i];
      if (c == '"') {
        rest_.remove_prefix(i + 1);
        value = printable(value);
        return true;
      }
      if (c == '\\' && i + 1 < rest_.size()) c = rest_[++i] == 'n' ? ' ' : rest_[i];
      if (value.size() < longest_label_value) value += c;
    }
    return false;
  }

  std::string_view rest_;
};

MetricType metric_type(std::string_view word) {
  if (word == "counter") return MetricType::counter;
  if (word == "gauge") return MetricType::gauge;
  if (word == "histogram" || word == "gaugehistogram") return MetricType::histogram;
  if (word == "summary") return MetricType::summary;
  if (word == "info") return MetricType::info;
  return MetricType::untyped;
}

constexpr std::array<std::string_view, 3> colon_prefixes{"vllm", "sglang", "llamacpp"};

/// "vllm_num_requests_running" → "vllm:num_requests_running".
void with_colon(std::string& name) {
  for (const std::string_view prefix : colon_prefixes) {
    if (name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] == '_')
      name[prefix.size()] = ':';
  }
}

bool is_known_server(std::string_view name) {
  for (const std::string_view prefix : {"vllm:", "sglang:", "llamacpp:", "tgi_", "DCGM_FI_"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

/// Calls `take` with every line and its number.
template <class Take>
void each_metric_line(std::string_view text, Take take) {
  std::size_t number = 1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with("\r")) line.remove_suffix(1);
    if (!take(trim(line), number++)) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// "# TYPE name type"; false for any other comment.
bool read_metric_type(std::string_view line, std::map<std::string, MetricType>& types) {
  if (!line.starts_with("# TYPE ")) return false;
  const std::string_view rest = trim(line.substr(7));
  const std::size_t blank = rest.find(' ');
  constexpr std::size_t most_types = 20000;
  if (blank > longest_metric_name || types.size() >= most_types) return false;  // or there is no blank
  std::string name(rest.substr(0, blank));
  with_colon(name);
  types[std::move(name)] = metric_type(trim(rest.substr(blank)));
  return true;
}

}  // namespace

std::string_view MetricSample::label(std::string_view label_name) const {
  for (const MetricLabel& one : labels) {
    if (one.name == label_name) return one.value;
  }
  return {};
}

MetricsPage read_metrics_page(std::string_view text) {
  MetricsPage page;
  each_metric_line(text, [&](std::string_view line, std::size_t number) {
    if (line.empty()) return true;
    if (line.front() == '#') {
      (void)read_metric_type(line, page.types);
      return true;
    }
    MetricSample sample;
    sample.line = number;
    if (line.size() > longest_metric_line || !MetricLine(line).read(sample)) {
      page.stats.drop("lines that are no sample", Severity::warning, shortened(printable(line.substr(0, 60)), 60));
    } else if (!std::isfinite(sample.value)) {
      page.stats.drop("samples without a finite value", Severity::note, sample.name);
    } else if (page.samples.size() >= most_samples) {
      page.stats.drop("samples beyond the first 200,000", Severity::loss, sample.name);
    } else {
      with_colon(sample.name);
      page.samples.push_back(std::move(sample));
    }
    return true;
  });
  return page;
}

bool looks_like_metrics(std::string_view head) {
  std::size_t comments = 0, samples = 0, known = 0, others = 0, lines = 0;
  each_metric_line(head, [&](std::string_view line, std::size_t) {
    constexpr std::size_t enough_lines = 400;
    if (line.empty() || ++lines > enough_lines) return lines <= enough_lines;
    MetricSample sample;
    if (line.starts_with("# TYPE ") || line.starts_with("# HELP ")) {
      ++comments;
    } else if (MetricLine(line).read(sample)) {
      ++samples;
      with_colon(sample.name);
      known += is_known_server(sample.name) ? 1 : 0;
    } else if (line.front() != '#') {
      ++others;
    }
    return true;
  });
  if (comments > 0 && samples > 0) return others * 2 <= comments + samples;
  return known > 0 && others <= 1;  // the last line may be cut off
}

}  // namespace corridor::profile
