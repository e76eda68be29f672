// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

library Doubling {
    function double(uint256 x) internal pure returns (uint256) {
        return 2 * x;
    }
}
