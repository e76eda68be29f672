-- The whole world in one file. A position is one integer that orders everything on EVM chains by chain, block and
-- index: chain << 52 | block number << 16 | index in the block. Hashes, addresses and 256-bit amounts are fixed-width
-- big-endian blobs; packed columns have column.go's format, and 256-bit numbers have no leading zeros.
--
-- The line before each table says to which block its rows belong, so that going back can find them (row_block.go):
--   Block: id                that of the position in id
--   Block: block of chain    that with the number in block, on the chain in chain, or that of the asset in asset
--   Chain: id                none: later blocks of the chain, which the token's id names, change the row
--   Primary block: id        that of the position or UTXO number in id, on a primary chain (primary.sql)
--   No block: why

-- The state of the file, by which a write-ahead log is recognised as its own (dbfile/wal.go). The first table of a file is on its
-- second page.
-- No block: the file's own
CREATE TABLE lineage (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    parent BLOB    NOT NULL CHECK (length(parent) = 32),  -- the state before the last commit; of a new file, random
    state  BLOB    NOT NULL CHECK (length(state) = 32)    -- SHA-256 over parent and the world's digest
) STRICT;

-- No block: the file's own
CREATE TABLE meta (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    generator TEXT    NOT NULL,                              -- version of the generator that made the file
    seed      INTEGER NOT NULL,
    profile   TEXT    NOT NULL,                              -- name of the profile
    shape     TEXT    NOT NULL,                              -- the profile itself, as YAML
    until     INTEGER NOT NULL CHECK (until >= 0),           -- where the generated history ends, Unix seconds
    clock     INTEGER NOT NULL CHECK (clock >= 0),           -- the world's own time, Unix milliseconds
    started   INTEGER NOT NULL CHECK (started >= 0),         -- how many operations clients have started, deleted ones included
    base      BLOB    NOT NULL CHECK (length(base) = 32),    -- SHA-256 over what never changes: identity, chains, who and what is there from the beginning
    digest    BLOB    NOT NULL CHECK (length(digest) = 32)   -- SHA-256 over base, clock and every chain's last digest
) STRICT;

-- No block: generated
CREATE TABLE chain (
    id            INTEGER PRIMARY KEY CHECK (id > 0),
    network       TEXT    NOT NULL CHECK (network IN ('mainnet', 'fuji')),
    evm_id        INTEGER NOT NULL UNIQUE CHECK (evm_id > 0),
    blockchain_id BLOB    NOT NULL UNIQUE CHECK (length(blockchain_id) = 32),
    subnet_id     BLOB    NOT NULL CHECK (length(subnet_id) = 32),
    vm_id         BLOB    NOT NULL CHECK (length(vm_id) = 32),
    kind          TEXT    NOT NULL CHECK (kind IN ('C', 'L1')),  -- decides the header's fields and the fee rule
    name          TEXT    NOT NULL,
    description   TEXT    NOT NULL,
    token_name    TEXT    NOT NULL,
    token_symbol  TEXT    NOT NULL,
    genesis       BLOB    NOT NULL,                              -- configuration, start time and allocation, as the network's JSON, packed
    upgrades      BLOB    NOT NULL                               -- what turns built-in contracts on and off later, as the network's JSON
) STRICT;

-- Block: id
CREATE TABLE block (
    id       INTEGER PRIMARY KEY CHECK (id >= 0),          -- position, index 0
    hash     BLOB    NOT NULL CHECK (length(hash) = 32),   -- Keccak-256 of header
    time     INTEGER NOT NULL CHECK (time >= 0),           -- Unix seconds
    txs      INTEGER NOT NULL CHECK (txs >= 0),            -- number of transactions
    all_txs  INTEGER NOT NULL CHECK (all_txs >= 0),        -- transactions of the chain up to and with this block
    gas_used INTEGER NOT NULL CHECK (gas_used >= 0),
    fees     BLOB    NOT NULL CHECK (length(fees) <= 32),  -- wei paid for gas by all transactions of the block
    header   BLOB    NOT NULL CHECK (length(header) > 1),  -- RLP, packed
    ext_data BLOB CHECK (length(ext_data) > 0),            -- C-Chain: atomic transactions, codec bytes
    execution BLOB CHECK (length(execution) > 0),          -- C-Chain since Helicon: results of the execution, RLP
    digest   BLOB    NOT NULL CHECK (length(digest) = 32)  -- SHA-256 over the parent's digest and everything this block added
) STRICT;

