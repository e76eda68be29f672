-- Secondary indexes. A generation makes them last: sorting once is cheaper than inserting in random order. Hashes are
-- not unique: a transaction without a chain id can be on several chains. Indexes of hashes and of logs hold only the beginning of a
-- value, because the row is read anyway. The engine appends the row's id, mostly a position, to the columns of each index, so its rows
-- are in that order.
CREATE INDEX block_hash ON block (substr(hash, 1, 6));
CREATE INDEX tx_hash ON tx (substr(hash, 1, 6));
CREATE INDEX log_address ON log (substr(address, 1, 6));
CREATE INDEX log_topic ON log (substr(topic, 1, 6));
-- Messages that chains sent through the warp precompile (SendWarpMessage has number 1), by their ids, the last topic.
CREATE INDEX log_warp ON log (substr(topics, -32)) WHERE topic = X'01';
CREATE INDEX message_time ON message (time);
CREATE INDEX message_hash ON message (hash, time);
CREATE INDEX message_source ON message (source, time);
CREATE INDEX message_destination ON message (destination, time);
CREATE INDEX message_sender ON message (sender, time);
CREATE INDEX message_recipient ON message (recipient, time);
CREATE INDEX message_event_hash ON message_event (hash);
CREATE INDEX contract_role ON contract (chain, role);
CREATE INDEX account_gone ON account (chain, address) WHERE gone = 1;
CREATE INDEX tx_sender ON tx (sender);
CREATE INDEX tx_party ON tx (ifnull(recipient, created));
CREATE INDEX tx_failed ON tx (id) WHERE status = 0;
CREATE INDEX call_sender ON call (sender) WHERE type <> 'SELFDESTRUCT';
CREATE INDEX call_recipient ON call (recipient) WHERE type <> 'SELFDESTRUCT';
CREATE INDEX token_address ON token (address);
CREATE INDEX deployment_address ON deployment (address);
CREATE INDEX deployment_sender ON deployment (sender);
CREATE INDEX deployment_creator ON deployment (creator) WHERE creator IS NOT NULL;
CREATE INDEX transfer_sender ON transfer (sender, standard);
CREATE INDEX transfer_recipient ON transfer (recipient, standard);
CREATE INDEX transfer_token ON transfer (substr(asset, 1, 6));
CREATE INDEX operation_uuid ON operation (uuid);
CREATE INDEX operation_running ON operation (id) WHERE status = 'RUNNING';
CREATE INDEX operation_ended ON operation (updated) WHERE status <> 'RUNNING';
CREATE INDEX webhook_account ON webhook (account);
CREATE INDEX webhook_active ON webhook (id) WHERE active = 1;
