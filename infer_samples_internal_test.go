//lint:file-ignore SA5008,U1000 Odd tags and fields that nothing uses are the point of these samples.

package ai

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"time"
)

type (
	agreeScalars struct {
		B    bool
		S    string
		I    int
		I8   int8
		I16  int16
		I32  int32
		I64  int64
		U    uint
		U8   uint8
		U16  uint16
		U32  uint32
		U64  uint64
		UP   uintptr
		F32  float32
		F64  float64
		Dur  time.Duration
		Num  json.Number
		When time.Time
	}
	agreeQuoted struct {
		B   bool        `json:",string"`
		S   string      `json:",string"`
		I   int         `json:",string"`
		I8  int8        `json:"i8,string"`
		U64 uint64      `json:"u64,string"`
		F32 float32     `json:"f32,string"`
		F64 float64     `json:"f64,omitempty,string"`
		N   json.Number `json:"n,omitempty,string"`
		P   *int64      `json:"p,string"`
		L   []int       `json:"l,string"`
	}
	agreeQuotedText struct {
		D agreeLevel `json:"d,string"`
	}
	agreeOptional struct {
		A *int             `json:"a"`
		B *string          `json:"b,omitempty"`
		C []int            `json:"c,omitempty"`
		D []int            `json:"d,omitzero"`
		E map[string]int   `json:"e,omitempty"`
		F *[]int           `json:"f,omitempty"`
		G **int            `json:"g"`
		H time.Time        `json:"h,omitzero"`
		I *agreeOptional   `json:"i,omitempty"`
		J []*agreeOptional `json:"j"`
		K agreeIsZero      `json:"k,omitzero"`
		L *agreeIsZero     `json:"l,omitzero"`
		M struct{}         `json:"m,omitempty"`
		N [2]int           `json:"n,omitzero"`
	}
	agreeIsZero []int // whose IsZero keeps nil in

	agreeLevel int // a text in JSON

	agreeInner  struct{ A, B int }
	agreeShadow struct {
		agreeInner
		B string `json:"A"`
		C int    `json:"-"`
		D int    `json:"-,"`
		e int
	}
	AgreeBase     struct{ ID, Name string }
	agreeEmbedPtr struct {
		*AgreeBase
		Name int
	}
	agreeTwins struct {
		AgreeBase
		agreeOther
	}
	agreeOther struct{ Name, Title string }
	agreeNamed struct {
		AgreeBase `json:"base"`
	}
	AgreeSlice  []string
	agreeEmbedL struct {
		AgreeSlice
		*AgreeBase `json:",omitempty"`
	}
	AgreeSelf struct {
		*AgreeSelf
		X int
	}

	agreeTree struct {
		Value int          `json:"value"`
		Kids  []agreeTree  `json:"kids"`
		Left  *agreeTree   `json:"left"`
		ByKey agreeTreeMap `json:"byKey"`
	}
	agreeTreeMap     map[string]*agreeTree
	agreeNest        []agreeNest
	agreeNestMap     map[int16]agreeNestMap
	agreePage[T any] struct {
		Items []T
		Next  *agreePage[T]
	}

	agreeMaps struct {
		A map[string]any
		B map[int]string
		C map[uint8][]byte
		D map[agreeLevel]bool
		E map[netip.Addr]int
		F map[string]map[int8]*int
	}
	agreeText  struct{ v string } // text by value
	agreePtrM  struct{ A int }    // JSON of its own by pointer
	agreePtrT  struct{ A int }    // text of its own by pointer
	agreeKnown struct {
		Raw  json.RawMessage
		Any  any
		IP   net.IP
		Addr netip.Addr
		URL  url.URL
		Mask net.IPMask
		Loc  *time.Time
	}
	agreeBig struct {
		A *big.Int
		B big.Int
	}
	agreeCoded struct {
		T  agreeText
		TP *agreeText
		P  agreePtrM
		PP *agreePtrM
		Q  agreePtrT
		QP *agreePtrT
		L  []agreePtrT
		M  agreeTextMap
	}
	agreeTextMap map[string]int // text by value, nil included
	agreeBytes   struct {
		A []byte
		B [3]byte
		C []agreeByte
		D [][]byte
		E [0]int
		F [2]*[]int
	}
	agreeByte uint8
)

func (agreeIsZero) IsZero() bool                    { return false }
func (l agreeLevel) MarshalText() ([]byte, error)   { return fmt.Appendf(nil, "L%d", int(l)), nil }
func (l *agreeLevel) UnmarshalText(b []byte) error  { *l = agreeLevel(len(b)); return nil }
func (t agreeText) MarshalText() ([]byte, error)    { return []byte(t.v), nil }
func (t *agreeText) UnmarshalText(b []byte) error   { t.v = string(b); return nil }
func (p *agreePtrM) MarshalJSON() ([]byte, error)   { return []byte("[1,2]"), nil }
func (p *agreePtrM) UnmarshalJSON([]byte) error     { return nil }
func (p *agreePtrT) MarshalText() ([]byte, error)   { return []byte("text"), nil }
func (p *agreePtrT) UnmarshalText([]byte) error     { return nil }
func (m agreeTextMap) MarshalText() ([]byte, error) { return []byte("map"), nil }

// agreeTypes are types in both directions. TestOutputAgrees has more, which
// can't be decoded, or not from every integer that JSON can write (big.Int).
func agreeTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[agreeScalars](), reflect.TypeFor[agreeQuoted](), reflect.TypeFor[agreeQuotedText](), reflect.TypeFor[agreeOptional](),
		reflect.TypeFor[agreeShadow](), reflect.TypeFor[agreeEmbedPtr](), reflect.TypeFor[agreeTwins](),
		reflect.TypeFor[agreeNamed](), reflect.TypeFor[agreeEmbedL](), reflect.TypeFor[AgreeSelf](),
		reflect.TypeFor[agreeTree](), reflect.TypeFor[*agreeTree](), reflect.TypeFor[agreeTreeMap](),
		reflect.TypeFor[agreeNest](), reflect.TypeFor[agreeNestMap](), reflect.TypeFor[agreePage[agreeInner]](),
		reflect.TypeFor[agreeMaps](), reflect.TypeFor[agreeKnown](), reflect.TypeFor[agreeCoded](),
		reflect.TypeFor[agreeBytes](), reflect.TypeFor[struct{}](), reflect.TypeFor[[]string](),
		reflect.TypeFor[[]*int](), reflect.TypeFor[[][]int](), reflect.TypeFor[map[string][]string](),
		reflect.TypeFor[*string](), reflect.TypeFor[***int8](), reflect.TypeFor[int](), reflect.TypeFor[uint64](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[bool](), reflect.TypeFor[string](),
		reflect.TypeFor[any](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[json.Number](),
		reflect.TypeFor[time.Time](), reflect.TypeFor[*time.Time](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[map[int64]uint8](), reflect.TypeFor[struct {
			A struct{ B []struct{ C *int } }
		}](),
		reflect.TypeFor[agreeText](), reflect.TypeFor[agreePtrM](), reflect.TypeFor[[]agreePtrT](),
	}
}
