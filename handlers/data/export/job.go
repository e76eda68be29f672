package export

import (
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"snowglobe/handlers/data"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
)

// Operation describes an export and its state.
type Operation struct {
	OperationID        string         `json:"operationId" format:"uuid"`
	OperationType      string         `json:"operationType" enum:"TRANSACTION_EXPORT_EVM,TRANSACTION_EXPORT_PRIMARY_NETWORK,TRANSACTION_EXPORT_PRIMARY_NETWORK_STAKING,TRANSACTION_EXPORT_PRIMARY_NETWORK_SIMPLE"`
	OperationStatus    string         `json:"operationStatus" enum:"RUNNING,COMPLETED,COMPLETED_WITH_WARNING,FAILED"`
	Message            string         `json:"message" doc:"The state as a sentence."`
	Metadata           ExportMetadata `json:"metadata"`
	CreatedAtTimestamp int64          `json:"createdAtTimestamp" doc:"Unix seconds of the world's clock."`
	UpdatedAtTimestamp int64          `json:"updatedAtTimestamp" doc:"Unix seconds of the world's clock."`
}

// ExportMetadata reports the progress and result of an export.
type ExportMetadata struct {
	Code        string `json:"code,omitempty" enum:"ErrInvalidRequest,ErrInternal,WarnTruncatedExport"`
	DownloadURL string `json:"downloadUrl,omitempty" format:"url" doc:"URL of the file, once it is complete."`
	NextDate    string `json:"nextDate,omitempty" doc:"YYYY-MM-DD. If the export was truncated, the firstDate for the next one."`
	RowCount    int64  `json:"rowCount" min:"0" doc:"Rows of the file so far."`
	ByteCount   int64  `json:"byteCount" min:"0" doc:"Bytes of the file so far."`
	ReachedDate string `json:"reachedDate,omitempty" doc:"YYYY-MM-DD. The day of the last row so far."`
}

// operationList is the response of GET /sim/exports.
type operationList struct {
	Operations    []*Operation `json:"operations"`
	NextPageToken string       `json:"nextPageToken,omitempty"`
}

const csvType = "text/csv; charset=utf-8; header=present"

var operationParam = rest.Param{Name: "operationId", Kind: schema.KindUUID, Doc: "The operationId from the response that started the export."}

func (a *exportAPI) operationOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "startTransactionExport", Method: "POST", Path: "/v1/operations/transactions:export", Summary: "Start an export of transactions", Spec: "Operations",
			Doc: exportDoc(), Body: reflect.TypeFor[exportBody](), Answer: reflect.TypeFor[Operation](), Status: 200, UpstreamStatus: 201,
			Class: permit.Control, Networks: a.exportNetworks, Handle: a.startExport},
		{ID: "getOperation", Path: "/v1/operations/{operationId}", Summary: "Get the state of an export", Spec: "Operations",
			Params: data.JoinParams(operationParam), Answer: reflect.TypeFor[Operation](), Networks: a.operationNetworks, Live: true, Handle: rest.With(a.operation, a.getOperation)},
	}
}

// fileOperations requires the same key as the operations that start exports, where keys are required: export names can be guessed.
func (a *exportAPI) fileOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "listExports", Path: "/sim/exports", Summary: "List the exports of transactions, the newest first", Live: true,
			Params: rest.Paging(10, 100), Class: permit.Control, Answer: reflect.TypeFor[operationList](), Handle: a.listExports},
		{ID: "downloadExport", Path: "/sim/exports/{operationId}/transactions.csv", Summary: "The file of an export",
			Doc:    "Supports gzip, Range and If-None-Match.",
			Params: data.JoinParams(operationParam), Produces: csvType, Networks: a.operationNetworks, Handle: rest.With(a.operation, a.downloadExport)},
	}
}

// exportDoc lists the columns of every export type.
func exportDoc() string {
	var b strings.Builder
	b.WriteString("The response comes at once; the operation says when the file is complete. Rows are sorted by time; dates are days in UTC. " +
		"The file is CSV (RFC 4180) with a header.")
	for _, t := range export.Types {
		fmt.Fprintf(&b, "\n\nColumns of %s:\n", t)
		for _, c := range t.Columns() {
			fmt.Fprintf(&b, "\n- %s: %s", c.Name, c.Doc)
		}
	}
	return b.String()
}

