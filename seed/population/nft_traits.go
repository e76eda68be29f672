package population

import (
	"slices"
	"strings"

	"snowglobe/fixtures"
)

// nftTraitValues is how many values each trait has to choose from.
const nftTraitValues = 48

// NFTTraits makes up the values from which attributes of NFT items are chosen. They are the same in every world, since an
// item's metadata follows from its address alone.
func NFTTraits() fixtures.NFTTraits {
	f := RNG(1).Faker("nft traits")
	values := func(draw func() string) []string {
		var all []string
		for len(all) < nftTraitValues {
			if v := draw(); !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		return all
	}
	return fixtures.NFTTraits{
		Finders: values(func() string { return Surname(f) }),
		Places:  values(f.StreetName),
		Moods: values(func() string {
			mood := f.AdjectiveDescriptive()
			return strings.ToUpper(mood[:1]) + mood[1:]
		}),
	}
}
