// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Doubling} from "./Doubling.sol";

abstract contract Counting {
    uint256 public immutable start;
    uint256 public number;
    string public name;

    constructor(uint256 start_, string memory name_) {
        start = number = start_;
        name = name_;
    }

    function bump(uint256 more) external payable {
        number = Doubling.double(number) + more + kind();
    }

    function kind() internal pure virtual returns (uint256);
}

contract First is Counting {
    constructor(uint256 start_, string memory name_) Counting(start_, name_) {}

    function kind() internal pure override returns (uint256) {
        return 1;
    }
}

contract Second is Counting {
    constructor(uint256 start_, string memory name_) Counting(start_, name_) {}

    function kind() internal pure override returns (uint256) {
        return 22;
    }
}

contract Third is Counting {
    constructor(uint256 start_, string memory name_) Counting(start_, name_) {}

    function kind() internal pure override returns (uint256) {
        return 333;
    }
}

contract Fourth is Counting {
    constructor(uint256 start_, string memory name_) Counting(start_, name_) {}

    function kind() internal pure override returns (uint256) {
        return 4444;
    }
}
