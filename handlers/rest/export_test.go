package rest

import (
	"fmt"

	"snowglobe/handlers/rest/schema"
)

// ValidateAnswer checks the body of a success against an operation's response type.
func (s *Server) ValidateAnswer(id string, d schema.Dialect, body []byte) error {
	op := s.routes.byID[id]
	if op == nil || op.Answer == nil {
		return fmt.Errorf("operation %q has no JSON response", id)
	}
	return s.compare(d, op.Answer, body)
}
