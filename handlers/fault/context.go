package fault

import "context"

type (
	planKey   struct{}
	actionKey struct{}
)

// WithPlan attaches a plan of faults to a request's context.
func WithPlan(ctx context.Context, p *Plan) context.Context {
	return context.WithValue(ctx, planKey{}, p)
}

// Failing returns the request's calls that get a different answer, by position.
func Failing(ctx context.Context) map[int]*Action {
	if p, ok := ctx.Value(planKey{}).(*Plan); ok {
		return p.Calls
	}
	return nil
}

// WithAction attaches an action to the context of a call whose method carries it out.
func WithAction(ctx context.Context, a *Action) context.Context {
	return context.WithValue(ctx, actionKey{}, a)
}

// MiningOf returns how long a sent transaction has to wait, in the terms of [Action.Wait]; late is false if it need not wait.
func MiningOf(ctx context.Context) (wait int64, late bool) {
	a, ok := ctx.Value(actionKey{}).(*Action)
	if !ok || a.Mining == "" {
		return 0, false
	}
	return a.Wait(), true
}
