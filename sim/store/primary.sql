-- The P-, X- and C-Chain of each network as chains of UTXOs. A position here is the same integer as on EVM chains, with
-- primary chains numbered in a space of their own: 3 × (index of the network) + 1 for P, + 2 for X, + 3 for C. A UTXO's
-- number is chain << 52 | height << 24 | its index among all that the block made; the chain is the one that made it.

-- No block: generated
CREATE TABLE primary_network (
    id       INTEGER PRIMARY KEY CHECK (id IN (1, 5)),       -- the network's number, 1 or 5
    platform BLOB    NOT NULL CHECK (length(platform) > 1),  -- P-Chain genesis, the network's own encoding, packed
    exchange BLOB    NOT NULL CHECK (length(exchange) > 1),  -- X-Chain genesis
    upgrades TEXT    NOT NULL CHECK (json_valid(upgrades))   -- when upgrades activate, in Unix seconds: {"helicon":1790089200}
) STRICT;

-- Blocks of P and X; C-Chain blocks are EVM blocks.
-- Primary block: id
CREATE TABLE primary_block (
    id           INTEGER PRIMARY KEY CHECK (id >= 0),           -- position, index 0
    hash         BLOB    NOT NULL CHECK (length(hash) = 32),    -- SHA-256 of the bytes
    parent       BLOB    NOT NULL CHECK (length(parent) = 32),
    time         INTEGER NOT NULL CHECK (time >= 0),            -- Unix seconds
    type         TEXT    NOT NULL,
    txs          INTEGER NOT NULL CHECK (txs >= 0),             -- number of transactions
    all_txs      INTEGER NOT NULL CHECK (all_txs >= 0),         -- transactions of the chain up to and with this block
    size         INTEGER NOT NULL CHECK (size > 0),             -- of the bytes
    head         BLOB    NOT NULL CHECK (length(head) > 0),     -- the bytes before the first transaction; transactions follow without their version
    outer_id     BLOB CHECK (length(outer_id) = 32),            -- of the ProposerVM block around it, absent for a genesis
    outer_parent BLOB CHECK (length(outer_parent) = 32),
    proposer     BLOB CHECK (length(proposer) = 20),            -- node id, absent for options and a genesis
    p_height     INTEGER NOT NULL CHECK (p_height >= 0),        -- height of the P-Chain that the proposer saw
    epoch        INTEGER NOT NULL CHECK (epoch >= 0),           -- number of the P-Chain epoch
    epoch_height INTEGER NOT NULL CHECK (epoch_height >= 0),    -- P-Chain height that holds for the epoch
    epoch_start  INTEGER NOT NULL CHECK (epoch_start >= 0),     -- Unix seconds
    supply       INTEGER NOT NULL,                              -- P-Chain: nAVAX, potential rewards included; from here on 0 on X
    accrued      INTEGER NOT NULL,                              -- P-Chain: nAVAX that an always active L1 validator would have paid
    l1_excess    INTEGER NOT NULL CHECK (l1_excess >= 0),       -- P-Chain: excess of the continuous fee
    l1_active    INTEGER NOT NULL CHECK (l1_active >= 0),       -- P-Chain: number of active L1 validators
    gas_capacity INTEGER NOT NULL CHECK (gas_capacity >= 0),    -- P-Chain: gas that the next block may use at once
    gas_excess   INTEGER NOT NULL CHECK (gas_excess >= 0),      -- P-Chain: excess of the dynamic fee
    digest       BLOB    NOT NULL CHECK (length(digest) = 32),  -- SHA-256 over the parent's digest and this row
    CHECK (type IN ('Genesis', 'Standard', 'Proposal', 'Commit', 'Abort'))
) STRICT;