-- A block's deviations from the network's rules that a client requested.
-- Block: id
CREATE TABLE block_override (
    id        INTEGER PRIMARY KEY CHECK (id >= 0),       -- position of the block
    early     INTEGER NOT NULL CHECK (early IN (0, 1)),  -- 1 when it may follow its parent sooner than ACP-226 allows
    base_fee  BLOB CHECK (length(base_fee) = 32),        -- wei; absent for that of the rules, as below
    gas_limit INTEGER CHECK (gas_limit >= 0),
    coinbase  BLOB CHECK (length(coinbase) = 20),
    settles_after INTEGER CHECK (settles_after > 0)      -- milliseconds from the execution of a block until this one may settle it
) STRICT;

-- Changes of the state of EVM chains that a client made without a transaction. The rows of account, slot, holding and nft at
-- their block include them.
-- Block: block of chain
CREATE TABLE state_change (
    chain    INTEGER NOT NULL CHECK (chain > 0),
    block    INTEGER NOT NULL CHECK (block >= 0),           -- number of the block after which it was made
    sequence INTEGER NOT NULL CHECK (sequence >= 0),        -- counts those after the block
    kind     TEXT    NOT NULL CHECK (kind IN ('balance', 'nonce', 'code', 'storage')),
    address  BLOB    NOT NULL CHECK (length(address) = 20),
    key      BLOB CHECK (length(key) = 32),                 -- the slot, of a change of storage only
    value    BLOB    NOT NULL,                              -- from now on: 32 bytes, of a nonce 8, code as it is
    owner    BLOB CHECK (length(owner) = 20),               -- whose balance of a token is in the slot, if a client said so
    root     BLOB    NOT NULL CHECK (length(root) = 32),    -- of the state afterwards
    digest   BLOB    NOT NULL CHECK (length(digest) = 32),  -- SHA-256 over the chain's digest before it and the rest of the row
    PRIMARY KEY (chain, block, sequence),
    CHECK ((kind = 'storage') = (typeof(key) = 'blob')),
    CHECK (owner IS NULL OR kind = 'storage'),
    CHECK (kind = 'code' OR length(value) = iif(kind = 'nonce', 8, 32))
) STRICT, WITHOUT ROWID;

-- Block: id
CREATE TABLE tx (
    id        INTEGER PRIMARY KEY CHECK (id >= 0),        -- position
    hash      BLOB    NOT NULL CHECK (length(hash) = 32),
    sender    BLOB    NOT NULL CHECK (length(sender) = 20),
    recipient BLOB CHECK (length(recipient) = 20),        -- absent for a creation
    created   BLOB CHECK (length(created) = 20),          -- address of the contract that a creation made
    status    INTEGER NOT NULL CHECK (status IN (0, 1)),  -- 1 success, 0 failed
    gas_used  INTEGER NOT NULL CHECK (gas_used >= 0),
    gas_total INTEGER NOT NULL CHECK (gas_total >= 0),    -- cumulative in the block
    logs      INTEGER NOT NULL CHECK (logs >= 0),         -- number of logs
    raw       BLOB    NOT NULL CHECK (length(raw) > 1)    -- the signed transaction, canonical encoding, packed
) STRICT;

-- Transactions of impersonated senders. Their signature fields hold the sender's address.
-- Block: id
CREATE TABLE impersonated_tx (
    id INTEGER PRIMARY KEY CHECK (id >= 0)  -- position of the transaction
) STRICT;

-- Block: id
CREATE TABLE log (
    id      INTEGER PRIMARY KEY CHECK (id >= 0),                   -- position, index is the log's index in the block
    tx      INTEGER NOT NULL CHECK (tx >= 0),                      -- index of the transaction in the block
    address BLOB    NOT NULL CHECK (length(address) = 20),
    topic   BLOB    NOT NULL CHECK (length(topic) IN (0, 1, 32)),  -- first topic, or its number (log.go), empty when there is none
    topics  BLOB    NOT NULL CHECK (length(topics) < 100),         -- the other topics, each after its length, short ones without leading zeros
    data    BLOB    NOT NULL CHECK (length(data) > 0)              -- packed
) STRICT;

