package txpool

import "errors"

// Errors of coreth's core/txpool and core/txpool/legacypool, in a node's words. Errors about block rules, such as nonce too low, are go-ethereum's own.
var (
	ErrAlreadyKnown         = errors.New("already known")
	ErrInvalidSender        = errors.New("invalid sender")
	ErrUnderpriced          = errors.New("transaction underpriced")
	ErrReplaceUnderpriced   = errors.New("replacement transaction underpriced")
	ErrAccountLimitExceeded = errors.New("account limit exceeded")
	ErrGasLimit             = errors.New("exceeds block gas limit")
	ErrNegativeValue        = errors.New("negative value")
	ErrOversizedData        = errors.New("oversized data")
	ErrPoolFull             = errors.New("txpool is full")
)
