// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

library Sums {
    function sum(uint256 a, uint256 b) external pure returns (uint256) {
        return a + b;
    }
}

contract Counter {
    uint256 public immutable step;
    uint256 public count;

    error TooMany(address caller, uint256 count);
    event Counted(address indexed by, uint256 count);

    constructor(uint256 by) {
        require(by != 0, "Counter: no step");
        step = by;
    }

    function add(uint256 times) external {
        if (times > 10) {
            revert TooMany(msg.sender, times);
        }
        count = next(times);
        emit Counted(msg.sender, count);
    }

    function next(uint256 times) internal view returns (uint256) {
        require(times != 7, "Counter: not seven");
        return Sums.sum(count, step * times);
    }
}

contract Maker {
    function make(uint256 by) external returns (Counter) {
        return new Counter(by);
    }
}
