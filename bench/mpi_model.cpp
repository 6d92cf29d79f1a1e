#include "mpi_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace stockade::bench {
namespace {

constexpr size_t cost_count = 4;
using Row = std::array<double, cost_count>;

double steps_of(MpiSteps steps, double ranks) { return steps == MpiSteps::tree ? std::log2(ranks) : ranks - 1; }

// How often each cost falls due.
Row row_of(MpiSteps steps, double ranks, double bytes, double machines) {
  return {1, steps_of(steps, ranks), bytes / ranks, bytes / machines};
}

// The normal equations of those columns that `chosen` has, by elimination with pivots; nothing where they are singular.
std::optional<Row> solve(const std::vector<Row>& rows, unsigned chosen) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < cost_count; ++i) {
    if ((chosen >> i & 1) != 0) columns.push_back(i);
  }
  const size_t n = columns.size();
  // Columns differ by many orders of magnitude: each is scaled to length 1.
  Row scale{};
  for (const size_t column : columns) {
    for (const Row& row : rows) scale[column] += row[column] * row[column];
    if (scale[column] == 0) return {};
    scale[column] = std::sqrt(scale[column]);
  }
  std::array<std::array<double, cost_count + 1>, cost_count> matrix{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < n; ++i) {
      const double a = row[columns[i]] / scale[columns[i]];
      for (size_t j = 0; j < n; ++j) matrix[i][j] += a * row[columns[j]] / scale[columns[j]];
      // Each row has been divided by its seconds.
      matrix[i][n] += a;
    }
  }
  for (size_t i = 0; i < n; ++i) {
    size_t pivot = i;
    for (size_t k = i + 1; k < n; ++k) {
      if (std::abs(matrix[k][i]) > std::abs(matrix[pivot][i])) pivot = k;
    }
    if (std::abs(matrix[pivot][i]) < 1e-9) return {};
    std::swap(matrix[i], matrix[pivot]);
    for (size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const double factor = matrix[k][i] / matrix[i][i];
      for (size_t j = i; j <= n; ++j) matrix[k][j] -= factor * matrix[i][j];
    }
  }
  Row costs{};
  for (size_t i = 0; i < n; ++i) costs[columns[i]] = matrix[i][n] / matrix[i][i] / scale[columns[i]];
  return costs;
}

double squares_of(const std::vector<Row>& rows, const Row& costs) {
  double sum = 0;
  for (const Row& row : rows) {
    double error = -1;
    for (size_t i = 0; i < cost_count; ++i) error += row[i] * costs[i];
    sum += error * error;
  }
  return sum;
}

}  // namespace

double MpiModel::seconds(double ranks, double bytes, double machines) const {
  const Row row = row_of(steps, ranks, bytes, machines);
  return row[0] * costs.base + row[1] * costs.step + row[2] * costs.own + row[3] * costs.shared;
}

MpiModel fit(MpiSteps steps, const std::vector<MpiSample>& samples) {
  MpiModel model{.steps = steps, .costs = {}, .samples = samples.size()};
  if (samples.size() < 2) return model;
  std::vector<Row> rows;
  for (const MpiSample& sample : samples) {
    Row row = row_of(steps, sample.ranks, sample.bytes, sample.machines);
    for (double& value : row) value /= sample.seconds;
    rows.push_back(row);
  }
  double best = std::numeric_limits<double>::infinity();
  for (unsigned chosen = 1; chosen < 1u << cost_count; ++chosen) {
    const auto costs = solve(rows, chosen);
    if (!costs || std::any_of(costs->begin(), costs->end(), [](double cost) { return cost < 0; })) continue;
    const double squares = squares_of(rows, *costs);
    // What fits no better with a further cost is better without.
    if (squares >= best * (1 - 1e-9)) continue;
    best = squares;
    model.costs = {(*costs)[0], (*costs)[1], (*costs)[2], (*costs)[3]};
  }
  for (const MpiSample& sample : samples) {
    const double error =
        std::abs(model.seconds(sample.ranks, sample.bytes, sample.machines) - sample.seconds) / sample.seconds;
    model.mean_error += error / static_cast<double>(samples.size());
    model.worst_error = std::max(model.worst_error, error);
  }
  return model;
}

}  // namespace stockade::bench
