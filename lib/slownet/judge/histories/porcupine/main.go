// Checks whether histories of one object are linearizable, by Porcupine. Standard input: a JSON object with the model, a limit in
// seconds and the histories. Standard output: for each history "ok", "illegal" or "unknown" (the limit came first), and for an
// illegal one the operations of the longest part of it that has an order.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// Operation is one of a history. Values are JSON texts, compared as such; End is absent if nobody knows whether it happened.
type Operation struct {
	Client int      `json:"client"`
	Begin  int64    `json:"begin"`
	End    *int64   `json:"end"`
	Op     string   `json:"op"`
	Asked  []string `json:"asked"`
	Result string   `json:"result"`
}

type asked struct {
	Model     string        `json:"model"`
	LimitS    float64       `json:"limit_s"`
	Histories [][]Operation `json:"histories"`
}

type verdict struct {
	Result  string `json:"result"`
	Longest []int  `json:"longest"`
}

// Register: read returns what was written last, "null" at first; cas writes if the value is the one that it names.
func register(state interface{}, input interface{}, output interface{}) (bool, interface{}) {
	op := input.(Operation)
	switch op.Op {
	case "read":
		return op.End == nil || op.Result == state.(string), state
	case "write":
		return true, op.Asked[0]
	default:
		if state.(string) == op.Asked[0] {
			return true, op.Asked[1]
		}
		return op.End == nil, state
	}
}

// List: append adds a value at the end; read returns all of them, in JSON without spaces.
func list(state interface{}, input interface{}, output interface{}) (bool, interface{}) {
	op, now := input.(Operation), state.(string)
	if op.Op == "read" {
		return op.End == nil || op.Result == now, state
	}
	if now == "[]" {
		return true, "[" + op.Asked[0] + "]"
	}
	return true, now[:len(now)-1] + "," + op.Asked[0] + "]"
}

func main() {
	var given asked
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	model := porcupine.Model{Init: func() interface{} { return "null" }, Step: register}
	if given.Model == "list-append" {
		model = porcupine.Model{Init: func() interface{} { return "[]" }, Step: list}
	}
	until := time.Now().Add(time.Duration(given.LimitS * float64(time.Second)))
	verdicts := []verdict{}
	for _, history := range given.Histories {
		operations := []porcupine.Operation{}
		for _, each := range history {
			end := int64(math.MaxInt64)
			if each.End != nil {
				end = *each.End
			}
			one := porcupine.Operation{ClientId: each.Client, Input: each, Call: each.Begin, Output: nil, Return: end}
			operations = append(operations, one)
		}
		left := time.Until(until)
		if left < time.Millisecond {
			left = time.Millisecond
		}
		result, info := porcupine.CheckOperationsVerbose(model, operations, left)
		found := verdict{Result: map[porcupine.CheckResult]string{
			porcupine.Ok: "ok", porcupine.Illegal: "illegal", porcupine.Unknown: "unknown"}[result], Longest: []int{}}
		if result == porcupine.Illegal {
			for _, partition := range info.PartialLinearizations() {
				for _, part := range partition {
					if len(part) > len(found.Longest) {
						found.Longest = part
					}
				}
			}
		}
		verdicts = append(verdicts, found)
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		os.Exit(2)
	}
}