-- Transactions of P and X, and atomic transactions of C. Height 0 has the genesis transactions.
-- Primary block: id
CREATE TABLE primary_tx (
    id     INTEGER PRIMARY KEY CHECK (id >= 0),         -- position
    hash   BLOB    NOT NULL CHECK (length(hash) = 32),  -- SHA-256 of the bytes
    type   TEXT    NOT NULL,                            -- the network's name of the type, such as ExportTx
    burned INTEGER NOT NULL,                            -- nAVAX
    bytes  BLOB    NOT NULL CHECK (length(bytes) > 2)   -- the signed transaction, packed
) STRICT;

-- Primary block: id
CREATE TABLE utxo (
    id      INTEGER PRIMARY KEY CHECK (id >= 0),
    mark    INTEGER NOT NULL,                                -- first 4 bytes of the input id, which is the SHA-256 of output and tx
    tx      BLOB    NOT NULL CHECK (length(tx) = 32),        -- id of the transaction
    output  INTEGER NOT NULL CHECK (output >= 0),
    chain   INTEGER NOT NULL CHECK (chain BETWEEN 1 AND 6),  -- where it can be spent; another than made it when it was exported
    asset   BLOB CHECK (length(asset) = 32),                 -- absent for AVAX
    amount  INTEGER NOT NULL,                                -- 0 for what is not an amount; a 64-bit pattern
    out     BLOB    NOT NULL CHECK (length(out) >= 20),      -- the output with its type id, or the address of a plain one (utxo.go)
    reward  INTEGER NOT NULL CHECK (reward IN (0, 1)),       -- 1 when it pays a reward
    spent   INTEGER CHECK (spent > 0)                        -- position of the transaction that spent it
) STRICT;

-- Primary block: utxo
CREATE TABLE utxo_owner (
    address BLOB    NOT NULL CHECK (length(address) = 20),
    chain   INTEGER NOT NULL CHECK (chain BETWEEN 1 AND 6),
    utxo    INTEGER NOT NULL CHECK (utxo >= 0),
    unspent INTEGER CHECK (unspent >= -1),  -- absent once it is spent; nAVAX that one address can spend at any time, 0 of another asset, -1 for others
    PRIMARY KEY (address, chain, utxo)
) STRICT, WITHOUT ROWID;

-- The transactions that touched an address (as owner of outputs they spent, created, staked or pay as rewards), a C-Chain
-- account, an asset of the X-Chain, or an L1 validation.
-- Primary block: tx
CREATE TABLE primary_activity (
    subject BLOB    NOT NULL CHECK (length(subject) IN (20, 32)),  -- an address or account, or the id of an asset or a validation
    tx      INTEGER NOT NULL CHECK (tx >= 0),                      -- position
    PRIMARY KEY (subject, tx)
) STRICT, WITHOUT ROWID;

-- Primary block: id
CREATE TABLE asset (
    id           INTEGER PRIMARY KEY CHECK (id >= 0),      -- position of the transaction that made it, AVAX at height 0
    hash         BLOB    NOT NULL CHECK (length(hash) = 32),
    name         TEXT    NOT NULL,
    symbol       TEXT    NOT NULL,
    denomination INTEGER NOT NULL CHECK (denomination BETWEEN 0 AND 32),
    fxs          BLOB    NOT NULL CHECK (length(fxs) > 0)  -- indices of the feature extensions, one byte each
) STRICT;

