// Program floor-stream does what program stream does with net/http, lines and
// gjson alone: the floor that its size is measured against.
package main

import (
	"bufio"
	"net/http"
	"os"
	"strings"

	"github.com/tidwall/gjson"
)

func main() {
	body := `{"model":"claude-sonnet-5-5","max_tokens":1024,"stream":true,"messages":[{"role":"user","content":"Say hello."}]}`
	req, err := http.NewRequest(http.MethodPost, os.Getenv("BASE_URL")+"/v1/messages", strings.NewReader(body))
	if err != nil {
		fatal(err.Error())
	}
	req.Header.Set("content-type", "application/json")
	req.Header.Set("x-api-key", os.Getenv("API_KEY"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fatal(err.Error())
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		fatal(resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			os.Stdout.WriteString(gjson.Get(data, "delta.text").String())
		}
	}
	if err := lines.Err(); err != nil {
		fatal(err.Error())
	}
}

func fatal(s string) {
	os.Stderr.WriteString(s + "\n")
	os.Exit(1)
}