-- Calls inside transactions that moved value or created a contract, in the order in which they began.
-- Block: id
CREATE TABLE call (
    id        INTEGER PRIMARY KEY CHECK (id >= 0),              -- position, index is the call's index in the block
    tx        INTEGER NOT NULL CHECK (tx >= 0),
    depth     INTEGER NOT NULL CHECK (depth >= 0),
    type      TEXT    NOT NULL,
    sender    BLOB    NOT NULL CHECK (length(sender) = 20),
    recipient BLOB    NOT NULL CHECK (length(recipient) = 20),  -- the created address of a creation
    value     BLOB    NOT NULL CHECK (length(value) <= 32),
    gas       INTEGER NOT NULL CHECK (gas >= 0),
    gas_used  INTEGER NOT NULL CHECK (gas_used >= 0),
    reverted  INTEGER NOT NULL CHECK (reverted IN (0, 1)),      -- 1 when this call or one around it was undone
    error     TEXT    NOT NULL,                                 -- the EVM's reason, empty on success
    CHECK (type IN ('CALL', 'CALLCODE', 'CREATE', 'CREATE2', 'SELFDESTRUCT'))
) STRICT;

-- Flat history of the state: one row per account or slot and block that changed it.
-- Block: block of chain
CREATE TABLE account (
    chain     INTEGER NOT NULL CHECK (chain > 0),
    address   BLOB    NOT NULL CHECK (length(address) = 20),
    block     INTEGER NOT NULL CHECK (block >= 0),
    nonce     INTEGER NOT NULL CHECK (nonce >= 0),
    balance   BLOB    NOT NULL CHECK (length(balance) <= 32),
    code_hash BLOB CHECK (length(code_hash) = 32),      -- absent without code
    root      BLOB CHECK (length(root) = 32),           -- storage root, absent without storage
    gone      INTEGER NOT NULL CHECK (gone IN (0, 1)),  -- 1 when the account ceased to exist
    PRIMARY KEY (chain, address, block)
) STRICT, WITHOUT ROWID;

-- Block: block of chain
CREATE TABLE slot (
    chain   INTEGER NOT NULL CHECK (chain > 0),
    address BLOB    NOT NULL CHECK (length(address) = 20),
    key     BLOB    NOT NULL CHECK (length(key) = 32),
    block   INTEGER NOT NULL CHECK (block >= 0),
    value   BLOB    NOT NULL CHECK (length(value) <= 32),  -- without leading zeros, empty when cleared
    PRIMARY KEY (chain, address, key, block)
) STRICT, WITHOUT ROWID;

-- Hashes of the parts of large tries after the newest block of a chain, so that neither a proof nor the next block needs all accounts of the
-- chain or all slots of a contract. The root in the header or the account proves them; the digest does not cover them.
-- No block: derived from account and slot at the newest block
CREATE TABLE trie_part (
    chain    INTEGER NOT NULL CHECK (chain > 0),
    owner    BLOB    NOT NULL CHECK (length(owner) IN (0, 20)),                        -- whose storage it is, empty for the accounts
    prefix   BLOB    NOT NULL CHECK (length(prefix) > 0),                              -- nibbles that the hashes of its keys begin with, one a byte
    hash     BLOB    NOT NULL CHECK (length(hash) = 32),
    keys     BLOB    NOT NULL CHECK (length(keys) > 0 AND length(keys) % iif(length(owner) = 0, 20, 32) = 0),  -- addresses or slots, in order
    balances BLOB    NOT NULL CHECK ((length(owner) = 0) = (length(balances) > 0)),    -- wei of each address, after its length; empty for slots
    PRIMARY KEY (chain, owner, prefix)
) STRICT, WITHOUT ROWID;

-- No block: contracts and chains share it
CREATE TABLE code (
    hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    code BLOB NOT NULL CHECK (length(code) > 0)
) STRICT, WITHOUT ROWID;

-- Personas and the contracts that have a role: accounts and contracts under names that stay the same.
-- No block: generated
CREATE TABLE persona (
    id      INTEGER PRIMARY KEY CHECK (id >= 0),        -- index of the account in the well-known mnemonic, or above 9
    name    TEXT NOT NULL UNIQUE,
    purpose TEXT NOT NULL,
    key     BLOB NOT NULL CHECK (length(key) IN (0, 32)), -- secp256k1 private key, empty if only its owner has it
    address BLOB NOT NULL CHECK (length(address) = 20)  -- EVM address
) STRICT;