// describeOperation shows an operation to clients.
func (a *exportAPI) describeOperation(r *rest.Request, o *store.Operation) (*Operation, error) {
	scope, err := export.ParseScope(o.Request)
	if err != nil {
		return nil, fmt.Errorf("operation %s: %w", o.Name(), err)
	}
	shown := &Operation{OperationID: o.Name(), OperationType: string(scope.Type), OperationStatus: o.Status, Message: a.progress(o),
		CreatedAtTimestamp: o.Created, UpdatedAtTimestamp: o.Updated,
		Metadata: ExportMetadata{Code: o.Code, RowCount: o.Rows, ByteCount: o.Size, NextDate: date(o.Next), ReachedDate: date(o.Reached)}}
	if o.Complete() {
		shown.Metadata.DownloadURL = r.BaseURL() + "/sim/exports/" + o.Name() + "/transactions.csv"
	}
	return shown, nil
}

// date formats the day of a time, and nothing for none.
func date(unix int64) string {
	if unix == 0 {
		return ""
	}
	return time.Unix(unix, 0).UTC().Format(time.DateOnly)
}

// progress describes an export's progress in words.
func (a *exportAPI) progress(o *store.Operation) string {
	switch before := a.exports.Before(o.ID); {
	case o.Message != "":
		return o.Message
	case o.Status == store.OperationRunning && before == 1:
		return "waits for 1 export before it"
	case o.Status == store.OperationRunning && before > 1:
		return fmt.Sprintf("waits for %d exports before it", before)
	case o.Status == store.OperationRunning && before == 0:
		return "is the next to begin"
	case o.Status == store.OperationRunning && o.Rows > 0:
		return fmt.Sprintf("%d rows so far, up to %s", o.Rows, date(o.Reached))
	case o.Status == store.OperationRunning:
		return "has begun"
	}
	return fmt.Sprintf("%d rows", o.Rows)
}

func (a *exportAPI) operation(r *rest.Request) (*store.Operation, error) {
	name := r.Text("operationId")
	uuid, err := hex.DecodeString(strings.ReplaceAll(name, "-", ""))
	if err != nil {
		return nil, rest.BadRequest(fmt.Sprintf("operationId %q is not a UUID", name))
	}
	o, err := a.exports.Operation(r.Context(), uuid)
	return o, data.OrNotFound(err, rest.NotFound("operation %s does not exist", name))
}

// operationNetworks returns the networks of an operation's chains, or none if there is no such operation.
func (a *exportAPI) operationNetworks(r *rest.Request) []string {
	o, err := a.operation(r)
	if err != nil {
		return nil // the handler reports it
	}
	scope, err := export.ParseScope(o.Request)
	if err != nil {
		return nil // the handler reports it
	}
	return networksOf(&scope)
}

func (a *exportAPI) getOperation(r *rest.Request, o *store.Operation) (any, error) {
	return a.describeOperation(r, o)
}

func (a *exportAPI) listExports(r *rest.Request) (any, error) {
	found, err := a.exports.List(r.Context(), data.Before(r), r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	answer := &operationList{Operations: []*Operation{}}
	found, answer.NextPageToken = data.CutPage(r, found, func(o *store.Operation) []byte { return rest.Position(uint64(o.ID)) })
	for i := range found {
		shown, err := a.describeOperation(r, &found[i])
		if err != nil {
			return nil, err
		}
		answer.Operations = append(answer.Operations, shown)
	}
	return answer, nil
}

func (a *exportAPI) startExport(r *rest.Request) (any, error) {
	scope, problems := a.exportScope(rest.Body[exportBody](r))
	if len(problems) > 0 {
		return nil, rest.BadRequest(problems...)
	}
	o, err := a.exports.Start(r.Context(), scope)
	if errors.Is(err, export.ErrQueue) {
		return nil, rest.TooMany(err.Error(), 1)
	}
	if err != nil {
		return nil, err
	}
	return a.describeOperation(r, o)
}

func (a *exportAPI) downloadExport(r *rest.Request, o *store.Operation) (any, error) {
	if !o.Complete() {
		return nil, rest.NotFound("operation %s has no file: it is %s", o.Name(), o.Status)
	}
	content, err := a.exports.Content(r.Context(), o)
	return rest.File{Type: csvType, Name: "transactions-" + o.Name() + ".csv", Tag: hex.EncodeToString(o.Content[:12]), Content: content}, err
}
