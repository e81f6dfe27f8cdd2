// Converts a table of numbers in a text file to a stand-alone chart, for example for a README.
#pragma once

#include <filesystem>
#include <string>

#include "rnnsearch/report/line_chart.h"

namespace rnnsearch::report {

/// Reads tab-separated values: a header with the name of the horizontal axis and the name of each line, then a row for
/// each place on the axis, in order, with the label of the place and the value of each line. An empty or missing field
/// is an unknown point. Lines that begin with # are comments. The places are equally spaced. Throws Error, naming file
/// and line, for a header without lines, a repeated name, a row without a label or with too many fields, an invalid
/// number, and a file without rows.
LineChart read_chart(const std::filesystem::path& path);

/// Returns an SVG file with the title of the chart, its legend, and colours for a light background. It needs no style
/// sheet.
std::string svg_file_of(const LineChart& chart);

}  // namespace rnnsearch::report
