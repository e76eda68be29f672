-- The P-, X- and C-Chain of each network as chains of UTXOs. A position here is the same integer as on EVM chains, with
-- primary chains numbered in a space of their own: 3 × (index of the network) + 1 for P, + 2 for X, + 3 for C. A UTXO's
-- number is chain << 52 | height << 24 | its index among all that the block made; the chain is the one that made it.

CREATE TABLE primary_network (
    id       INTEGER PRIMARY KEY,  -- the network's number, 1 or 5
    platform BLOB    NOT NULL,     -- P-chain genesis, the network's own encoding
    exchange BLOB    NOT NULL      -- X-chain genesis
);

-- Blocks of P and X; those of C are EVM blocks.
CREATE TABLE primary_block (
    id           INTEGER PRIMARY KEY,  -- position, index 0
    hash         BLOB    NOT NULL,     -- SHA-256 of the bytes
    parent       BLOB    NOT NULL,
    time         INTEGER NOT NULL,     -- Unix seconds
    type         TEXT    NOT NULL,     -- Genesis, Standard, Proposal, Commit or Abort
    txs          INTEGER NOT NULL,     -- number of transactions
    all_txs      INTEGER NOT NULL,     -- transactions of the chain up to and with this block
    size         INTEGER NOT NULL,     -- of the bytes
    head         BLOB    NOT NULL,     -- the bytes before the first transaction; transactions follow without their version
    outer_id     BLOB CHECK (length(outer_id) = 32),     -- of the ProposerVM block around it, absent for a genesis
    outer_parent BLOB CHECK (length(outer_parent) = 32),
    proposer     BLOB CHECK (length(proposer) = 20),     -- node id, absent for options and a genesis
    p_height     INTEGER NOT NULL,     -- height of the P-chain that the proposer saw
    epoch        INTEGER NOT NULL,     -- number of the P-chain epoch
    epoch_height INTEGER NOT NULL,     -- P-chain height that holds for the epoch
    epoch_start  INTEGER NOT NULL,     -- Unix seconds
    supply       INTEGER NOT NULL,     -- P-chain: nAVAX, potential rewards included; from here on 0 on X
    accrued      INTEGER NOT NULL,     -- P-chain: nAVAX that an always active L1 validator would have paid
    l1_excess    INTEGER NOT NULL,     -- P-chain: excess of the continuous fee
    l1_active    INTEGER NOT NULL,     -- P-chain: number of active L1 validators
    gas_capacity INTEGER NOT NULL,     -- P-chain: gas that the next block may use at once
    gas_excess   INTEGER NOT NULL,     -- P-chain: excess of the dynamic fee
    digest       BLOB    NOT NULL      -- SHA-256 over the parent's digest and this row
);

-- Transactions of P and X, and the atomic ones of C. Those at height 0 are the genesis's.
CREATE TABLE primary_tx (
    id     INTEGER PRIMARY KEY,  -- position
    hash   BLOB    NOT NULL,     -- SHA-256 of the bytes
    type   TEXT    NOT NULL,     -- the network's name of the type, such as ExportTx
    burned INTEGER NOT NULL,     -- nAVAX
    bytes  BLOB    NOT NULL      -- the signed transaction
);

CREATE TABLE utxo (
    id      INTEGER PRIMARY KEY,
    mark    INTEGER NOT NULL,  -- first 8 bytes of the input id, which is the SHA-256 of output and tx
    tx      BLOB    NOT NULL,  -- id of the transaction
    output  INTEGER NOT NULL,
    chain   INTEGER NOT NULL,  -- where it can be spent; another than made it when it was exported
    asset   BLOB    NOT NULL,
    amount  INTEGER NOT NULL,  -- 0 for what is not an amount; a 64-bit pattern
    out     BLOB    NOT NULL,  -- the output with its type id
    reward  INTEGER NOT NULL,  -- 1 when it pays a reward
    spent   INTEGER            -- position of the transaction that spent it
);

CREATE TABLE utxo_owner (
    address BLOB    NOT NULL,
    chain   INTEGER NOT NULL,
    utxo    INTEGER NOT NULL,
    live    INTEGER NOT NULL,  -- 1 until it is spent
    PRIMARY KEY (address, chain, utxo)
) WITHOUT ROWID;

-- Which transactions touched an address, as owner of what they spent, made, staked or reward, which an account of the
-- C-chain, which an asset of the X-chain, and which an L1 validation.
CREATE TABLE primary_activity (
    subject BLOB    NOT NULL,  -- an address or account, or the id of an asset or a validation
    tx      INTEGER NOT NULL,  -- position
    PRIMARY KEY (subject, tx)
) WITHOUT ROWID;

CREATE TABLE asset (
    id           INTEGER PRIMARY KEY,  -- position of the transaction that made it, AVAX at height 0
    hash         BLOB    NOT NULL,
    name         TEXT    NOT NULL,
    symbol       TEXT    NOT NULL,
    denomination INTEGER NOT NULL,
    fxs          BLOB    NOT NULL      -- indices of the feature extensions, one byte each
);

