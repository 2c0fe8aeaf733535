//lint:file-ignore SA5008,U1000 Odd tags and fields that nothing uses are the point of these samples.

package ai

import (
	"encoding/json"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"time"

	"github.com/invopop/jsonschema"
)

type (
	inferBase struct {
		ID   string `json:"id" jsonschema:"description=identifier"`
		Name string `json:"name"`
	}
	inferShadow struct {
		inferBase
		Name int8 `json:"name"`
	}
	inferPointerBase struct {
		*InferOuter
		Own bool `json:"own"`
	}
	InferOuter struct {
		Deep string `json:"deep"`
	}
	inferLevel int
	inferNode  struct {
		Value int8         `json:"value"`
		Next  *inferNode   `json:"next,omitempty" jsonschema:"description=the rest"`
		Kids  []*inferNode `json:"kids,omitempty"`
	}
	inferList     []inferList
	inferListHost struct {
		List inferList `json:"list" jsonschema:"minItems=1,title=A list"`
	}
	inferPair[K comparable, V any] struct {
		Key  K                `json:"key"`
		Rest *inferPair[K, V] `json:"rest,omitempty"`
		Val  V                `json:"val,omitempty"`
	}
	inferSelf     *inferSelf
	inferMarshals struct{ A int }
	inferUnmarsh  struct{ A int }
	inferTime     time.Time
	inferRaw      json.RawMessage

	inferDescribed struct{ X, Y int }
	inferDescPtr   struct{ X int }
	inferExtended  struct {
		A string `json:"a"`
	}
	inferAlias  struct{ hidden int }
	inferBroken struct{ A int }
	inferWithID struct{ A int }
)

func (l inferLevel) MarshalText() ([]byte, error)  { return []byte("high"), nil }
func (l *inferLevel) UnmarshalText([]byte) error   { return nil }
func (inferMarshals) MarshalJSON() ([]byte, error) { return []byte("1"), nil }
func (*inferUnmarsh) UnmarshalJSON([]byte) error   { return nil }

func (inferDescribed) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: "^[0-9]+,[0-9]+$", Description: "x,y"}
}
func (*inferDescPtr) JSONSchema() *jsonschema.Schema { return nil }
func (inferExtended) JSONSchemaExtend(s *jsonschema.Schema) {
	s.Description = "extended"
	a, _ := s.Properties.Get("a")
	a.Pattern = "^x"
}
func (inferAlias) JSONSchemaAlias() any            { return []string{} }
func (inferBroken) JSONSchema() *jsonschema.Schema { panic("broken") }
func (inferWithID) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Version: jsonschema.Version, ID: "https://example.com/it", Ref: "#/$defs/it",
		Definitions: jsonschema.Definitions{"it": {Type: "integer"}},
	}
}

// inferSamples are types by a name for what is special about them.
func inferSamples() map[string]reflect.Type {
	return map[string]reflect.Type{
		"empty struct": reflect.TypeFor[struct{}](),
		"any":          reflect.TypeFor[any](),
		"no type":      nil,
		"raw":          reflect.TypeFor[json.RawMessage](),
		"number":       reflect.TypeFor[json.Number](),
		"string":       reflect.TypeFor[string](),
		"bool":         reflect.TypeFor[bool](),
		"int8":         reflect.TypeFor[int8](),
		"int64":        reflect.TypeFor[int64](),
		"uint64":       reflect.TypeFor[uint64](),
		"float32":      reflect.TypeFor[float32](),
		"duration":     reflect.TypeFor[time.Duration](),
		"time":         reflect.TypeFor[time.Time](),
		"type of time": reflect.TypeFor[inferTime](),
		"pointer":      reflect.TypeFor[*bool](),
		"slice":        reflect.TypeFor[[]string](),
		"array":        reflect.TypeFor[[2]uint8](),
		"bytes":        reflect.TypeFor[[]byte](),
		"type of raw":  reflect.TypeFor[inferRaw](),
		"map":          reflect.TypeFor[map[string]any](),
		"integer keys": reflect.TypeFor[struct {
			M map[int16]bool `json:"m,omitempty"`
		}](),
		"text keys": reflect.TypeFor[struct {
			M map[inferLevel]bool `json:"m,omitzero"`
		}](),
		"text":                reflect.TypeFor[inferLevel](),
		"IP":                  reflect.TypeFor[net.IP](),
		"address":             reflect.TypeFor[netip.Addr](),
		"own JSON, one way":   reflect.TypeFor[inferMarshals](),
		"own JSON, other way": reflect.TypeFor[inferUnmarsh](),
		"tags of json": reflect.TypeFor[struct {
			A string  `json:"-"`
			B string  `json:"-,"`
			C int     `json:"c,string"`
			D bool    `json:",omitempty,string"`
			E string  `json:"bad\"name"`
			F *uint8  `json:"f,string"`
			G float64 `json:"g,omitempty,string"`
			h int
		}](),
		"required": reflect.TypeFor[struct {
			A string  `json:"a"`
			B string  `json:"b,omitempty"`
			C string  `json:"c,omitzero"`
			D *string `json:"d"`
			E *string `json:"e,omitempty" jsonschema:"required"`
			F []bool  `json:"f"`
		}](),
		"embedded":         reflect.TypeFor[inferShadow](),
		"embedded pointer": reflect.TypeFor[inferPointerBase](),
		"URL":              reflect.TypeFor[struct{ U *url.Error }](),
		"recursive":        reflect.TypeFor[inferNode](),
		"recursive list":   reflect.TypeFor[inferListHost](),
		"described": reflect.TypeFor[struct {
			A inferDescribed  `json:"a"`
			B *inferDescribed `json:"b,omitempty" jsonschema:"description=or none,maxLength=9"`
			C inferDescPtr    `json:"c"`
		}](),
		"extended":                   reflect.TypeFor[inferExtended](),
		"alias":                      reflect.TypeFor[inferAlias](),
		"described with definitions": reflect.TypeFor[struct{ A, B inferWithID }](),
	}
}
