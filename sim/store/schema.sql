-- The whole world in one file. A position is one integer that orders everything on EVM chains by chain, block and
-- index: chain << 52 | block number << 16 | index in the block. Hashes, addresses and 256-bit amounts are fixed-width
-- big-endian blobs.

-- The state of the file, by which a write-ahead log is recognised as its own (wal.go). The first table of a file is on its
-- second page.
CREATE TABLE lineage (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    parent BLOB    NOT NULL CHECK (length(parent) = 32), -- the state before the last commit; of a new file, random
    state  BLOB    NOT NULL CHECK (length(state) = 32)   -- SHA-256 over parent and the world's digest
);

CREATE TABLE meta (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    generator TEXT    NOT NULL,  -- version of the generator that made the file
    seed      INTEGER NOT NULL,
    profile   TEXT    NOT NULL,  -- name of the profile
    shape     TEXT    NOT NULL,  -- the profile itself, as YAML
    until     INTEGER NOT NULL,  -- where the generated history ends, Unix seconds
    clock     INTEGER NOT NULL,  -- the world's own time, Unix seconds
    started   INTEGER NOT NULL,  -- how many operations clients have started, deleted ones included
    chains    BLOB    NOT NULL,  -- SHA-256 over identity and clock, who is who, and every chain's last digest
    digest    BLOB    NOT NULL   -- that of the world: the one before and, once there was one, every operation's
);

CREATE TABLE chain (
    id            INTEGER PRIMARY KEY,
    network       TEXT    NOT NULL,  -- mainnet or fuji
    evm_id        INTEGER NOT NULL UNIQUE,
    blockchain_id BLOB    NOT NULL UNIQUE,
    subnet_id     BLOB    NOT NULL,
    vm_id         BLOB    NOT NULL,
    kind          TEXT    NOT NULL,  -- C or L1: decides the header's fields and the fee rule
    name          TEXT    NOT NULL,
    description   TEXT    NOT NULL,
    token_name    TEXT    NOT NULL,
    token_symbol  TEXT    NOT NULL,
    genesis       BLOB    NOT NULL,  -- configuration, start time and allocation, as the network's JSON
    upgrades      BLOB    NOT NULL   -- what turns built-in contracts on and off later, as the network's JSON
);

CREATE TABLE block (
    id       INTEGER PRIMARY KEY,  -- position, index 0
    hash     BLOB    NOT NULL,     -- Keccak-256 of header
    time     INTEGER NOT NULL,     -- Unix seconds
    txs      INTEGER NOT NULL,     -- number of transactions
    all_txs  INTEGER NOT NULL,     -- transactions of the chain up to and with this block
    gas_used INTEGER NOT NULL,
    fees     BLOB    NOT NULL,     -- wei paid for gas by all transactions of the block
    header   BLOB    NOT NULL,     -- RLP
    ext_data BLOB CHECK (length(ext_data) > 0), -- C-Chain: atomic transactions, codec bytes
    digest   BLOB    NOT NULL      -- SHA-256 over the parent's digest and everything this block added
);

CREATE TABLE tx (
    id        INTEGER PRIMARY KEY,  -- position
    hash      BLOB    NOT NULL,
    sender    BLOB    NOT NULL,
    recipient BLOB CHECK (length(recipient) = 20), -- absent for a creation
    created   BLOB CHECK (length(created) = 20),   -- address of the contract that a creation made
    status    INTEGER NOT NULL,     -- 1 success, 0 failed
    gas_used  INTEGER NOT NULL,
    gas_total INTEGER NOT NULL,     -- cumulative in the block
    logs      INTEGER NOT NULL,     -- number of logs
    raw       BLOB    NOT NULL      -- the signed transaction, canonical encoding
);

CREATE TABLE log (
    id      INTEGER PRIMARY KEY,  -- position, index is the log's index in the block
    tx      INTEGER NOT NULL,     -- index of the transaction in the block
    address BLOB    NOT NULL,
    topic   BLOB    NOT NULL,     -- first topic, empty when there is none
    topics  BLOB    NOT NULL,     -- the other topics, 32 bytes each
    data    BLOB    NOT NULL
);