-- Validators and delegators of the primary network, validators of permissioned subnets.
CREATE TABLE staker (
    id        INTEGER PRIMARY KEY,  -- position of the transaction
    tx        BLOB    NOT NULL,
    node      BLOB    NOT NULL,
    subnet    BLOB    NOT NULL,     -- zero for the primary network
    delegator INTEGER NOT NULL,
    weight    INTEGER NOT NULL,
    start     INTEGER NOT NULL,
    until     INTEGER NOT NULL,     -- Unix seconds, as start
    shares    INTEGER NOT NULL,     -- delegation fee, of a million
    reward    INTEGER NOT NULL,     -- potential reward, nAVAX
    delegatee INTEGER NOT NULL,     -- fees from delegations that ended, not paid yet or paid at the end
    bls       BLOB CHECK (length(bls) = 48),
    proof     BLOB CHECK (length(proof) = 96),
    owner     BLOB CHECK (length(owner) > 0),      -- of the rewards
    fee_owner BLOB CHECK (length(fee_owner) > 0),  -- of a validator's delegation fees
    status    INTEGER NOT NULL,     -- 0 pending, 1 active, 2 completed, 3 removed
    began     INTEGER,              -- height of the P-chain at which it became active
    ended     INTEGER,              -- height at which it was rewarded, refused a reward, or removed
    rewarded  INTEGER NOT NULL,     -- 1 when the reward was paid
    reward_tx BLOB CHECK (length(reward_tx) = 32)  -- the RewardValidatorTx
);

CREATE TABLE staker_owner (
    address BLOB    NOT NULL,
    staker  INTEGER NOT NULL,
    PRIMARY KEY (address, staker)
) WITHOUT ROWID;

CREATE TABLE l1_validator (
    id                 INTEGER PRIMARY KEY,  -- numbered as UTXOs are
    validation         BLOB    NOT NULL,
    subnet             BLOB    NOT NULL,
    node               BLOB    NOT NULL,
    bls                BLOB    NOT NULL,
    balance_owner      BLOB    NOT NULL,
    deactivation_owner BLOB    NOT NULL,
    start              INTEGER NOT NULL,
    tx                 INTEGER NOT NULL      -- position of the conversion or registration
);

-- The states of an L1 validator: one row for each block that changed it.
CREATE TABLE l1_state (
    validator  INTEGER NOT NULL,
    height     INTEGER NOT NULL,
    weight     INTEGER NOT NULL,  -- 0 once it is removed
    nonce      INTEGER NOT NULL,  -- the next weight message's, at least
    paid_until INTEGER NOT NULL,  -- accrued fee of the chain at which the balance is used up, 0 when inactive
    PRIMARY KEY (validator, height)
) WITHOUT ROWID;

CREATE TABLE subnet (
    id   INTEGER PRIMARY KEY,  -- position of the transaction
    hash BLOB    NOT NULL
);

-- Who owned a subnet, or which contract managed it, from a height on.
CREATE TABLE subnet_state (
    subnet          INTEGER NOT NULL,
    height          INTEGER NOT NULL,
    owner           BLOB    NOT NULL,
    conversion      BLOB CHECK (length(conversion) = 32),
    manager_chain   BLOB CHECK (length(manager_chain) = 32),
    manager_address BLOB CHECK (length(manager_address) > 0),
    PRIMARY KEY (subnet, height)
) WITHOUT ROWID;

CREATE TABLE blockchain (
    id     INTEGER PRIMARY KEY,  -- position of the transaction
    hash   BLOB    NOT NULL,
    subnet BLOB    NOT NULL,
    name   TEXT    NOT NULL,
    vm     BLOB    NOT NULL
);

-- Roll-ups of the metrics, by day (Unix seconds of its beginning). A day without a change has no row.

-- Who staked on a subnet at the end of a day.
CREATE TABLE stake (
    subnet           BLOB    NOT NULL,
    chain            INTEGER NOT NULL,
    day              INTEGER NOT NULL,
    validators       INTEGER NOT NULL,
    validator_weight INTEGER NOT NULL,  -- a 64-bit pattern, as is the other weight
    delegators       INTEGER NOT NULL,
    delegator_weight INTEGER NOT NULL,
    PRIMARY KEY (subnet, chain, day)
) WITHOUT ROWID;

-- What L1 validators paid for validating: base + active × accrued fee of the chain, up to the end of a day.
CREATE TABLE fee (
    payer  BLOB    NOT NULL,  -- id of a validation, a node or a subnet, empty for all of the network
    chain  INTEGER NOT NULL,
    day    INTEGER NOT NULL,
    active INTEGER NOT NULL,  -- at the end of the day
    base   INTEGER NOT NULL,  -- a 64-bit pattern
    paying INTEGER NOT NULL,  -- active in a second of the day
    PRIMARY KEY (payer, chain, day)
) WITHOUT ROWID;

-- The accrued fee of a P-chain at the end of a day: a row for each day that is over when a block comes.
CREATE TABLE fee_meter (
    chain   INTEGER NOT NULL,
    day     INTEGER NOT NULL,
    accrued INTEGER NOT NULL,
    PRIMARY KEY (chain, day)
) WITHOUT ROWID;

-- The nodes of validators.
CREATE TABLE node (
    network     INTEGER NOT NULL,
    node        BLOB    NOT NULL,  -- RIPEMD-160 of SHA-256 of the certificate
    role        TEXT    NOT NULL,  -- the situation that it is there for, empty for most
    certificate BLOB    NOT NULL,
    secret      BLOB    NOT NULL,  -- BLS secret key
    version     TEXT    NOT NULL,
    ip          TEXT    NOT NULL,  -- with port
    uptime      INTEGER NOT NULL,  -- of a million
    connected   INTEGER NOT NULL,
    city        TEXT    NOT NULL,
    country     TEXT    NOT NULL,
    code        TEXT    NOT NULL,  -- ISO 3166
    latitude    INTEGER NOT NULL,  -- millionths of a degree
    longitude   INTEGER NOT NULL,
    PRIMARY KEY (network, node)
) WITHOUT ROWID;
