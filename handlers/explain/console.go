package explain

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/artifacts"
)

// consoleMethods has all overloads of log, by selector: none to four values of four types, and one value of each other type. Versions of Hardhat before 2.13
// hash uint and int, which Solidity would write as uint256 and int256
// (https://github.com/NomicFoundation/hardhat/blob/main/packages/hardhat/console.sol).
var consoleMethods = sync.OnceValue(func() map[[4]byte]abi.Arguments {
	all := map[[4]byte]abi.Arguments{}
	add := func(types ...string) {
		var arguments abi.Arguments
		for _, name := range types {
			t, err := abi.NewType(name, "", nil)
			if err != nil {
				panic(err) // the names are below
			}
			arguments = append(arguments, abi.Argument{Type: t})
		}
		signature := "log(" + strings.Join(types, ",") + ")"
		all[[4]byte(crypto.Keccak256([]byte(signature)))] = arguments
		old := strings.NewReplacer("uint256", "uint", "int256", "int").Replace(signature)
		all[[4]byte(crypto.Keccak256([]byte(old)))] = arguments
	}
	var combine func(before []string)
	combine = func(before []string) {
		add(before...)
		if len(before) < 4 {
			for _, t := range []string{"uint256", "string", "bool", "address"} {
				combine(append(before[:len(before):len(before)], t))
			}
		}
	}
	combine(nil)
	add("int256")
	add("string", "int256")
	add("bytes")
	for n := 1; n <= 32; n++ {
		add(fmt.Sprintf("bytes%d", n))
	}
	return all
})

// mostMessage bounds a message of the console.
const mostMessage = 16 << 10

// consoleText returns the message that a call of the console logs.
func consoleText(input []byte) (string, bool) {
	if len(input) < 4 {
		return "", false
	}
	types, known := consoleMethods()[[4]byte(input)]
	if !known {
		return "", false
	}
	values, err := types.Unpack(input[4:])
	if err != nil {
		return "", false
	}
	text := formatConsole(values)
	if len(text) > mostMessage {
		text = strings.ToValidUTF8(text[:mostMessage], "") + "…"
	}
	return text, true
}

// formatConsole writes values as Node's util.format does: a text that comes first may have places for the values after it
// (https://nodejs.org/api/util.html#utilformatformat-args).
func formatConsole(values []any) string {
	var parts []string
	format, formatted := "", len(values) > 1
	if formatted {
		format, formatted = values[0].(string)
	}
	if formatted {
		var b strings.Builder
		values = values[1:]
		for {
			before, after, found := strings.Cut(format, "%")
			b.WriteString(before)
			if !found {
				break
			}
			verb := ""
			if after != "" {
				verb = after[:1]
			}
			switch {
			case verb == "%":
				b.WriteString("%")
			case len(values) > 0 && verb != "" && strings.Contains("sdifoOjx", verb):
				b.WriteString(placed(verb, values[0]))
				values = values[1:]
			default:
				b.WriteString("%" + verb)
			}
			format = after[len(verb):]
		}
		parts = append(parts, b.String())
	}
	for _, v := range values {
		parts = append(parts, plain(v))
	}
	return strings.Join(parts, " ")
}

// placed writes a value for a place: forge-std knows %x too.
func placed(verb string, v any) string {
	n, number := v.(*big.Int)
	_, text := v.(string)
	_, truth := v.(bool)
	switch {
	case verb == "x" && number:
		return hexutil.EncodeBig(n)
	case strings.Contains("dif", verb) && (text || truth):
		return "NaN"
	case verb == "j" && text:
		return strconv.Quote(plain(v))
	case strings.Contains("oO", verb) && text:
		return "'" + plain(v) + "'"
	}
	return plain(v)
}

func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case common.Address:
		return v.Hex()
	}
	return artifacts.Text(v)
}