-- Calls inside transactions that moved value or created a contract, in the order in which they began.
CREATE TABLE call (
    id        INTEGER PRIMARY KEY,  -- position, index is the call's index in the block
    tx        INTEGER NOT NULL,
    depth     INTEGER NOT NULL,
    type      TEXT    NOT NULL,     -- CALL, CALLCODE, CREATE, CREATE2 or SELFDESTRUCT
    sender    BLOB    NOT NULL,
    recipient BLOB    NOT NULL,     -- the created address of a creation
    value     BLOB    NOT NULL,
    gas       INTEGER NOT NULL,
    gas_used  INTEGER NOT NULL,
    reverted  INTEGER NOT NULL,     -- 1 when this call or one around it was undone
    error     TEXT    NOT NULL      -- the EVM's reason, empty on success
);

-- Flat history of the state: one row per account or slot and block that changed it.
CREATE TABLE account (
    chain     INTEGER NOT NULL,
    address   BLOB    NOT NULL,
    block     INTEGER NOT NULL,
    nonce     INTEGER NOT NULL,
    balance   BLOB    NOT NULL,
    code_hash BLOB CHECK (length(code_hash) = 32),  -- absent without code
    root      BLOB CHECK (length(root) = 32),       -- storage root, absent without storage
    gone      INTEGER NOT NULL,  -- 1 when the account ceased to exist
    PRIMARY KEY (chain, address, block)
) WITHOUT ROWID;

CREATE TABLE slot (
    chain   INTEGER NOT NULL,
    address BLOB    NOT NULL,
    key     BLOB    NOT NULL,
    block   INTEGER NOT NULL,
    value   BLOB    NOT NULL,  -- without leading zeros, empty when cleared
    PRIMARY KEY (chain, address, key, block)
) WITHOUT ROWID;

CREATE TABLE code (
    hash BLOB NOT NULL PRIMARY KEY,
    code BLOB NOT NULL
) WITHOUT ROWID;

-- Personas and the contracts that have a role: accounts and contracts under names that stay the same.
CREATE TABLE persona (
    id      INTEGER PRIMARY KEY,  -- index of the account in the well-known mnemonic, or above 9
    name    TEXT NOT NULL UNIQUE,
    purpose TEXT NOT NULL,
    key     BLOB NOT NULL,        -- secp256k1 private key
    address BLOB NOT NULL         -- EVM address
);

CREATE TABLE contract (
    chain    INTEGER NOT NULL,
    address  BLOB    NOT NULL,
    role     TEXT    NOT NULL,  -- what it is for, unique on its chain
    artifact TEXT    NOT NULL,  -- name of the compiled contract
    PRIMARY KEY (chain, address)
) WITHOUT ROWID;

-- Reputation and price series of a token; the chain's own token has the zero address. Prices follow from the world's seed,
-- the series and the hour, so that one asset costs the same on every chain.
CREATE TABLE market (
    chain      INTEGER NOT NULL,
    address    BLOB    NOT NULL,
    reputation TEXT    NOT NULL,  -- Malicious or Benign, empty when nothing is known
    series     TEXT    NOT NULL,  -- name of the price series, empty without a market
    price      INTEGER NOT NULL,  -- about which the series moves, 10^-8 US dollars
    swing      INTEGER NOT NULL,  -- how far it moves, millionths
    PRIMARY KEY (chain, address)
) WITHOUT ROWID;

-- The index: what readers look for by address. Every row follows from the blocks, and is written with its block.

-- Contracts that are tokens. A token's id is chain << 32 | standard << 28 | count.
CREATE TABLE token (
    id       INTEGER PRIMARY KEY,
    address  BLOB    NOT NULL,
    block    INTEGER NOT NULL,  -- number of the block in which it was first seen
    name     TEXT    NOT NULL,
    symbol   TEXT    NOT NULL,
    decimals INTEGER NOT NULL
);

