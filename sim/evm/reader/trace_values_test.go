package reader_test

// changedSender is the sender's part of a change: a value of three moved, and the nonce counted on.
const changedSender = `"0xcd1722f3947def4cf144679da39c4c32bdc35681":{"balance":{"*":{"from":"0xfffffffffffffffffffc6606","to":"0xfffffffffffffffffffc6603"}},"code":"=","nonce":{"*":{"from":"0x3","to":"0x4"}},"storage":{}}`

// wantSteps has for each code its steps: where, what it costs, the steps of its call, what it writes, pushes and stores, and the gas left.
var wantSteps = map[string]string{
	"a call": `0 PUSH1 3 pushes 0x2a, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 MSTORE 6 writes 0x…000000000000002a at 0, 178909; 4 PUSH1 3 pushes 0x20, 178906; 6 ` +
		`PUSH1 3 pushes 0x40, 178903; 8 PUSH1 3 pushes 0x20, 178900; 10 PUSH0 2 pushes 0x0, 178898; 11 PUSH1 3 pushes 0x7, 178895; 13 PUSH2 3 pushes 0xaa02, ` +
		`178892; 16 GAS 2 pushes 0x2baca, 178890; 17 CALL 176277 (0 PUSH0 2 pushes 0x0, 166969; 1 CALLDATALOAD 3 pushes 0x2a, 166966; 2 PUSH0 2 pushes 0x0, ` +
		`166964; 3 SSTORE 5000 stores 0x2a in 0x0, 161964; 4 PUSH1 3 pushes 0x2, 161961; 6 SLOAD 2100 pushes 0x9, 159861; 7 PUSH0 2 pushes 0x0, 159859; 8 ` +
		`MSTORE 6 writes 0x…0000000000000009 at 0, 159853; 9 PUSH1 3 pushes 0x20, 159850; 11 PUSH0 2 pushes 0x0, 159848; 12 RETURN 0, 159848) writes ` +
		`0x…0000000000000009 at 64 pushes 0x1, 162461; 18 STOP 0, 162461`,
	"a call of nobody": `0 PUSH0 2 pushes 0x0, 178918; 1 PUSH0 2 pushes 0x0, 178916; 2 PUSH0 2 pushes 0x0, 178914; 3 PUSH0 2 pushes 0x0, 178912; 4 PUSH1 3 pushes 0x7, 178909; ` +
		`6 PUSH2 3 pushes 0xaa04, 178906; 9 GAS 2 pushes 0x2bad8, 178904; 10 CALL 176681 () pushes 0x1, 144604; 11 STOP 0, 144604`,
	"a call that fails": `0 PUSH1 3 pushes 0x20, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 PUSH0 2 pushes 0x0, 178913; 4 PUSH0 2 pushes 0x0, 178911; 5 PUSH0 2 pushes 0x0, ` +
		`178909; 6 PUSH2 3 pushes 0xaa03, 178906; 9 GAS 2 pushes 0x2bad8, 178904; 10 CALL 176150 (0 PUSH1 3 pushes 0x1, 173544; 2 PUSH0 2 pushes 0x0, 173542; ` +
		`3 SSTORE 22100 stores 0x1 in 0x0, 151442; 4 PUSH1 3 pushes 0x2a, 151439; 6 PUSH0 2 pushes 0x0, 151437; 7 MSTORE 6 writes 0x…000000000000002a at 0, ` +
		`151431; 8 PUSH1 3 pushes 0x20, 151428; 10 PUSH0 2 pushes 0x0, 151426; 11 REVERT 0, 151426) writes 0x…000000000000002a at 0 pushes 0x0, 154180; 11 ` +
		`RETURNDATASIZE 2 pushes 0x20, 154178; 12 PUSH0 2 pushes 0x0, 154176; 13 PUSH0 2 pushes 0x0, 154174; 14 RETURNDATACOPY 6 writes 0x…000000000000002a at ` +
		`0, 154168; 15 STOP 0, 154168`,
	"a call without coin": `0 PUSH0 2 pushes 0x0, 178918; 1 PUSH0 2 pushes 0x0, 178916; 2 PUSH0 2 pushes 0x0, 178914; 3 PUSH0 2 pushes 0x0, 178912; 4 PUSH2 3 pushes 0xffff, ` +
		`178909; 7 PUSH2 3 pushes 0xaa01, 178906; 10 GAS 2 pushes 0x2bad8, 178904; 11 CALL 176290 () pushes 0x0, 169604; 12 STOP 0, 169604`,
	"a creation": `0 PUSH5 3 pushes 0x60016000f3, 178917; 6 PUSH0 2 pushes 0x0, 178915; 7 MSTORE 6 writes 0x…00000060016000f3 at 0, 178909; 8 PUSH1 3 pushes 0x5, ` +
		`178906; 10 PUSH1 3 pushes 0x1b, 178903; 12 PUSH1 3 pushes 0x7, 178900; 14 CREATE 32002 (0 PUSH1 3 pushes 0x1, 144600; 2 PUSH1 3 pushes 0x0, 144597; 4 ` +
		`RETURN 3, 144594) pushes 0xce23644aafc579f2fa3138eaf10ccc973a966314, 146689; 15 STOP 0, 146689`,
	"a failed creation": `0 PUSH5 3 pushes 0x60016000fd, 178917; 6 PUSH0 2 pushes 0x0, 178915; 7 MSTORE 6 writes 0x…00000060016000fd at 0, 178909; 8 PUSH1 3 pushes 0x5, ` +
		`178906; 10 PUSH1 3 pushes 0x1b, 178903; 12 PUSH0 2 pushes 0x0, 178901; 13 CREATE 32002 (0 PUSH1 3 pushes 0x1, 144601; 2 PUSH1 3 pushes 0x0, 144598; 4 ` +
		`REVERT 3, 144595) pushes 0x0, 146890; 14 STOP 0, 146890`,
	"a jump": `0 PUSH1 3 pushes 0x1, 178917; 2 PUSH1 3 pushes 0x7, 178914; 4 JUMPI 10, 178904; 7 JUMPDEST 1, 178903; 8 STOP 0, 178903`,
	"a precompile": `0 PUSH1 3 pushes 0x2a, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 MSTORE 6 writes 0x…000000000000002a at 0, 178909; 4 PUSH1 3 pushes 0x20, 178906; 6 ` +
		`PUSH1 3 pushes 0x20, 178903; 8 PUSH1 3 pushes 0x20, 178900; 10 PUSH0 2 pushes 0x0, 178898; 11 PUSH1 3 pushes 0x4, 178895; 13 GAS 2 pushes 0x2bacd, ` +
		`178893; 14 STATICCALL 176100 writes 0x…000000000000002a at 32 pushes 0x1, 178772; 15 STOP 0, 178772`,
	"a result": `0 PUSH1 3 pushes 0x2a, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 MSTORE 6 writes 0x…000000000000002a at 0, 178909; 4 PUSH1 3 pushes 0x20, 178906; 6 ` +
		`PUSH0 2 pushes 0x0, 178904; 7 RETURN 0, 178904`,
	"a revert": `0 PUSH1 3 pushes 0x1, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 SSTORE 22100 stores 0x1 in 0x0, 156815; 4 PUSH1 3 pushes 0x2a, 156812; 6 PUSH0 2 pushes ` +
		`0x0, 156810; 7 MSTORE 6 writes 0x…000000000000002a at 0, 156804; 8 PUSH1 3 pushes 0x20, 156801; 10 PUSH0 2 pushes 0x0, 156799; 11 REVERT 0, 156799`,
	"a second creation": `0 PUSH5 3 pushes 0x60016000f3, 178917; 6 PUSH0 2 pushes 0x0, 178915; 7 MSTORE 6 writes 0x…00000060016000f3 at 0, 178909; 8 PUSH1 3 pushes 0x63, ` +
		`178906; 10 PUSH1 3 pushes 0x5, 178903; 12 PUSH1 3 pushes 0x1b, 178900; 14 PUSH1 3 pushes 0x7, 178897; 16 CREATE2 32008 (0 PUSH1 3 pushes 0x1, 144591; ` +
		`2 PUSH1 3 pushes 0x0, 144588; 4 RETURN 3, 144585) pushes 0x45b903b901d5324a7211595ddedddda33724bdff, 146680; 17 STOP 0, 146680`,
	"a slot out of gas": `0 PUSH1 3 pushes 0x1, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 SSTORE 22100 stores 0x1 in 0x0, 156815; 4 JUMPDEST 1, 156814; 5 PUSH1 3 pushes 0x5, ` +
		`156811; 7 JUMP 8 fails`,
	"an end in a call": `0 PUSH1 3 pushes 0xff, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 MSTORE8 6 writes 0xff at 0, 178909; 4 STOP 0, 178909`,
	"an unknown step":  `0 PUSH1 3 pushes 0x1, 178917; 2 opcode 0xc not defined 0 fails`,
	"beyond memory": `0 PUSH1 3 pushes 0x63, 178917; 2 PUSH1 3 pushes 0x20, 178914; 4 PUSH2 3 pushes 0x5dc, 178911; 7 PUSH0 2 pushes 0x0, 178909; 8 CREATE2 32156 (0 STOP 0,` +
		` 144460) pushes 0x83bd97a5d46cc2ba5fe9460e59cadb7d82ece7ae, 146753; 9 POP 2, 146751; 10 PUSH1 3 pushes 0x63, 146748; 12 PUSH4 3 pushes 0xfffff, ` +
		`146745; 17 PUSH2 3 pushes 0x5dc, 146742; 20 PUSH0 2 pushes 0x0, 146740; 21 CREATE2 32000 fails`,
	"copied code": `0 PUSH1 3 pushes 0x4, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 PUSH1 3 pushes 0x3, 178912; 5 PUSH2 3 pushes 0xaa02, 178909; 8 EXTCODECOPY 2606 writes ` +
		`0x5f355f55 at 3, 176303; 9 STOP 0, 176303`,
	"its end": `0 PUSH2 3 pushes 0xaa01, 178917; 3 SELFDESTRUCT 7600, 171317`,
	"logs": `0 PUSH1 3 pushes 0x1, 178917; 2 PUSH1 3 pushes 0x2, 178914; 4 PUSH1 3 pushes 0x3, 178911; 6 PUSH1 3 pushes 0x4, 178908; 8 PUSH1 3 pushes 0x2a, ` +
		`178905; 10 PUSH0 2 pushes 0x0, 178903; 11 MSTORE 6 writes 0x…000000000000002a at 0, 178897; 12 PUSH1 3 pushes 0x1, 178894; 14 PUSH1 3 pushes 0x1f, ` +
		`178891; 16 LOG4 1883, 177008; 17 STOP 0, 177008`,
	"memory": `0 PUSH2 3 pushes 0xbeef, 178917; 3 PUSH0 2 pushes 0x0, 178915; 4 MSTORE 6 writes 0x…000000000000beef at 0, 178909; 5 PUSH1 3 pushes 0xcc, 178906; 7 ` +
		`PUSH1 3 pushes 0x21, 178903; 9 MSTORE8 6 writes 0xcc at 33, 178897; 10 PUSH1 3 pushes 0x4, 178894; 12 PUSH1 3 pushes 0x1, 178891; 14 PUSH1 3 pushes ` +
		`0x41, 178888; 16 MCOPY 9 writes 0x00000000 at 65, 178879; 17 PUSH1 3 pushes 0x3, 178876; 19 PUSH0 2 pushes 0x0, 178874; 20 PUSH1 3 pushes 0x60, ` +
		`178871; 22 CALLDATACOPY 9 writes 0x010203 at 96, 178862; 23 PUSH1 3 pushes 0x3, 178859; 25 PUSH0 2 pushes 0x0, 178857; 26 PUSH1 3 pushes 0x80, ` +
		`178854; 28 CODECOPY 9 writes 0x61beef at 128, 178845; 29 PUSH1 3 pushes 0x1, 178842; 31 MLOAD 3 writes 0x…0000000000beef00 at 1 pushes 0xbeef00, ` +
		`178839; 32 STOP 0, 178839`,
	"nothing": ``,
	"other accounts": `0 PUSH2 3 pushes 0xaa01, 178917; 3 BALANCE 2600 pushes 0x3e8, 176317; 4 PUSH2 3 pushes 0xaa02, 176314; 7 EXTCODESIZE 2600 pushes 0xd, 173714; 8 PUSH2 ` +
		`3 pushes 0xaa03, 173711; 11 EXTCODEHASH 2600 pushes 0xa52d8b155ff6d73128d411ec32efa009a3404d6a01d33c091e5c0d6d70b65431, 171111; 12 PUSH2 3 pushes ` +
		`0xaa04, 171108; 15 BALANCE 2600 pushes 0x0, 168508; 16 PUSH2 3 pushes 0xaa05, 168505; 19 EXTCODEHASH 2600 pushes 0x0, 165905; 20 STOP 0, 165905`,
	"other calls": `0 PUSH1 3 pushes 0x2a, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 MSTORE 6 writes 0x…000000000000002a at 0, 178909; 4 PUSH1 3 pushes 0x20, 178906; 6 ` +
		`PUSH1 3 pushes 0x40, 178903; 8 PUSH1 3 pushes 0x20, 178900; 10 PUSH0 2 pushes 0x0, 178898; 11 PUSH2 3 pushes 0xaa02, 178895; 14 GAS 2 pushes 0x2bacd, ` +
		`178893; 15 STATICCALL 176139 (0 PUSH0 2 pushes 0x0, 173531; 1 CALLDATALOAD 3 pushes 0x2a, 173528; 2 PUSH0 2 pushes 0x0, 173526; 3 SSTORE 0 fails) ` +
		`writes 0x…0000000000000000 at 64 pushes 0x0, 2754; 16 PUSH1 3 pushes 0x20, 2751; 18 PUSH1 3 pushes 0x40, 2748; 20 PUSH1 3 pushes 0x20, 2745; 22 PUSH0 ` +
		`2 pushes 0x0, 2743; 23 PUSH2 3 pushes 0xaa02, 2740; 26 GAS 2 pushes 0xab2, 2738; 27 DELEGATECALL 2697 (0 PUSH0 2 pushes 0x0, 2595; 1 CALLDATALOAD 3 ` +
		`pushes 0x2a, 2592; 2 PUSH0 2 pushes 0x0, 2590; 3 SSTORE 22100 fails) writes 0x…0000000000000000 at 64 pushes 0x0, 41; 28 PUSH1 3 pushes 0x20, 38; 30 ` +
		`PUSH1 3 pushes 0x40, 35; 32 PUSH1 3 pushes 0x20, 32; 34 PUSH0 2 pushes 0x0, 30; 35 PUSH0 2 pushes 0x0, 28; 36 PUSH2 3 pushes 0xaa02, 25; 39 GAS 2 ` +
		`pushes 0x17, 23; 40 CALLCODE 100 fails`,
	"slots": `0 PUSH1 3 pushes 0x1, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 SSTORE 22100 stores 0x1 in 0x0, 156815; 4 PUSH0 2 pushes 0x0, 156813; 5 PUSH1 3 pushes ` +
		`0x2, 156810; 7 SSTORE 5000 stores 0x0 in 0x2, 151810; 8 PUSH1 3 pushes 0x4, 151807; 10 SLOAD 2100 pushes 0x6, 149707; 11 PUSH1 3 pushes 0x4, 149704; ` +
		`13 SSTORE 100 stores 0x6 in 0x4, 149604; 14 PUSH1 3 pushes 0x8, 149601; 16 PUSH1 3 pushes 0x6, 149598; 18 SSTORE 5000 stores 0x8 in 0x6, 144598; 19 ` +
		`PUSH1 3 pushes 0x6, 144595; 21 SLOAD 100 pushes 0x8, 144495; 22 POP 2, 144493; 23 PUSH1 3 pushes 0x8, 144490; 25 SLOAD 2100 pushes 0x0, 142390; 26 ` +
		`POP 2, 142388; 27 STOP 0, 142388`,
	"slots changed back": `0 PUSH1 3 pushes 0x1, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 SSTORE 22100 stores 0x1 in 0x0, 156815; 4 PUSH0 2 pushes 0x0, 156813; 5 PUSH0 2 pushes ` +
		`0x0, 156811; 6 SSTORE 100 stores 0x0 in 0x0, 156711; 7 PUSH0 2 pushes 0x0, 156709; 8 PUSH1 3 pushes 0x2, 156706; 10 SSTORE 5000 stores 0x0 in 0x2, ` +
		`151706; 11 PUSH1 3 pushes 0x5, 151703; 13 PUSH1 3 pushes 0x2, 151700; 15 SSTORE 100 stores 0x5 in 0x2, 151600; 16 STOP 0, 151600`,
	"stack": `0 PUSH1 3 pushes 0x1, 178917; 2 PUSH1 3 pushes 0x2, 178914; 4 PUSH1 3 pushes 0x3, 178911; 6 DUP2 3 pushes 0x2 0x3 0x2, 178908; 7 SWAP1 3 pushes 0x2 ` +
		`0x3, 178905; 8 SWAP3 3 pushes 0x3 0x2 0x2 0x1, 178902; 9 POP 2, 178900; 10 GAS 2 pushes 0x2bad2, 178898; 11 JUMPDEST 1, 178897; 12 STOP 0, 178897`,
	"too few":            `0 PUSH1 3 pushes 0x1, 178917; 2 SSTORE 0 fails`,
	"too few for a call": `0 PUSH1 3 pushes 0x1, 178917; 2 PUSH1 3 pushes 0x2, 178914; 4 CALL 100 fails`,
	"transient": `0 PUSH1 3 pushes 0x1, 178917; 2 PUSH0 2 pushes 0x0, 178915; 3 TSTORE 100, 178815; 4 PUSH0 2 pushes 0x0, 178813; 5 TLOAD 100 pushes 0x1, 178713; 6 ` +
		`STOP 0, 178713`,
}