-- No block: generated
CREATE TABLE contract (
    chain    INTEGER NOT NULL CHECK (chain > 0),
    address  BLOB    NOT NULL CHECK (length(address) = 20),
    role     TEXT    NOT NULL,  -- what it is for, unique on its chain
    artifact TEXT    NOT NULL,  -- name of the compiled contract, empty if it is none of the world's own
    abi      TEXT    NOT NULL,  -- of one that is none of the world's own, in JSON; empty if it is not known
    logo     TEXT    NOT NULL,  -- URL of a token's logo that a token list gave, empty for one that is drawn
    PRIMARY KEY (chain, address)
) STRICT, WITHOUT ROWID;

-- Reputation and price series of a token; the chain's own token has the zero address. Prices follow from the world's seed,
-- the series and the hour, so that one asset costs the same on every chain.
-- No block: generated
CREATE TABLE market (
    chain      INTEGER NOT NULL CHECK (chain > 0),
    address    BLOB    NOT NULL CHECK (length(address) = 20),
    reputation TEXT    NOT NULL CHECK (reputation IN ('', 'Malicious', 'Benign')),  -- empty when nothing is known
    series     TEXT    NOT NULL,                                                    -- name of the price series, empty without a market
    price      INTEGER NOT NULL CHECK (price >= 0),                                 -- about which the series moves, 10^-8 US dollars
    swing      INTEGER NOT NULL CHECK (swing >= 0),                                 -- how far it moves, millionths
    PRIMARY KEY (chain, address)
) STRICT, WITHOUT ROWID;

-- The index, which finds rows by address. Every row follows from the blocks, and is written with its block.

-- Contracts that are tokens. A token's id is chain << 32 | standard << 28 | count.
-- Chain: id
CREATE TABLE token (
    id       INTEGER PRIMARY KEY CHECK (id >= 0),
    address  BLOB    NOT NULL CHECK (length(address) = 20),
    block    INTEGER NOT NULL CHECK (block >= 0),  -- number of the block in which it was first seen
    name     TEXT    NOT NULL,
    symbol   TEXT    NOT NULL,
    decimals INTEGER NOT NULL CHECK (decimals BETWEEN 0 AND 255)
) STRICT;

-- Block: id
CREATE TABLE deployment (
    id      INTEGER PRIMARY KEY CHECK (id >= 0),           -- position, index counts the block's deployments
    tx      INTEGER NOT NULL CHECK (tx >= 0),
    address BLOB    NOT NULL CHECK (length(address) = 20),
    sender  BLOB    NOT NULL CHECK (length(sender) = 20),  -- of the transaction
    creator BLOB CHECK (length(creator) = 20)              -- the contract that made it, absent when the transaction did
) STRICT;

-- An asset is 6 bytes of a token's id and, for standards with items, the item's number after its length, so that assets sort by
-- chain, standard, token and number.
-- Block: id
CREATE TABLE transfer (
    id        INTEGER PRIMARY KEY CHECK (id >= 0),             -- position, index counts the block's transfers
    tx        INTEGER NOT NULL CHECK (tx >= 0),
    log       INTEGER NOT NULL CHECK (log >= 0),
    standard  INTEGER NOT NULL CHECK (standard IN (0, 1, 2)),  -- 0 ERC-20, 1 ERC-721, 2 ERC-1155
    asset     BLOB    NOT NULL CHECK (length(asset) BETWEEN 6 AND 39),
    sender    BLOB    NOT NULL CHECK (length(sender) = 20),
    recipient BLOB    NOT NULL CHECK (length(recipient) = 20),
    amount    BLOB    NOT NULL CHECK (length(amount) <= 32)    -- without leading zeros
) STRICT;

-- Balances of an asset, from one block on until a later row.
-- Block: block of asset
CREATE TABLE holding (
    owner  BLOB    NOT NULL CHECK (length(owner) = 20),
    asset  BLOB    NOT NULL CHECK (length(asset) BETWEEN 6 AND 39),
    block  INTEGER NOT NULL CHECK (block >= 0),
    amount BLOB    NOT NULL CHECK (length(amount) <= 32),  -- without leading zeros, empty for nothing
    PRIMARY KEY (owner, asset, block DESC) -- the newest is the first that a seek of the asset finds
) STRICT, WITHOUT ROWID;

