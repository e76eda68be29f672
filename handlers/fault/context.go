package fault

import "context"

type (
	planKey   struct{}
	actionKey struct{}
)

// WithPlan is a context for a request to which something is to happen.
func WithPlan(ctx context.Context, p *Plan) context.Context {
	return context.WithValue(ctx, planKey{}, p)
}

// Failing are the calls of a request that are answered in another way, by their place.
func Failing(ctx context.Context) map[int]*Action {
	if p, ok := ctx.Value(planKey{}).(*Plan); ok {
		return p.Calls
	}
	return nil
}

// WithAction is a context for a call whose method does what an action says.
func WithAction(ctx context.Context, a *Action) context.Context {
	return context.WithValue(ctx, actionKey{}, a)
}

// MiningOf is for how long a transaction that is sent has to wait, as [Action.Wait] says it; late is false for one that need not.
func MiningOf(ctx context.Context) (wait int64, late bool) {
	a, ok := ctx.Value(actionKey{}).(*Action)
	if !ok || a.Mining == "" {
		return 0, false
	}
	return a.Wait(), true
}
