-- Secondary indexes. A generation makes them last: sorting once is cheaper than inserting in random order.
CREATE UNIQUE INDEX block_hash ON block (hash);
CREATE UNIQUE INDEX tx_hash ON tx (hash);
CREATE INDEX log_address ON log (address, id);
CREATE INDEX log_topic ON log (topic, id);
CREATE INDEX contract_role ON contract (chain, role);