// wantChanges has accounts before and after, without the sender where that is as in changedSender.
var wantChanges = map[string]string{
	"a call": `{"0x0000000000000000000000000000000000000b0b":{"balance":{"*":{"from":"0x3e8","to":"0x3e4"}},"code":"=","nonce":"=","storage":{}},` +
		`"0x000000000000000000000000000000000000aa02":{"balance":{"*":{"from":"0x0","to":"0x7"}},"code":"=","nonce":"=",` +
		`"storage":{"0x0000000000000000000000000000000000000000000000000000000000000000":{"*":{"from":"0x000000000000000000000000000000000000000000000000000000` +
		`0000000003","to":"0x000000000000000000000000000000000000000000000000000000000000002a"}}}},}`,
	"a call of nobody": `{"0x0000000000000000000000000000000000000b0b":{"balance":{"*":{"from":"0x3e8","to":"0x3e4"}},"code":"=","nonce":"=","storage":{}},` +
		`"0x000000000000000000000000000000000000aa04":{"balance":{"+":"0x7"},"code":{"+":"0x"},"nonce":{"+":"0x0"},"storage":{}},}`,
	"a creation": `{"0x0000000000000000000000000000000000000b0b":{"balance":{"*":{"from":"0x3e8","to":"0x3e4"}},"code":"=","nonce":{"*":{"from":"0x1","to":"0x2"}},` +
		`"storage":{}},,"0xce23644aafc579f2fa3138eaf10ccc973a966314":{"balance":{"+":"0x7"},"code":{"+":"0x00"},"nonce":{"+":"0x1"},"storage":{}}}`,
	"a failed creation": `{"0x0000000000000000000000000000000000000b0b":{"balance":{"*":{"from":"0x3e8","to":"0x3eb"}},"code":"=","nonce":{"*":{"from":"0x1","to":"0x2"}},` +
		`"storage":{}},}`,
	"a revert": `{"0xcd1722f3947def4cf144679da39c4c32bdc35681":{"balance":"=","code":"=","nonce":{"*":{"from":"0x3","to":"0x4"}},"storage":{}}}`,
	"its end": `{"0x0000000000000000000000000000000000000b0b":{"balance":{"*":{"from":"0x3e8","to":"0x0"}},"code":"=","nonce":"=","storage":{}},` +
		`"0x000000000000000000000000000000000000aa01":{"balance":{"*":{"from":"0x3e8","to":"0x7d3"}},"code":"=","nonce":"=","storage":{}},}`,
	"nothing": `{"0x0000000000000000000000000000000000000b0b":{"balance":{"*":{"from":"0x3e8","to":"0x3eb"}},"code":"=","nonce":"=","storage":{}},}`,
	"slots": `{"0x0000000000000000000000000000000000000b0b":{"balance":{"*":{"from":"0x3e8","to":"0x3eb"}},"code":"=","nonce":"=",` +
		`"storage":{"0x0000000000000000000000000000000000000000000000000000000000000000":{"*":{"from":"0x000000000000000000000000000000000000000000000000000000` +
		`0000000000","to":"0x0000000000000000000000000000000000000000000000000000000000000001"}},` +
		`"0x0000000000000000000000000000000000000000000000000000000000000002":{"*":{"from":"0x0000000000000000000000000000000000000000000000000000000000000005"` +
		`,"to":"0x0000000000000000000000000000000000000000000000000000000000000000"}},` +
		`"0x0000000000000000000000000000000000000000000000000000000000000006":{"*":{"from":"0x0000000000000000000000000000000000000000000000000000000000000007"` +
		`,"to":"0x0000000000000000000000000000000000000000000000000000000000000008"}}}},}`,
	"slots changed back": `{"0x0000000000000000000000000000000000000b0b":{"balance":{"*":{"from":"0x3e8","to":"0x3eb"}},"code":"=","nonce":"=","storage":{}},}`,
	"other calls":        `{"0xcd1722f3947def4cf144679da39c4c32bdc35681":{"balance":"=","code":"=","nonce":{"*":{"from":"0x3","to":"0x4"}},"storage":{}}}`,
}

