package web_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestExamplesFitTheirSchemas compares every example of the OpenAPI document, of parameters, bodies and responses, with its schema, using an
// implementation of JSON Schema that is independent of the server's.
func TestExamplesFitTheirSchemas(t *testing.T) {
	for _, prefix := range []string{"", "/upstream"} {
		var doc map[string]any
		if err := json.Unmarshal(open(t).get(t, prefix+"/openapi.json").Body.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		parameters, bodies := 0, 0
		for path, calls := range doc["paths"].(map[string]any) {
			for method, call := range calls.(map[string]any) {
				call := call.(map[string]any)
				list, _ := call["parameters"].([]any)
				for _, p := range list {
					p := p.(map[string]any)
					if example, ok := p["example"]; ok {
						parameters++
						for _, problem := range misfits(doc, p["schema"], example, p["name"].(string)) {
							t.Errorf("%s%s %s: %s", prefix, method, path, problem)
						}
					}
				}
				media := map[string]any{"request": call["requestBody"]}
				maps.Copy(media, call["responses"].(map[string]any))
				for name, body := range media {
					body, _ := body.(map[string]any)
					content, _ := body["content"].(map[string]any)
					for _, media := range content {
						media := media.(map[string]any)
						examples, _ := media["examples"].(map[string]any)
						for _, example := range examples {
							bodies++
							for _, problem := range misfits(doc, media["schema"], example.(map[string]any)["value"], name) {
								t.Errorf("%s%s %s: %s", prefix, method, path, problem)
							}
						}
					}
				}
			}
		}
		if text, _ := json.Marshal(doc); len(text) > 640<<10 {
			t.Errorf("%s/openapi.json has %d bytes", prefix, len(text))
		}
		if parameters < 150 || bodies < 90 {
			t.Errorf("%s/openapi.json has %d examples of parameters and %d of bodies", prefix, parameters, bodies)
		}
	}
}

// misfits returns the reasons why a decoded value does not fit a schema of the document. An unknown keyword is also one.
func misfits(doc map[string]any, of, v any, at string) (problems []string) {
	s := of.(map[string]any)
	wrong := func(format string, args ...any) { problems = append(problems, at+": "+fmt.Sprintf(format, args...)) }
	members, _ := v.(map[string]any)
	items, _ := v.([]any)
	text, isText := v.(string)
	number, isNumber := v.(float64)
	for keyword, rule := range s {
		switch keyword {
		case "$ref":
			name := strings.TrimPrefix(rule.(string), "#/components/schemas/")
			problems = append(problems, misfits(doc, doc["components"].(map[string]any)["schemas"].(map[string]any)[name], v, at)...)
		case "type":
			if !isOfType(rule.(string), v) {
				wrong("%v is no %s", v, rule)
			}
		case "pattern":
			if isText && !regexp.MustCompile(rule.(string)).MatchString(text) {
				wrong("%s does not match %s", text, rule)
			}
		case "enum":
			if !slices.Contains(rule.([]any), v) {
				wrong("%v is none of %v", v, rule)
			}
		case "minimum":
			if isNumber && number < rule.(float64) {
				wrong("%v is below %v", v, rule)
			}
		case "maximum":
			if isNumber && number > rule.(float64) {
				wrong("%v is above %v", v, rule)
			}
		case "maxItems":
			if len(items) > int(rule.(float64)) {
				wrong("%d items are more than %v", len(items), rule)
			}
		case "items":
			for i, item := range items {
				problems = append(problems, misfits(doc, rule, item, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "required":
			for _, name := range rule.([]any) {
				if _, ok := members[name.(string)]; members != nil && !ok {
					wrong("%v is missing", name)
				}
			}
		case "properties":
			for name, property := range rule.(map[string]any) {
				if member, ok := members[name]; ok {
					problems = append(problems, misfits(doc, property, member, at+"."+name)...)
				}
			}
		case "additionalProperties":
			properties, _ := s["properties"].(map[string]any)
			for name, member := range members {
				if _, ok := properties[name]; !ok {
					problems = append(problems, misfits(doc, rule, member, at+"."+name)...)
				}
			}
		case "anyOf":
			if !slices.ContainsFunc(rule.([]any), func(s any) bool { return len(misfits(doc, s, v, at)) == 0 }) {
				wrong("%.100v fits none of the alternatives", v)
			}
		case "description", "format", "deprecated", "default":
		default:
			wrong("keyword %s is unknown", keyword)
		}
	}
	return problems
}

func isOfType(kind string, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return kind == "object"
	case []any:
		return kind == "array"
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	}
	return kind == "null" && v == nil
}
