package argtext_test

import (
	"fmt"

	"github.com/holdpoint/ai/internal/argtext"
)

func ExampleParse() {
	for _, text := range []string{`{"a":1}`, "```json\n{\"a\":1}\n```", `{"a":1,}`, `{"a":`} {
		res, err := argtext.Parse(text, nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s %q\n", res.Object, res.Rule)
	}
	res, _ := argtext.Parse(`{"a":1,}`, &argtext.Options{Probable: true})
	fmt.Printf("%s %q\n", res.Object, res.Rule)
	// Output:
	// {"a":1} ""
	// {"a":1} "fence"
	// ai: arguments are not a JSON object: unexpected '}', expected a key in quotes (at byte 8)
	// ai: arguments are not a JSON object: the text is cut off: expected a JSON value (at byte 6)
	// {"a":1} "trailing-comma"
}
