-- Secondary indexes of the primary network, made last as the others are.
CREATE INDEX primary_block_hash ON primary_block (hash);
CREATE INDEX primary_block_proposer ON primary_block (proposer, id) WHERE proposer IS NOT NULL;
CREATE INDEX primary_tx_hash ON primary_tx (hash);
CREATE INDEX primary_tx_type ON primary_tx (type, id);
CREATE INDEX utxo_mark ON utxo (mark);
CREATE INDEX utxo_owner_live ON utxo_owner (address, chain, utxo) WHERE live = 1;
CREATE INDEX asset_hash ON asset (hash);
CREATE INDEX staker_tx ON staker (tx);
CREATE INDEX staker_node ON staker (node, id);
CREATE INDEX staker_subnet ON staker (subnet, id);
CREATE INDEX l1_validator_validation ON l1_validator (validation);
CREATE INDEX l1_validator_subnet ON l1_validator (subnet, id);
CREATE INDEX l1_validator_node ON l1_validator (node, id);
CREATE INDEX subnet_hash ON subnet (hash);
CREATE INDEX blockchain_hash ON blockchain (hash);
CREATE INDEX blockchain_subnet ON blockchain (subnet, id);
CREATE INDEX block_atomic ON block (id) WHERE ext_data IS NOT NULL;
CREATE INDEX utxo_locked ON utxo (chain) WHERE spent IS NULL AND amount <> 0 AND substr(out, 13, 8) <> x'0000000000000000';
