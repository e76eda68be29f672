// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Bounds} from "./Bounds.sol";
import {console} from "./console.sol";

error Unfunded(address account, uint256 balance, uint256 needed);

abstract contract Owned {
    address public owner;

    error NotOwner(address caller);

    constructor(address first) {
        require(first != address(0), "Owned: no owner");
        owner = first;
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }
}

/// @dev Every function fails in its own way. "}" and { in comments and strings confuse no one.
contract Vault is Owned {
    using Bounds for uint256;

    enum Colour { Red, Green }

    uint256 public immutable limit;
    uint256[] public items;
    mapping(address => uint256) public balances;
    function (uint256) internal returns (uint256) hook;

    constructor(uint256 most) Owned(msg.sender) {
        require(most > 0, "Vault: limit is zero");
        limit = most;
    }

    function withText(uint256 amount) external pure {
        require(amount < 10, "Vault: too much }{");
    }

    function withoutText(uint256 amount) external pure {
        require(amount < 10);
    }

    function guards(uint256 a, uint256 b) external pure {
        require(a > 1);
        require(b > 1);
    }

    function withRevertText() external pure {
        revert("Vault: always");
    }

    function withError(uint256 needed) external view {
        if (balances[msg.sender] < needed) {
            revert Unfunded(msg.sender, balances[msg.sender], needed);
        }
    }

    function guarded() external onlyOwner {
        items.push(1);
    }

    function overflow(uint256 a) external pure returns (uint256) {
        return a + type(uint256).max;
    }

    function underflow(uint256 a) external pure returns (uint256) {
        uint256 b = a - 1;
        return b;
    }

    function divide(uint256 a, uint256 b) external pure returns (uint256) {
        return a / b;
    }

    function item(uint256 at) external view returns (uint256) {
        return items[at];
    }

    function pop() external {
        items.pop();
    }

    function colour(uint256 n) external pure returns (Colour) {
        return Colour(n);
    }

    function asserted(uint256 n) external pure {
        assert(n == 1);
    }

    function allocate(uint256 n) external pure returns (uint256[] memory list) {
        list = new uint256[](n);
    }

    function hooked() external returns (uint256) {
        return hook(1);
    }

    function nested(uint256 depth) external view returns (uint256) {
        return first(depth);
    }

    function first(uint256 depth) internal view returns (uint256) {
        return second(depth) + 1;
    }

    function second(uint256 depth) internal view returns (uint256) {
        if (depth > 0) {
            return second(depth - 1);
        }
        require(msg.sender == address(0), "Vault: at the bottom");
        return 0;
    }

    function inLibrary(uint256 n) external pure returns (uint256) {
        return n.checked(5);
    }

    function spin() external view returns (uint256 n) {
        while (gasleft() > 0) {
            n += limit;
        }
    }

    function logged(uint256 n) external view {
        console.log("Vault: n is", n);
        require(n == 0, "Vault: logged");
    }
}