-- Validators and delegators of the primary network, validators of permissioned subnets. Each cycle of an auto-renewed validator has a row.
-- Primary block: id
CREATE TABLE staker (
    id        INTEGER PRIMARY KEY CHECK (id >= 0),                    -- position of the transaction, or of the RewardAutoRenewedValidatorTx that began the cycle
    tx        BLOB    NOT NULL CHECK (length(tx) = 32),
    node      BLOB    NOT NULL CHECK (length(node) = 20),
    subnet    BLOB    NOT NULL CHECK (length(subnet) = 32),           -- zero for the primary network
    delegator INTEGER NOT NULL CHECK (delegator IN (0, 1)),
    weight    INTEGER NOT NULL,
    start     INTEGER NOT NULL CHECK (start >= 0),
    until     INTEGER NOT NULL CHECK (until >= 0),                    -- Unix seconds, as start
    shares    INTEGER NOT NULL CHECK (shares BETWEEN 0 AND 1000000),  -- delegation fee, of a million
    reward    INTEGER NOT NULL,                                       -- potential reward, nAVAX
    delegatee INTEGER NOT NULL,                                       -- fees from delegations that ended, not paid yet or paid at the end
    bls       BLOB CHECK (length(bls) = 48),
    proof     BLOB CHECK (length(proof) = 96),
    owner     BLOB CHECK (length(owner) > 0),                         -- of the rewards
    fee_owner BLOB CHECK (length(fee_owner) > 0),                     -- of a validator's delegation fees
    status    INTEGER NOT NULL CHECK (status IN (0, 1, 2, 3)),        -- 0 pending, 1 active, 2 completed, 3 removed
    began     INTEGER CHECK (began >= 0),                             -- height of the P-Chain at which it became active
    ended     INTEGER CHECK (ended >= 0),                             -- height at which it was rewarded, refused a reward, or removed
    rewarded  INTEGER NOT NULL CHECK (rewarded IN (0, 1)),            -- 1 when the reward was paid
    reward_tx BLOB CHECK (length(reward_tx) = 32),                    -- the RewardValidatorTx or RewardAutoRenewedValidatorTx
    authority BLOB CHECK (length(authority) > 0),                     -- who configures an auto-renewed validator; NULL for others, as below 0
    period    INTEGER NOT NULL CHECK (period >= 0),                   -- seconds of the next cycle, 0 for none
    compound  INTEGER NOT NULL CHECK (compound BETWEEN 0 AND 1000000),-- share of the rewards that is restaked, of a million
    restaked  INTEGER NOT NULL,                                       -- rewards of earlier cycles in the weight, nAVAX
    fees      INTEGER NOT NULL                                        -- delegation fees of earlier cycles in the weight
) STRICT;

-- Owners of a staker's staked outputs.
-- Primary block: staker
CREATE TABLE stake_owner (
    address BLOB    NOT NULL CHECK (length(address) = 20),
    staker  INTEGER NOT NULL CHECK (staker >= 0),
    PRIMARY KEY (address, staker)
) STRICT, WITHOUT ROWID;

-- Primary block: id
CREATE TABLE l1_validator (
    id                 INTEGER PRIMARY KEY CHECK (id >= 0),  -- numbered as UTXOs are
    validation         BLOB    NOT NULL CHECK (length(validation) = 32),
    subnet             BLOB    NOT NULL CHECK (length(subnet) = 32),
    node               BLOB    NOT NULL CHECK (length(node) = 20),
    bls                BLOB    NOT NULL CHECK (length(bls) = 48),
    balance_owner      BLOB    NOT NULL,
    deactivation_owner BLOB    NOT NULL,
    start              INTEGER NOT NULL CHECK (start >= 0),
    tx                 INTEGER NOT NULL CHECK (tx >= 0)      -- position of the conversion or registration
) STRICT;

-- The states of an L1 validator: one row for each block that changed it.
-- Primary block: height of validator
CREATE TABLE l1_state (
    validator  INTEGER NOT NULL CHECK (validator >= 0),
    height     INTEGER NOT NULL CHECK (height >= 0),
    weight     INTEGER NOT NULL,  -- 0 once it is removed
    nonce      INTEGER NOT NULL,  -- the next weight message's, at least
    paid_until INTEGER NOT NULL,  -- accrued fee of the chain at which the balance is used up, 0 when inactive
    PRIMARY KEY (validator, height)
) STRICT, WITHOUT ROWID;

