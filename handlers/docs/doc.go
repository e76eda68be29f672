// Package docs contains the manual, one page per topic. A page is Markdown under pages or recipes; a line with only a comment, such as <!--
// personas -->, is replaced by a table generated from the code. snowglobe help TOPIC and /docs show the same text.
package docs
