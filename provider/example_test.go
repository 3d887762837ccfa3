package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/handwire/handwire/provider"
	"github.com/handwire/handwire/wire"
)

// The codec here is a small one of the tests; a program takes one of the
// packages below wire, such as wire/anthropic.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"text\":\"Hello\"}\n\ndata: {\"text\":\", world\"}\n\ndata: {\"stop\":true}\n\n")
	}))
	defer server.Close()

	client, err := provider.New(provider.Config{
		Codec:   toy{},
		BaseURL: server.URL,
		APIKey:  "sk-example",
		Auth:    provider.Auth{Header: "x-api-key"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	request := &wire.Request{Model: "m", Messages: []wire.Message{wire.UserText("Greet the world.")}}
	for ev, err := range client.Stream(context.Background(), request) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(ev.Text())
	}
	fmt.Println()
	// Output: Hello, world
}

// Encode shows what would be sent, and needs neither a key nor a network.
func ExampleClient_Encode() {
	client, err := provider.New(provider.Config{Codec: toy{}, BaseURL: "https://api.example.com/v1/"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var call wire.Call
	url, err := client.Encode(&call, &wire.Request{Model: "m", Messages: []wire.Message{wire.UserText("Hi.")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(url)
	fmt.Printf("%s\n", call.Body)
	// Output:
	// https://api.example.com/v1/messages
	// {"model":"m","endpoint":"api.example.com","text":"Hi."}
}