-- Primary block: id
CREATE TABLE subnet (
    id   INTEGER PRIMARY KEY CHECK (id >= 0),  -- position of the transaction
    hash BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- The owner of a subnet, or the contract that manages it, from a height on.
-- Primary block: height of subnet
CREATE TABLE subnet_state (
    subnet          INTEGER NOT NULL CHECK (subnet >= 0),
    height          INTEGER NOT NULL CHECK (height >= 0),
    owner           BLOB    NOT NULL,
    conversion      BLOB CHECK (length(conversion) = 32),
    manager_chain   BLOB CHECK (length(manager_chain) = 32),
    manager_address BLOB CHECK (length(manager_address) <= 4096), -- may be empty
    PRIMARY KEY (subnet, height)
) STRICT, WITHOUT ROWID;

-- Primary block: id
CREATE TABLE blockchain (
    id     INTEGER PRIMARY KEY CHECK (id >= 0),  -- position of the transaction
    hash   BLOB    NOT NULL CHECK (length(hash) = 32),
    subnet BLOB    NOT NULL CHECK (length(subnet) = 32),
    name   TEXT    NOT NULL,
    vm     BLOB    NOT NULL CHECK (length(vm) = 32)
) STRICT;

-- Roll-ups of the metrics, by day (Unix seconds of its beginning). A day without a change has no row.

-- The stakers of a subnet at the end of a day.
-- No block: a roll-up
CREATE TABLE stake (
    subnet           BLOB    NOT NULL CHECK (length(subnet) = 32),
    chain            INTEGER NOT NULL CHECK (chain > 0),
    day              INTEGER NOT NULL,
    validators       INTEGER NOT NULL CHECK (validators >= 0),
    validator_weight INTEGER NOT NULL,  -- a 64-bit pattern, as is the other weight
    delegators       INTEGER NOT NULL CHECK (delegators >= 0),
    delegator_weight INTEGER NOT NULL,
    PRIMARY KEY (subnet, chain, day)
) STRICT, WITHOUT ROWID;

-- The fees paid by L1 validators: base + active × accrued fee of the chain, up to the end of a day.
-- No block: a roll-up
CREATE TABLE fee (
    payer  BLOB    NOT NULL CHECK (length(payer) IN (0, 20, 32)),  -- id of a validation, a node or a subnet, empty for all of the network
    chain  INTEGER NOT NULL CHECK (chain > 0),
    day    INTEGER NOT NULL,
    active INTEGER NOT NULL CHECK (active >= 0),                   -- at the end of the day
    base   INTEGER NOT NULL,                                       -- a 64-bit pattern
    paying INTEGER NOT NULL CHECK (paying >= 0),                   -- active in a second of the day
    PRIMARY KEY (payer, chain, day)
) STRICT, WITHOUT ROWID;

-- The accrued fee of a P-Chain at the end of a day: a row for each day that is over when a block is made.
-- No block: a roll-up
CREATE TABLE fee_meter (
    chain   INTEGER NOT NULL CHECK (chain > 0),
    day     INTEGER NOT NULL,
    accrued INTEGER NOT NULL,
    PRIMARY KEY (chain, day)
) STRICT, WITHOUT ROWID;

-- The nodes of validators.
-- No block: generated
CREATE TABLE node (
    network     INTEGER NOT NULL CHECK (network IN (1, 5)),
    node        BLOB    NOT NULL CHECK (length(node) = 20),             -- RIPEMD-160 of SHA-256 of the certificate
    role        TEXT    NOT NULL,                                       -- the situation that it is there for, empty for most
    certificate BLOB    NOT NULL CHECK (length(certificate) > 0),
    secret      BLOB    NOT NULL CHECK (length(secret) = 32),           -- BLS secret key
    version     TEXT    NOT NULL,
    ip          TEXT    NOT NULL,                                       -- with port
    uptime      INTEGER NOT NULL CHECK (uptime BETWEEN 0 AND 1000000),  -- of a million
    connected   INTEGER NOT NULL CHECK (connected IN (0, 1)),
    city        TEXT    NOT NULL,
    country     TEXT    NOT NULL,
    code        TEXT    NOT NULL,                                       -- ISO 3166
    latitude    INTEGER NOT NULL,                                       -- millionths of a degree
    longitude   INTEGER NOT NULL,
    PRIMARY KEY (network, node)
) STRICT, WITHOUT ROWID;
