// Package docs has what is to be known about the simulator, a page for each topic. A page is Markdown under pages or recipes; a line
// that is only a comment, such as <!-- personas -->, stands for a table that is made from the code. The same text is shown by
// snowglobe help TOPIC and at /docs.
package docs
