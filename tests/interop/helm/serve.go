package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// One question. What Text is depends on Kind: an expression, a values file, a pattern.
type request struct {
	Kind string
	Text string
	// The partials and the values of an expression.
	Partials, Values string
	// The texts that a pattern is matched with.
	Subjects []string
}

// The answer: a text, or an error.
type answer struct {
	Text  *string `json:"text,omitempty"`
	Error string  `json:"error,omitempty"`
}

// One request may take this much; the process ends where one takes more, and its last line is missing.
const (
	mostTime   = 5 * time.Second
	mostMemory = 2 << 30
	mostStack  = 256 << 20
)

// When the current request began, in nanoseconds; zero between requests.
var began atomic.Int64

// Each line is a list of requests, and is answered by a line with as many answers.
func serve(in io.Reader, out io.Writer) error {
	debug.SetMaxStack(mostStack)
	go watch()
	requests := json.NewDecoder(bufio.NewReader(in))
	answers := json.NewEncoder(out)
	for {
		var batch []request
		if err := requests.Decode(&batch); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		list := make([]answer, 0, len(batch))
		for _, request := range batch {
			list = append(list, request.answer())
		}
		if err := answers.Encode(list); err != nil {
			return err
		}
	}
}

// Ends the process where a request takes too much time or memory.
func watch() {
	for range time.Tick(50 * time.Millisecond) {
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		start := began.Load()
		isLate := start != 0 && time.Since(time.Unix(0, start)) > mostTime
		if isLate || memory.HeapInuse > mostMemory {
			os.Exit(3)
		}
	}
}

func (request request) answer() (result answer) {
	began.Store(time.Now().UnixNano())
	defer began.Store(0)
	defer func() {
		if panicked := recover(); panicked != nil {
			result = answer{Error: fmt.Sprint("panic: ", panicked)}
		}
	}()
	var text string
	var err error
	switch request.Kind {
	case "expression":
		text, err = evaluate(request.Partials, request.Values, request.Text)
	case "values":
		text, err = asJSON(readValues([]byte(request.Text)))
	case "regexp":
		text, err = asJSON(matches(request.Text, request.Subjects))
	default:
		err = fmt.Errorf("no such kind: %q", request.Kind)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	if !utf8.ValidString(text) {
		text = fmt.Sprintf("not UTF-8: %q", text)
	}
	return answer{Text: &text}
}

func asJSON(value any, err error) (string, error) {
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// What the functions of Sprig that take a pattern find in one text.
type found struct {
	First    string
	All      []string
	Two      []string
	Groups   string
	Replaced string
	Split    []string
	SplitTwo []string
}

func matches(pattern string, subjects []string) ([]*found, error) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var list []*found
	for _, text := range subjects {
		if !compiled.MatchString(text) {
			list = append(list, nil)
			continue
		}
		list = append(list, &found{
			First:    compiled.FindString(text),
			All:      compiled.FindAllString(text, -1),
			Two:      compiled.FindAllString(text, 2),
			Groups:   compiled.ReplaceAllString(text, "<$0|$1|$2|${n}|$$>"),
			Replaced: compiled.ReplaceAllLiteralString(text, "$1"),
			Split:    compiled.Split(text, -1),
			SplitTwo: compiled.Split(text, 2),
		})
	}
	return list, nil
}
