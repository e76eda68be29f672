package population

import (
	"regexp"
	"strings"

	"github.com/brianvoe/gofakeit/v7"
)

// Faker makes names up for one purpose, as For draws numbers: by its parts, and for nothing else.
func (g RNG) Faker(parts ...any) *gofakeit.Faker {
	return gofakeit.NewFaker(g.For(append([]any{"faker"}, parts...)...), false)
}

var plainName = regexp.MustCompile(`^[A-Z][a-z]{2,11}$`)

// Surname is a family name of plain letters: what an X-Chain asset may be called, and what fits into any page.
func Surname(f *gofakeit.Faker) string {
	for range 50 {
		if name := f.LastName(); plainName.MatchString(name) {
			return name
		}
	}
	return "Nobody"
}

// Fill puts made-up names into a text: for {name} a family name, for {company} a company that does not exist.
func Fill(f *gofakeit.Faker, text string) string {
	text = strings.ReplaceAll(text, "{name}", Surname(f))
	return strings.ReplaceAll(text, "{company}", Surname(f)+" "+f.CompanySuffix())
}
