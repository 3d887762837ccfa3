// Program floor-codec does what program codec does with lines and gjson alone:
// the floor that its size is measured against.
package main

import (
	"bufio"
	"os"
	"strings"

	"github.com/tidwall/gjson"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			os.Stdout.WriteString(gjson.Get(data, "delta.text").String())
		}
	}
	if err := lines.Err(); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
