// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Counter} from "../src/Counter.sol";

interface Vm {
    function startBroadcast() external;
    function stopBroadcast() external;
}

/// @notice Deploys two counters, one at an address chosen by a salt, and counts with both.
contract Deploy {
    bool public constant IS_SCRIPT = true;
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function run() external returns (Counter first, Counter second) {
        vm.startBroadcast();
        first = new Counter();
        second = new Counter{salt: keccak256("snowglobe")}();
        first.add(3);
        second.add(4);
        vm.stopBroadcast();
        require(first.number() == 3 && second.number() == 4, "counted wrong");
    }
}