-- One token of an ERC-721 or one kind of an ERC-1155, from one block on until a later row.
-- Block: block
CREATE TABLE nft (
    asset BLOB    NOT NULL CHECK (length(asset) BETWEEN 7 AND 39),
    block INTEGER NOT NULL CHECK (block >= 0),  -- position of the block
    owner BLOB CHECK (length(owner) = 20),      -- absent for an ERC-1155, and for a token that is gone
    uri   BLOB CHECK (length(uri) = 16),        -- that of the metadata, by its hash; absent when the contract fails to say
    PRIMARY KEY (asset, block)
) STRICT, WITHOUT ROWID;

-- URIs of metadata. Many are whole documents, which the items of several rows, contracts and chains share.
-- No block: contracts and chains share it
CREATE TABLE nft_uri (
    id  BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),  -- the beginning of the SHA-256 of the URI
    uri BLOB NOT NULL CHECK (length(uri) > 1)               -- packed, the document where it is one in base64
) STRICT, WITHOUT ROWID;

-- Addresses that took part in a transaction without being its sender or recipient: in a transfer or an internal call.
-- Block: tx
CREATE TABLE touch (
    address BLOB    NOT NULL CHECK (length(address) = 20),
    tx      INTEGER NOT NULL CHECK (tx >= 0),  -- position
    PRIMARY KEY (address, tx)
) STRICT, WITHOUT ROWID;

-- Cross-chain messages, by the log that sent them, or that delivered them if none of the world's chains sent them.
-- Block: id
CREATE TABLE message (
    id          INTEGER PRIMARY KEY CHECK (id >= 0),                -- position of the log
    tx          INTEGER NOT NULL CHECK (tx >= 0),                   -- index of the transaction in the block
    time        INTEGER NOT NULL CHECK (time >= 0),                 -- Unix seconds
    hash        BLOB    NOT NULL CHECK (length(hash) = 32),         -- the message's id
    source      BLOB    NOT NULL CHECK (length(source) = 32),       -- blockchain id
    destination BLOB    NOT NULL CHECK (length(destination) = 32),  -- blockchain id
    sender      BLOB    NOT NULL CHECK (length(sender) = 20),
    recipient   BLOB    NOT NULL CHECK (length(recipient) = 20)
) STRICT;

-- Deliveries, executions and receipts of cross-chain messages.
-- Block: id
CREATE TABLE message_event (
    id   INTEGER PRIMARY KEY CHECK (id >= 0),         -- position of the log
    tx   INTEGER NOT NULL CHECK (tx >= 0),
    kind INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),  -- 0 received, 1 executed, 2 the sending chain learned of the delivery
    hash BLOB    NOT NULL CHECK (length(hash) = 32)   -- of the message
) STRICT;

-- Roll-ups of the metrics: the activity in an hour, day, week or month (0 to 3) of a scope. A scope is a chain's id, 0 for
-- all chains, -1 for mainnet's, -2 for fuji's. Amounts of wei have no leading zeros. Of the open hours, only addresses are counted.
-- No block: a roll-up
CREATE TABLE tally (
    scope           INTEGER NOT NULL CHECK (scope >= -2),
    interval        INTEGER NOT NULL CHECK (interval IN (0, 1, 2, 3)),
    start           INTEGER NOT NULL,                               -- Unix seconds
    first_block     INTEGER NOT NULL CHECK (first_block >= 0),      -- time of the first block
    last_block      INTEGER NOT NULL CHECK (last_block >= 0),
    txs             INTEGER NOT NULL CHECK (txs >= 0),
    gas             INTEGER NOT NULL CHECK (gas >= 0),
    contracts       INTEGER NOT NULL CHECK (contracts >= 0),        -- created
    fees            BLOB    NOT NULL CHECK (length(fees) <= 32),
    prices          BLOB    NOT NULL CHECK (length(prices) <= 32),  -- sum of the gas prices of all transactions
    top_price       BLOB    NOT NULL CHECK (length(top_price) <= 32),
    top_gas         INTEGER NOT NULL CHECK (top_gas >= 0),          -- of the block with the most gas per second,
    top_gas_seconds INTEGER NOT NULL CHECK (top_gas_seconds >= 0),  -- and its time since the block before it
    top_txs         INTEGER NOT NULL CHECK (top_txs >= 0),
    top_txs_seconds INTEGER NOT NULL CHECK (top_txs_seconds >= 0),
    addresses       INTEGER NOT NULL CHECK (addresses >= 0),        -- distinct ones
    senders         INTEGER NOT NULL CHECK (senders >= 0),
    deployers       INTEGER NOT NULL CHECK (deployers >= 0),
    new_addresses   INTEGER NOT NULL CHECK (new_addresses >= 0),    -- never seen before in this scope; of hours and days
    new_senders     INTEGER NOT NULL CHECK (new_senders >= 0),
    new_deployers   INTEGER NOT NULL CHECK (new_deployers >= 0),
    last_addresses  INTEGER NOT NULL CHECK (last_addresses >= 0),   -- not seen since in this scope; of hours and days
    last_senders    INTEGER NOT NULL CHECK (last_senders >= 0),
    last_deployers  INTEGER NOT NULL CHECK (last_deployers >= 0),
    PRIMARY KEY (scope, interval, start)
) STRICT, WITHOUT ROWID;

