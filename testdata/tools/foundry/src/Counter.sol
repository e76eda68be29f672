// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @notice What the script deploys: it counts, tells so, and refuses to count too far.
contract Counter {
    event Counted(address indexed who, uint256 number);

    error TooFar(uint256 number, uint256 limit);

    uint256 public number;
    address public immutable owner = msg.sender;

    function add(uint256 by) external {
        if (number + by > 100) revert TooFar(number + by, 100);
        number += by;
        emit Counted(msg.sender, number);
    }
}
