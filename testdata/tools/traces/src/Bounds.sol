// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

library Bounds {
    error OutOfBounds(uint256 value, uint256 most);

    function checked(uint256 value, uint256 most) internal pure returns (uint256) {
        if (value > most) revert OutOfBounds(value, most);
        return value;
    }
}

/// @dev Deployed and linked: its functions are external.
library Ledger {
    error Missing(uint256 key);

    function read(mapping(uint256 => uint256) storage entries, uint256 key) external view returns (uint256) {
        if (entries[key] == 0) revert Missing(key);
        return entries[key];
    }
}