-- The hour of each chain's newest block, which the chain's first block of a later hour adds to the tallies around it.
-- No block: a roll-up
CREATE TABLE open_hour (
    chain           INTEGER PRIMARY KEY CHECK (chain > 0),
    network         INTEGER NOT NULL CHECK (network IN (-1, -2)),   -- as a scope
    start           INTEGER NOT NULL,                               -- Unix seconds
    first_block     INTEGER NOT NULL CHECK (first_block >= 0),      -- like the columns of tally
    last_block      INTEGER NOT NULL CHECK (last_block >= 0),
    txs             INTEGER NOT NULL CHECK (txs >= 0),
    gas             INTEGER NOT NULL CHECK (gas >= 0),
    contracts       INTEGER NOT NULL CHECK (contracts >= 0),
    fees            BLOB    NOT NULL CHECK (length(fees) <= 32),
    prices          BLOB    NOT NULL CHECK (length(prices) <= 32),
    top_price       BLOB    NOT NULL CHECK (length(top_price) <= 32),
    top_gas         INTEGER NOT NULL CHECK (top_gas >= 0),
    top_gas_seconds INTEGER NOT NULL CHECK (top_gas_seconds >= 0),
    top_txs         INTEGER NOT NULL CHECK (top_txs >= 0),
    top_txs_seconds INTEGER NOT NULL CHECK (top_txs_seconds >= 0)
) STRICT;

-- Roll-ups of cross-chain messages: how many were sent from one chain to another in an interval of a scope, as above.
-- No block: a roll-up
CREATE TABLE traffic (
    scope       INTEGER NOT NULL CHECK (scope IN (0, -1, -2)),      -- a network or all chains
    interval    INTEGER NOT NULL CHECK (interval IN (0, 1, 2, 3)),
    start       INTEGER NOT NULL,                                   -- Unix seconds
    source      BLOB    NOT NULL CHECK (length(source) = 32),       -- blockchain id
    destination BLOB    NOT NULL CHECK (length(destination) = 32),  -- blockchain id
    messages    INTEGER NOT NULL CHECK (messages > 0),
    PRIMARY KEY (scope, interval, start, source, destination)
) STRICT, WITHOUT ROWID;

-- The hours of a month in which an address took part, three bytes each: hour << 14 | chain << 3 | roles.
-- No block: a roll-up
CREATE TABLE presence (
    month   INTEGER NOT NULL,  -- Unix seconds of its beginning
    address BLOB    NOT NULL CHECK (length(address) = 20),
    hours   BLOB    NOT NULL CHECK (length(hours) % 3 = 0),
    PRIMARY KEY (month, address)
) STRICT, WITHOUT ROWID;

-- The first and the last hour of an address on each chain and in each role, eleven bytes each: chain, role, two hours.
-- No block: a roll-up
CREATE TABLE lifetime (
    address BLOB NOT NULL PRIMARY KEY CHECK (length(address) = 20),
    spans   BLOB NOT NULL CHECK (length(spans) % 11 = 0)
) STRICT, WITHOUT ROWID;

-- Transactions that waited in the pools of EVM chains when the world was closed. The digest does not cover them.
-- No block: not in one yet
CREATE TABLE pooled_tx (
    chain   INTEGER NOT NULL CHECK (chain > 0),
    arrival INTEGER NOT NULL CHECK (arrival >= 0),         -- counts those of a chain in the order in which they came
    sender  BLOB    NOT NULL CHECK (length(sender) = 20),
    raw     BLOB    NOT NULL CHECK (length(raw) > 0),      -- canonical encoding
    PRIMARY KEY (chain, arrival)
) STRICT, WITHOUT ROWID;

