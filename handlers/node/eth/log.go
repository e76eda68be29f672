package eth

import (
	"context"
	"encoding/json"
)

// logAPI has the eth method that searches the chain for logs: go-ethereum's eth/filters.FilterAPI.GetLogs.
type logAPI struct{ *api }

// GetLogs answers the logs that a client describes.
func (a *logAPI) GetLogs(ctx context.Context, wanted filterCriteria) (json.RawMessage, error) {
	logs, err := wanted.logs(ctx, a.api)
	if err != nil {
		return nil, err
	}
	return logsJSON(logs), nil
}
