package docs

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// example is the origin that pages give the simulator.
const example = "http://127.0.0.1:9650"

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table))

// HTML renders a page for a browser that reaches the simulator at origin and the world below the path base. Links between pages name their
// files.
func (m *Manual) HTML(t Topic, base, origin string) (string, error) {
	source := []byte(strings.ReplaceAll(m.Markdown(t), example, origin))
	root := markdown.Parser().Parse(text.NewReader(source))
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, is := n.(*ast.Link); is && entering {
			if name, page := topicOf(string(link.Destination)); page {
				link.Destination = []byte(base + "/docs/" + name)
			}
		}
		if table, is := n.(*east.Table); is {
			table.SetAttributeString("tabindex", "0") // keyboard users can scroll it
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = markdown.Renderer().Render(&b, source, root)
	return strings.ReplaceAll(b.String(), "<pre>", `<pre tabindex="0">`), err
}

// topicOf returns the topic of a relative link.
func topicOf(link string) (name string, page bool) {
	if strings.Contains(link, "://") {
		return "", false
	}
	name, page = strings.CutSuffix(link[strings.LastIndexByte(link, '/')+1:], ".md")
	return name, page
}

// Text renders a page for a terminal with a number of columns.
func (m *Manual) Text(t Topic, width int) string {
	source := []byte(m.Markdown(t))
	w := &textWriter{source: source, width: width}
	w.blocks(markdown.Parser().Parse(text.NewReader(source)), "", "")
	return w.b.String()
}

// textWriter writes blocks of Markdown as plain text.
type textWriter struct {
	b      strings.Builder
	source []byte
	width  int
}

// blocks writes the children of a node. The first line has its own prefix.
func (w *textWriter) blocks(parent ast.Node, first, rest string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n != parent.FirstChild() {
			if _, tight := n.(*ast.TextBlock); !tight && parent.Kind() != ast.KindList {
				w.b.WriteString(strings.TrimRight(rest, " ") + "\n")
			}
			if parent.Kind() != ast.KindList {
				first = rest
			}
		}
		switch n := n.(type) {
		case *ast.Heading:
			title := w.inline(n)
			if n.Level == 1 {
				title = strings.ToUpper(title)
			}
			w.b.WriteString(first + title + "\n")
		case *ast.List:
			number := n.Start
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				mark := "* "
				if n.IsOrdered() {
					mark = fmt.Sprintf("%d. ", number)
					number++
				}
				w.blocks(item, rest+mark, rest+strings.Repeat(" ", len(mark)))
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			lines := n.Lines()
			for i := range lines.Len() {
				at := lines.At(i)
				w.b.WriteString(rest + "    " + strings.TrimRight(string(at.Value(w.source)), "\n") + "\n")
			}
		case *east.Table:
			w.table(n, rest)
		case *ast.HTMLBlock, *ast.ThematicBreak:
		default:
			w.wrap(w.inline(n), first, rest)
		}
	}
}

// inline returns the text of a block's spans.
func (w *textWriter) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(w.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.URL(w.source))
		case *ast.Link:
			b.WriteString(w.inline(n))
			if name, page := topicOf(string(n.Destination)); page {
				b.WriteString(" (snowglobe help " + name + ")")
			} else if string(n.Destination) != w.inline(n) {
				b.WriteString(" (" + string(n.Destination) + ")")
			}
		default:
			b.WriteString(w.inline(n))
		}
	}
	return strings.ReplaceAll(b.String(), `\|`, "|")
}

// wrap writes text, wrapped to the width.
func (w *textWriter) wrap(words, first, rest string) {
	line := first
	empty := true
	for word := range strings.FieldsSeq(words) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > w.width {
			w.b.WriteString(line + "\n")
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	w.b.WriteString(line + "\n")
}

// table writes rows as columns if they fit, and otherwise the other cells of a row below its first, each with its header unless it is the only one.
func (w *textWriter) table(t *east.Table, indent string) {
	var rows [][]string
	var widths []int
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		var cells []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cell := w.inline(c)
			if len(widths) == len(cells) {
				widths = append(widths, 0)
			}
			widths[len(cells)] = max(widths[len(cells)], utf8.RuneCountInString(cell))
			cells = append(cells, cell)
		}
		rows = append(rows, cells)
	}
	total := len(indent)
	for _, n := range widths {
		total += n + 2
	}
	for i, cells := range rows {
		if total <= w.width+2 {
			line := indent
			for j, cell := range cells {
				line += cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)+2)
			}
			w.b.WriteString(strings.TrimRight(line, " ") + "\n")
			continue
		}
		if i == 0 {
			continue
		}
		w.b.WriteString(indent + cells[0] + "\n")
		for j, cell := range cells[1:] {
			if header := rows[0][j+1]; len(cells) > 2 && cell != "" {
				cell = header + ": " + cell
			}
			if cell != "" {
				w.wrap(cell, indent+"    ", indent+"    ")
			}
		}
	}
}