-- Background jobs of clients: exports of transactions.
-- No block: of clients
CREATE TABLE operation (
    id      INTEGER PRIMARY KEY CHECK (id > 0),                   -- counts the operations of the world from 1
    digest  BLOB    NOT NULL CHECK (length(digest) = 32),         -- SHA-256 over the rest of the row
    uuid    BLOB    NOT NULL CHECK (length(uuid) = 16),           -- its name: version 5 of the world's identity and the count
    status  TEXT    NOT NULL,
    code    TEXT    NOT NULL,                                     -- what is to say about the status, empty for nothing
    message TEXT    NOT NULL,                                     -- the same in words
    created INTEGER NOT NULL,                                     -- by the world's clock, Unix seconds
    updated INTEGER NOT NULL,
    next    INTEGER NOT NULL,                                     -- the day with which another export would go on, Unix seconds; 0 for none
    size    INTEGER NOT NULL CHECK (size >= 0),                   -- bytes of its file, which follows from the request and is not stored,
    rows    INTEGER NOT NULL CHECK (rows >= 0),                   -- its rows,
    reached INTEGER NOT NULL,                                     -- the time of the last row, Unix seconds,
    content BLOB    NOT NULL CHECK (length(content) IN (0, 32)),  -- and its SHA-256, empty until it is complete
    request TEXT    NOT NULL,                                     -- what it was asked to do, and the height of each chain at that time, as JSON
    CHECK (status IN ('RUNNING', 'COMPLETED', 'COMPLETED_WITH_WARNING', 'FAILED'))
) STRICT;

-- Metadata of items that clients had indexed again. The digest covers neither this nor the following tables.
-- No block: of clients
CREATE TABLE nft_reindex (
    asset    BLOB    NOT NULL PRIMARY KEY CHECK (length(asset) BETWEEN 7 AND 39),
    time     INTEGER NOT NULL CHECK (time >= 0),  -- when it looked, Unix seconds of the world's clock
    uri      TEXT,                                -- absent when the contract fails to say
    status   TEXT    NOT NULL,
    document TEXT    NOT NULL                     -- the metadata, empty for none
) STRICT, WITHOUT ROWID;

-- Contracts whose source a client had compiled to code that a chain has.
-- No block: of clients
CREATE TABLE verified (
    code_hash BLOB    NOT NULL PRIMARY KEY CHECK (length(code_hash) = 32),  -- Keccak-256 of the deployed code
    source    TEXT    NOT NULL,                                             -- name of the contract's source, and of the contract
    name      TEXT    NOT NULL,
    compiler  TEXT    NOT NULL,                                             -- long version
    input     BLOB    NOT NULL CHECK (length(input) > 1),                   -- the compiler's standard JSON, packed
    output    BLOB    NOT NULL CHECK (length(output) > 1),
    time      INTEGER NOT NULL CHECK (time >= 0)                            -- by the world's clock, Unix seconds
) STRICT, WITHOUT ROWID;

-- Webhooks of the Data API.
-- No block: of clients
CREATE TABLE webhook (
    id          INTEGER PRIMARY KEY CHECK (id > 0),
    uuid        BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    account     BLOB    NOT NULL CHECK (length(account) = 32),       -- SHA-256 of the API key that made it
    event       TEXT    NOT NULL,
    chain       INTEGER NOT NULL CHECK (chain > 0),                  -- an EVM chain, or a primary chain as primary.sql numbers them
    active      INTEGER NOT NULL CHECK (active IN (0, 1)),
    created     INTEGER NOT NULL CHECK (created >= 0),               -- by the world's clock, Unix milliseconds
    url         TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    description TEXT    NOT NULL,
    internal    INTEGER NOT NULL CHECK (internal IN (0, 1)),         -- whether messages have the internal transactions,
    logs        INTEGER NOT NULL CHECK (logs IN (0, 1)),             -- and the logs
    filter      TEXT    NOT NULL,                                    -- which events it is about, as JSON
    CHECK (event IN ('address_activity', 'primary_network_address_activity', 'validator_activity'))
) STRICT;

-- The keys that a webhook watches: addresses, a node or a subnet.
-- No block: of clients
CREATE TABLE webhook_key (
    webhook INTEGER NOT NULL CHECK (webhook > 0),
    number  INTEGER NOT NULL CHECK (number > 0),              -- counts those of the webhook in the order in which they came
    watched BLOB    NOT NULL CHECK (length(watched) IN (20, 32)),
    PRIMARY KEY (webhook, number),
    UNIQUE (watched, webhook)
) STRICT, WITHOUT ROWID;

