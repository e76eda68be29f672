// SPDX-License-Identifier: MIT
pragma solidity ^0.8.22;

import {Initializable} from "@openzeppelin/contracts-upgradeable/proxy/utils/Initializable.sol";

contract Box is Initializable {
    uint256 public value;

    function initialize(uint256 value_) external initializer {
        value = value_;
    }
}

contract BoxV2 is Initializable {
    uint256 public value;

    function initialize(uint256 value_) external initializer {
        value = value_;
    }

    function increase() external {
        value++;
    }
}