// wantCosts has how often each opcode was executed, and what it cost without the gas that calls passed on.
var wantCosts = map[string]string{
	"a call": `[{"opcode":"CALL","count":1,"gasUsed":11606},{"opcode":"CALLDATALOAD","count":1,"gasUsed":3},{"opcode":"GAS","count":1,"gasUsed":2},` +
		`{"opcode":"MSTORE","count":2,"gasUsed":12},{"opcode":"PUSH0","count":6,"gasUsed":12},{"opcode":"PUSH1","count":7,"gasUsed":21},{"opcode":"PUSH2",` +
		`"count":1,"gasUsed":3},{"opcode":"RETURN","count":1,"gasUsed":0},{"opcode":"SLOAD","count":1,"gasUsed":2100},{"opcode":"SSTORE","count":1,` +
		`"gasUsed":5000},{"opcode":"STOP","count":1,"gasUsed":0}]`,
	"a call of nobody": `[{"opcode":"CALL","count":1,"gasUsed":36600},{"opcode":"GAS","count":1,"gasUsed":2},{"opcode":"PUSH0","count":4,"gasUsed":8},{"opcode":"PUSH1",` +
		`"count":1,"gasUsed":3},{"opcode":"PUSH2","count":1,"gasUsed":3},{"opcode":"STOP","count":1,"gasUsed":0}]`,
	"a call that fails": `[{"opcode":"CALL","count":1,"gasUsed":2603},{"opcode":"GAS","count":1,"gasUsed":2},{"opcode":"MSTORE","count":1,"gasUsed":6},{"opcode":"PUSH0",` +
		`"count":9,"gasUsed":18},{"opcode":"PUSH1","count":4,"gasUsed":12},{"opcode":"PUSH2","count":1,"gasUsed":3},{"opcode":"RETURNDATACOPY","count":1,` +
		`"gasUsed":6},{"opcode":"RETURNDATASIZE","count":1,"gasUsed":2},{"opcode":"REVERT","count":1,"gasUsed":0},{"opcode":"SSTORE","count":1,` +
		`"gasUsed":22100},{"opcode":"STOP","count":1,"gasUsed":0}]`,
	"a creation": `[{"opcode":"CREATE","count":1,"gasUsed":32002},{"opcode":"MSTORE","count":1,"gasUsed":6},{"opcode":"PUSH0","count":1,"gasUsed":2},{"opcode":"PUSH1",` +
		`"count":5,"gasUsed":15},{"opcode":"PUSH5","count":1,"gasUsed":3},{"opcode":"RETURN","count":1,"gasUsed":3},{"opcode":"STOP","count":1,"gasUsed":0}]`,
	"other calls": `[{"opcode":"CALLCODE","count":1,"gasUsed":100},{"opcode":"CALLDATALOAD","count":2,"gasUsed":6},{"opcode":"DELEGATECALL","count":1,"gasUsed":100},` +
		`{"opcode":"GAS","count":3,"gasUsed":6},{"opcode":"MSTORE","count":1,"gasUsed":6},{"opcode":"PUSH0","count":9,"gasUsed":18},{"opcode":"PUSH1",` +
		`"count":10,"gasUsed":30},{"opcode":"PUSH2","count":3,"gasUsed":9},{"opcode":"SSTORE","count":2,"gasUsed":22100},{"opcode":"STATICCALL","count":1,` +
		`"gasUsed":2606}]`,
	"nothing": `[]`,
	"slots": `[{"opcode":"POP","count":2,"gasUsed":4},{"opcode":"PUSH0","count":2,"gasUsed":4},{"opcode":"PUSH1","count":8,"gasUsed":24},{"opcode":"SLOAD",` +
		`"count":3,"gasUsed":4300},{"opcode":"SSTORE","count":4,"gasUsed":32200},{"opcode":"STOP","count":1,"gasUsed":0}]`,
	"an unknown step": `[{"opcode":"PUSH1","count":1,"gasUsed":3},{"opcode":"opcode 0xc not defined","count":1,"gasUsed":0}]`,
}
