// The names of the ways of counting.
#pragma once

namespace ranksvm {

enum class Counting { automatic, merge, levels, joachims, tree, pairs };

}  // namespace ranksvm
