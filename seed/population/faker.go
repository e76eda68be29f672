package population

import (
	"regexp"
	"strings"

	"github.com/brianvoe/gofakeit/v7"
)

// Faker makes up names for one purpose, as For draws numbers.
func (g RNG) Faker(parts ...any) *gofakeit.Faker {
	return gofakeit.NewFaker(g.For(append([]any{"faker"}, parts...)...), false)
}

var plainName = regexp.MustCompile(`^[A-Z][a-z]{2,11}$`)

// Surname returns a family name of plain letters, valid in an X-Chain asset's name and on any page.
func Surname(f *gofakeit.Faker) string {
	for range 50 {
		if name := f.LastName(); plainName.MatchString(name) {
			return name
		}
	}
	return "Nobody"
}

// Fill puts made-up names into a text: a family name for {name}, a fictitious company for {company}.
func Fill(f *gofakeit.Faker, text string) string {
	text = strings.ReplaceAll(text, "{name}", Surname(f))
	return strings.ReplaceAll(text, "{company}", Surname(f)+" "+f.CompanySuffix())
}