CREATE TABLE deployment (
    id      INTEGER PRIMARY KEY,  -- position, index counts the block's deployments
    tx      INTEGER NOT NULL,
    address BLOB    NOT NULL,
    sender  BLOB    NOT NULL,     -- of the transaction
    creator BLOB CHECK (length(creator) = 20) -- the contract that made it, absent when the transaction did
);

-- An asset is what can be held: 6 bytes of a token's id and, of a kind that has several, the item's number after its
-- length, so that assets sort by chain, standard, token and number.
CREATE TABLE transfer (
    id        INTEGER PRIMARY KEY,  -- position, index counts the block's transfers
    tx        INTEGER NOT NULL,
    log       INTEGER NOT NULL,
    standard  INTEGER NOT NULL,     -- 0 ERC-20, 1 ERC-721, 2 ERC-1155
    asset     BLOB    NOT NULL,
    sender    BLOB    NOT NULL,
    recipient BLOB    NOT NULL,
    amount    BLOB    NOT NULL      -- without leading zeros
);

-- Who held how much of an asset, from one block on until a later row.
CREATE TABLE holding (
    owner  BLOB    NOT NULL,
    asset  BLOB    NOT NULL,
    block  INTEGER NOT NULL,
    amount BLOB    NOT NULL,  -- without leading zeros, empty for nothing
    PRIMARY KEY (owner, asset, block DESC) -- the newest is the first that a seek of the asset finds
) WITHOUT ROWID;

-- One token of an ERC-721 or one kind of an ERC-1155, from one block on until a later row.
CREATE TABLE nft (
    asset BLOB    NOT NULL,
    block INTEGER NOT NULL,                -- position of the block
    owner BLOB CHECK (length(owner) = 20), -- absent for an ERC-1155, and for a token that is gone
    uri   TEXT,                            -- of the metadata, absent when the contract fails to say
    PRIMARY KEY (asset, block)
) WITHOUT ROWID;

-- Addresses that took part in a transaction without being its sender or recipient: in a transfer or an internal call.
CREATE TABLE touch (
    address BLOB    NOT NULL,
    tx      INTEGER NOT NULL,  -- position
    PRIMARY KEY (address, tx)
) WITHOUT ROWID;

-- Cross-chain messages, by the log that sent them; those that none of the world's chains sent, by the log that delivered
-- them.
CREATE TABLE message (
    id          INTEGER PRIMARY KEY,  -- position of the log
    tx          INTEGER NOT NULL,     -- index of the transaction in the block
    time        INTEGER NOT NULL,     -- Unix seconds
    hash        BLOB    NOT NULL,     -- the message's id
    source      BLOB    NOT NULL,     -- blockchain id
    destination BLOB    NOT NULL,     -- blockchain id
    sender      BLOB    NOT NULL,
    recipient   BLOB    NOT NULL
);

-- Deliveries, executions and receipts of cross-chain messages.
CREATE TABLE message_event (
    id   INTEGER PRIMARY KEY,  -- position of the log
    tx   INTEGER NOT NULL,
    kind INTEGER NOT NULL,     -- 0 received, 1 executed, 2 the sending chain learned of the delivery
    hash BLOB    NOT NULL      -- of the message
);

-- Roll-ups of the metrics: what happened in an hour, day, week or month (0 to 3) of a scope. A scope is a chain's id, 0
-- for all chains, -1 for those of mainnet, -2 for those of fuji. Amounts of wei are without leading zeros.
CREATE TABLE tally (
    scope           INTEGER NOT NULL,
    interval        INTEGER NOT NULL,
    start           INTEGER NOT NULL,  -- Unix seconds
    first_block     INTEGER NOT NULL,  -- time of the first block
    last_block      INTEGER NOT NULL,
    txs             INTEGER NOT NULL,
    gas             INTEGER NOT NULL,
    contracts       INTEGER NOT NULL,  -- created
    fees            BLOB    NOT NULL,
    prices          BLOB    NOT NULL,  -- sum of the gas prices of all transactions
    top_price       BLOB    NOT NULL,
    top_gas         INTEGER NOT NULL,  -- of the block with the most gas per second,
    top_gas_seconds INTEGER NOT NULL,  -- and its time since the block before it
    top_txs         INTEGER NOT NULL,
    top_txs_seconds INTEGER NOT NULL,
    addresses       INTEGER NOT NULL,  -- distinct ones
    senders         INTEGER NOT NULL,
    deployers       INTEGER NOT NULL,
    new_addresses   INTEGER NOT NULL,  -- never seen before in this scope; of hours and days
    new_senders     INTEGER NOT NULL,
    new_deployers   INTEGER NOT NULL,
    last_addresses  INTEGER NOT NULL,  -- not seen since in this scope; of hours and days
    last_senders    INTEGER NOT NULL,
    last_deployers  INTEGER NOT NULL,
    PRIMARY KEY (scope, interval, start)
) WITHOUT ROWID;

