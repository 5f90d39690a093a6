// A shop whose pages are made from the stock that another host keeps.
//
//	shop stock            answers with the number of each article
//	shop web              answers with a page of five articles, asked for one after the other
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

const articles = 5

func stock(answer http.ResponseWriter, request *http.Request) {
	fmt.Fprintf(answer, "%d", len(request.URL.Path))
}

func page(answer http.ResponseWriter, request *http.Request) {
	for article := range articles {
		got, err := http.Get(fmt.Sprintf("http://db:8000/%d", article))
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadGateway)
			return
		}
		number, _ := io.ReadAll(got.Body) // read to its end, or the connection is not used again
		got.Body.Close()
		fmt.Fprintf(answer, "article %d: %s in stock\n", article, number)
	}
}

func main() {
	handler := map[string]http.HandlerFunc{"stock": stock, "web": page}[os.Args[1]]
	log.Fatal(http.ListenAndServe(":8000", handler))
}
