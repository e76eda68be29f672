-- Secondary indexes. A generation makes them last: sorting once is cheaper than inserting in random order. Hashes are
-- not unique: a transaction without a chain id can be on several chains.
CREATE INDEX block_hash ON block (hash);
CREATE INDEX tx_hash ON tx (hash);
CREATE INDEX log_address ON log (address, id);
CREATE INDEX log_topic ON log (topic, id);
CREATE INDEX contract_role ON contract (chain, role);
CREATE INDEX tx_failed ON tx (id) WHERE status = 0;
CREATE INDEX tx_created ON tx (created, id) WHERE created IS NOT NULL;
