package cache

import (
	"reflect"
	"sync"
)

// Memory that the runtime takes in addition to the values themselves.
const (
	mapSlot  = 48 // of a map with a key of middling length, which is never full
	boxBytes = 16 // lost to the allocator's size classes, per allocation
)

// sizer counts the bytes that a value refers to, without its own; nil for types that refer to nothing. It counts shared memory once per value.
type sizer func(reflect.Value) int

// beyond returns the bytes that a value refers to.
func (s sizer) beyond(value any) int {
	if s == nil {
		return 0
	}
	return s(reflect.ValueOf(value))
}

var known sync.Map // sizers by type

// sizerOf inspects a type once, so that counting its values needs no reflection on types.
func sizerOf(t reflect.Type) sizer {
	s, found := known.Load(t)
	if !found {
		s, _ = known.LoadOrStore(t, sizers{}.of(t))
	}
	return s.(sizer)
}

// sizers holds the sizers under construction: a type may refer to itself.
type sizers map[reflect.Type]*sizer

func (s sizers) of(t reflect.Type) sizer {
	if known := s[t]; known != nil {
		return func(v reflect.Value) int { return (*known).beyondValue(v) }
	}
	var own sizer
	s[t] = &own
	defer delete(s, t)
	switch t.Kind() {
	case reflect.String:
		own = func(v reflect.Value) int { return allocated(v.Len()) }
	case reflect.Slice:
		own = s.slice(t.Elem())
	case reflect.Pointer:
		own = s.pointer(t.Elem())
	case reflect.Map:
		own = s.ofMap(t)
	case reflect.Struct:
		own = s.structure(t)
	case reflect.Array:
		own = s.array(t)
	case reflect.Interface:
		own = func(v reflect.Value) int {
			if v.IsNil() {
				return 0
			}
			return allocated(int(v.Elem().Type().Size())) + sizerOf(v.Elem().Type()).beyondValue(v.Elem())
		}
	}
	return own
}

func (s sizer) beyondValue(v reflect.Value) int {
	if s == nil {
		return 0
	}
	return s(v)
}

func allocated(size int) int {
	if size == 0 {
		return 0
	}
	return size + boxBytes
}

func (s sizers) slice(elem reflect.Type) sizer {
	each, size := s.of(elem), int(elem.Size())
	return func(v reflect.Value) int {
		sum := allocated(v.Cap() * size)
		if each != nil {
			for i := range v.Len() {
				sum += each(v.Index(i))
			}
		}
		return sum
	}
}

func (s sizers) array(t reflect.Type) sizer {
	each := s.of(t.Elem())
	if each == nil {
		return nil
	}
	return func(v reflect.Value) (sum int) {
		for i := range v.Len() {
			sum += each(v.Index(i))
		}
		return sum
	}
}

func (s sizers) pointer(elem reflect.Type) sizer {
	target, size := s.of(elem), int(elem.Size())
	return func(v reflect.Value) int {
		if v.IsNil() {
			return 0
		}
		return allocated(size) + target.beyondValue(v.Elem())
	}
}

func (s sizers) ofMap(t reflect.Type) sizer {
	keys, values := s.of(t.Key()), s.of(t.Elem())
	slot := int(t.Key().Size()+t.Elem().Size()) + mapSlot
	return func(v reflect.Value) int {
		sum := v.Len() * slot
		if keys != nil || values != nil {
			for each := v.MapRange(); each.Next(); {
				sum += keys.beyondValue(each.Key()) + values.beyondValue(each.Value())
			}
		}
		return sum
	}
}

func (s sizers) structure(t reflect.Type) sizer {
	type field struct {
		index int
		sizer
	}
	var fields []field
	for i := range t.NumField() {
		if f := s.of(t.Field(i).Type); f != nil {
			fields = append(fields, field{i, f})
		}
	}
	if fields == nil {
		return nil
	}
	return func(v reflect.Value) (sum int) {
		for _, f := range fields {
			sum += f.sizer(v.Field(f.index))
		}
		return sum
	}
}
