// Builds the tree of a document from yaml-cpp's events instead of its nodes: the nodes
// drop the second of two equal keys, share what an alias names, and are built by a
// recursion that hostile text can drive as deep as it likes. The events come one by
// one, so the builder refuses the value that exceeds a budget before the parser
// descends into it: each `[`, `{`, `-` and `key:` is announced by an event before its
// content is read, and an exception thrown there unwinds the parser.
#include "scenarios/yaml_tree.h"

#include <map>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "scenarios/yaml_text.h"

namespace isochrone::scenarios {
namespace {

struct TreeFault {
  YAML::Mark mark;
  std::string message;
};

struct Size {
  std::size_t nodes = 1;
  std::size_t depth = 0;
};

Size size_of(const YamlNode& node) {
  Size size;
  const auto add = [&](const YamlNode& part) {
    const Size inner = size_of(part);
    size.nodes += inner.nodes;
    size.depth = std::max(size.depth, inner.depth + 1);
  };
  for (const YamlNode& item : node.items) add(item);
  for (const YamlEntry& entry : node.entries) {
    add(entry.key);
    add(entry.value);
  }
  return size;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string file) : file_(std::move(file)) {
    root_.position = {file_, 1, 1};
  }

  YamlNode take() { return std::move(root_); }

  /// Where the last text in quotes (or written as a block) begins.
  const std::optional<YAML::Mark>& last_quoted() const { return last_quoted_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) {
      throw TreeFault{mark, "a second document begins; a scenario is one document"};
    }
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add_leaf(mark, anchor, YamlNode::Kind::kNull);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw TreeFault{mark, "this alias stands inside of the value that it names"};
    }
    const Size size = size_of(found->second);
    count(mark, size.nodes, size.depth);
    YamlNode copy = found->second;
    copy.position = position(mark);
    place(std::move(copy));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    YamlNode& leaf = add_leaf_open(mark, anchor, YamlNode::Kind::kText);
    leaf.text = value;
    leaf.quoted = tag == "!";
    if (leaf.quoted) last_quoted_ = mark;
    close();
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    add_leaf_open(mark, anchor, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    add_leaf_open(mark, anchor, YamlNode::Kind::kMapping);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::optional<YamlNode> key;  // of a mapping: read, its value not yet
  };

  SourcePosition position(const YAML::Mark& mark) const {
    return {file_, mark.line + 1, mark.column + 1};
  }

  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw TreeFault{mark, fmt::format("tag \"{}\"; a scenario has none", tag)};
  }

  void count(const YAML::Mark& mark, std::size_t nodes, std::size_t depth) {
    nodes_ += nodes;
    if (nodes_ > kMaxYamlNodes) {
      throw TreeFault{
          mark, fmt::format("more than {} values, aliases written out", kMaxYamlNodes)};
    }
    if (open_.size() + depth > kMaxYamlDepth) {
      throw TreeFault{mark, fmt::format("nested deeper than {} levels", kMaxYamlDepth)};
    }
  }

  void add_leaf(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    add_leaf_open(mark, anchor, kind);
    close();
  }

  YamlNode& add_leaf_open(const YAML::Mark& mark, YAML::anchor_t anchor,
                          YamlNode::Kind kind) {
    count(mark, 1, 0);
    Open& open = open_.emplace_back();
    open.anchor = anchor;
    open.node.kind = kind;
    open.node.position = position(mark);
    return open.node;
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.anchor != YAML::NullAnchor) anchors_[done.anchor] = done.node;
    place(std::move(done.node));
  }

  void place(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      parent.key = std::move(node);
    } else {
      parent.node.entries.push_back({std::move(*parent.key), std::move(node)});
      parent.key.reset();
    }
  }

  std::string file_;
  bool started_ = false;
  std::size_t nodes_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  std::optional<YAML::Mark> last_quoted_;
  YamlNode root_;
};

/// yaml-cpp takes the end of the text for a closing quote.
bool never_closed(std::string_view yaml, const YAML::Mark& mark) {
  auto i = static_cast<std::size_t>(std::max(mark.pos, 0));
  if (i >= yaml.size() || (yaml[i] != '"' && yaml[i] != '\'')) return false;
  const char quote = yaml[i++];
  while (i < yaml.size()) {
    if (quote == '"' && yaml[i] == '\\') {
      i += 2;
    } else if (yaml[i] == quote && i + 1 < yaml.size() && yaml[i + 1] == quote) {
      i += 2;
    } else if (yaml[i] == quote) {
      return false;
    } else {
      ++i;
    }
  }
  return true;
}

std::string hint_for(const std::string& message) {
  if (message.find("illegal map value") != std::string::npos) {
    return "text that holds a colon needs quotes";
  }
  if (message.find("end of map") != std::string::npos ||
      message.find("end of sequence") != std::string::npos) {
    return "is the indentation uneven, or a bracket or comma missing?";
  }
  return "";
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key.kind == Kind::kText && entry.key.text == key) return &entry.value;
  }
  return nullptr;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMapping:
      return "a mapping";
    case YamlNode::Kind::kText:
      break;
  }
  constexpr std::size_t kShown = 60;
  std::string shown = node.text.substr(0, kShown);
  while (node.text.size() > kShown && !shown.empty() &&
         (static_cast<unsigned char>(node.text[shown.size()]) & 0xC0U) == 0x80U) {
    shown.pop_back();
  }
  return fmt::format("{}\"{}{}\"", node.quoted ? "the text " : "", shown,
                     shown.size() < node.text.size() ? "..." : "");
}

std::optional<YamlNode> parse_yaml(std::string_view yaml, const std::string& name,
                                   Diagnostics& faults) {
  const std::size_t before = faults.all().size();
  if (yaml.starts_with("\xEF\xBB\xBF")) yaml.remove_prefix(3);
  check_yaml_text(yaml, name, faults);
  if (faults.all().size() > before) return std::nullopt;
  TreeBuilder builder(name);
  try {
    std::istringstream in{std::string(yaml)};
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const TreeFault& fault) {
    faults.error({name, fault.mark.line + 1, fault.mark.column + 1}, fault.message);
    return std::nullopt;
  } catch (const YAML::Exception& fault) {
    faults.error({name, fault.mark.line + 1, fault.mark.column + 1},
                 "is not YAML: " + fault.msg, hint_for(fault.msg));
    return std::nullopt;
  }
  const auto& quoted = builder.last_quoted();
  if (quoted && never_closed(yaml, *quoted)) {
    faults.error({name, quoted->line + 1, quoted->column + 1},
                 "this quote is never closed");
    return std::nullopt;
  }
  return builder.take();
}

}  // namespace isochrone::scenarios