-- The secrets that messages are signed with, one for each account.
-- No block: of clients
CREATE TABLE webhook_secret (
    account BLOB NOT NULL PRIMARY KEY CHECK (length(account) = 32),
    secret  BLOB NOT NULL CHECK (length(secret) = 32)
) STRICT, WITHOUT ROWID;

-- Messages for webhooks, written with the block they are about. A message's text follows from the history.
-- No block: goes with the commit that promised it
CREATE TABLE webhook_message (
    webhook INTEGER NOT NULL CHECK (webhook > 0),
    number  INTEGER NOT NULL CHECK (number > 0),               -- counts those of the webhook: the order in which they are delivered
    uuid    BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    event   TEXT    NOT NULL,                                  -- what happened, among what a webhook's event stands for
    tx      INTEGER NOT NULL CHECK (tx >= 0),                  -- position of the transaction, 0 when time alone did it
    subject BLOB    NOT NULL CHECK (length(subject) IN (0, 32)), -- the staker's transaction or the validation that it is about, empty for none
    time    INTEGER NOT NULL CHECK (time >= 0),                -- Unix seconds of the world's clock
    PRIMARY KEY (webhook, number)
) STRICT, WITHOUT ROWID;

-- Deliveries of messages, with wall clock times in Unix milliseconds. A revert does not remove them, so no message is delivered twice.
-- No block: stays when the world goes back
CREATE TABLE webhook_delivery (
    message  BLOB    NOT NULL PRIMARY KEY CHECK (length(message) = 16),
    status   TEXT    NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'void')), -- void: there was nothing to tell
    attempts INTEGER NOT NULL CHECK (attempts >= 0),                                        -- since it was promised, or was to be delivered again
    next     INTEGER NOT NULL CHECK (next >= 0)                                             -- when it is tried again
) STRICT, WITHOUT ROWID;

-- No block: stays when the world goes back
CREATE TABLE webhook_attempt (
    message BLOB    NOT NULL CHECK (length(message) = 16),
    number  INTEGER NOT NULL CHECK (number > 0),
    started INTEGER NOT NULL CHECK (started >= 0),
    took    INTEGER NOT NULL CHECK (took >= 0),  -- milliseconds
    status  INTEGER NOT NULL CHECK (status >= 0), -- of the answer, 0 when there was none
    error   TEXT    NOT NULL,                    -- why there was none, or why it does not count
    answer  TEXT    NOT NULL,                    -- the beginning of its body
    PRIMARY KEY (message, number)
) STRICT, WITHOUT ROWID;

-- The steps that undo each commit since the world was generated, in order, with the state of the world after it. This table and the
-- next two are never undone themselves.
-- No block: the undo log
CREATE TABLE undo (
    sequence INTEGER PRIMARY KEY CHECK (sequence > 0),       -- counts the commits
    clock    INTEGER NOT NULL CHECK (clock >= 0),            -- the world's time, Unix milliseconds
    digest   BLOB    NOT NULL CHECK (length(digest) = 32),   -- the world's
    sum      INTEGER NOT NULL CHECK (sum BETWEEN 0 AND 4294967295),  -- CRC-32 of the rest of the row
    steps    BLOB    NOT NULL                                -- what to do to the rows that the commit changed, the last first (package undo)
) STRICT;

-- Commits to which clients can revert.
-- No block: the undo log
CREATE TABLE snapshot (
    id       INTEGER PRIMARY KEY CHECK (id > 0),             -- of no snapshot before
    name     TEXT    NOT NULL,                               -- empty for none
    created  INTEGER NOT NULL CHECK (created >= 0),          -- the world's time, Unix milliseconds
    sequence INTEGER NOT NULL CHECK (sequence >= 0),         -- the last commit before it
    digest   BLOB    NOT NULL CHECK (length(digest) = 32),   -- the world's
    memory   BLOB    NOT NULL                                -- what was in the memory of the process, as JSON
) STRICT;

-- Counters that no revert or reset lowers.
-- No block: the undo log
CREATE TABLE undo_count (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    snapshots INTEGER NOT NULL CHECK (snapshots >= 0),       -- that were taken
    resets    INTEGER NOT NULL CHECK (resets >= 0)           -- to the freshly generated world
) STRICT;
