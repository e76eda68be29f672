// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @dev The part of Hardhat's and forge-std's console that the corpus uses.
library console {
    address private constant CONSOLE = 0x000000000000000000636F6e736F6c652e6c6f67;

    function send(bytes memory payload) private view {
        address to = CONSOLE;
        assembly {
            pop(staticcall(gas(), to, add(payload, 32), mload(payload), 0, 0))
        }
    }

    function log(string memory text, uint256 n) internal view {
        send(abi.encodeWithSignature("log(string,uint256)", text, n));
    }

    function log(string memory text, address a, bool b, int256 n) internal view {
        send(abi.encodeWithSignature("log(string,address,bool,uint256)", text, a, b, uint256(n)));
    }
}