-- Roll-ups of cross-chain messages: how many were sent from one chain to another in an interval of a scope, as above.
CREATE TABLE traffic (
    scope       INTEGER NOT NULL,  -- a network or all chains
    interval    INTEGER NOT NULL,
    start       INTEGER NOT NULL,  -- Unix seconds
    source      BLOB    NOT NULL,  -- blockchain id
    destination BLOB    NOT NULL,  -- blockchain id
    messages    INTEGER NOT NULL,
    PRIMARY KEY (scope, interval, start, source, destination)
) WITHOUT ROWID;

-- The hours of a month in which an address took part, three bytes each: hour << 14 | chain << 3 | roles.
CREATE TABLE presence (
    month   INTEGER NOT NULL,  -- Unix seconds of its beginning
    address BLOB    NOT NULL,
    hours   BLOB    NOT NULL,
    PRIMARY KEY (month, address)
) WITHOUT ROWID;

-- The first and the last hour of an address on each chain and in each role, eleven bytes each: chain, role, two hours.
CREATE TABLE lifetime (
    address BLOB NOT NULL PRIMARY KEY,
    spans   BLOB NOT NULL
) WITHOUT ROWID;

-- What clients asked for to be done in the background: exports of transactions.
CREATE TABLE operation (
    id      INTEGER PRIMARY KEY,  -- counts the operations of the world from 1
    digest  BLOB    NOT NULL,     -- SHA-256 over the rest of the row
    uuid    BLOB    NOT NULL,     -- its name: version 5 of the world's identity and the count
    status  TEXT    NOT NULL,     -- RUNNING, COMPLETED, COMPLETED_WITH_WARNING or FAILED
    code    TEXT    NOT NULL,     -- what is to say about the status, empty for nothing
    message TEXT    NOT NULL,     -- the same in words
    created INTEGER NOT NULL,     -- by the world's clock, Unix seconds
    updated INTEGER NOT NULL,
    next    INTEGER NOT NULL,     -- the day with which another export would go on, Unix seconds; 0 for none
    chunks  INTEGER NOT NULL,     -- how many there are of its file so far,
    size    INTEGER NOT NULL,     -- their bytes,
    rows    INTEGER NOT NULL,     -- their rows,
    reached INTEGER NOT NULL,     -- the time of the last row, Unix seconds,
    content BLOB    NOT NULL,     -- and the last one's digest, empty before the first
    request TEXT    NOT NULL      -- what it was asked to do, and the height of each chain at that time, as JSON
);

-- The files of exports. A chunk's id is operation << 24 | count from 0.
CREATE TABLE chunk (
    id      INTEGER PRIMARY KEY,
    start   INTEGER NOT NULL,  -- where in the file it begins
    size    INTEGER NOT NULL,  -- bytes of the file
    rows    INTEGER NOT NULL,  -- of the file up to and with this chunk
    sum     INTEGER NOT NULL,  -- CRC-32 of the file up to and with this chunk
    reached INTEGER NOT NULL,  -- the time of its last transaction, Unix seconds
    lane    INTEGER NOT NULL,  -- that transaction's chain, by its place in the request,
    at      INTEGER NOT NULL,  -- and position
    digest  BLOB    NOT NULL,  -- SHA-256 over the chunk before and the rest of the row
    data    BLOB    NOT NULL   -- deflated, in whole blocks that others can follow
);
