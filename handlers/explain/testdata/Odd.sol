// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {console} from "./console.sol";

/// @dev Functions of no contract.
function half(uint256 n) pure returns (uint256) {
    require(n % 2 == 0, "half: odd");
    return n / 2;
}

interface INotes {
    function number() external view returns (uint256);
    function ping() external;
}

library Louder {
    function shout(uint256 n) internal view {
        console.log("louder", n);
    }
}

/// @dev Logs, some of which are lost; messages to the console; failures that the EVM makes.
contract Notes {
    event Noted(address indexed by, uint256 n, string text);

    error TooLate(uint256 at);
    error Small();

    uint256 public count;

    function note(uint256 n) public returns (uint256) {
        emit Noted(msg.sender, n, "note");
        if (n > 9) revert TooLate(n);
        count += n;
        return count;
    }

    function both(uint256 a, uint256 b) external returns (bool ok) {
        emit Noted(msg.sender, a, "before");
        try this.note(b) returns (uint256) {
            ok = true;
        } catch {}
        emit Noted(msg.sender, a, "after");
    }

    function halves(uint256 n) external pure returns (uint256) {
        return half(n) + half(n / 2);
    }

    function say(uint256 n) external view {
        console.log("said", n);
        aside(n + 1);
        Louder.shout(n + 2);
    }

    function aside(uint256 n) internal view {
        console.log("aside %d of %s", address(this), n > 1, int256(n));
        console.log("aside", n);
    }

    function increment() external {
        count += 1;
    }

    function peek() external view {
        (bool ok, bytes memory result) = address(this).staticcall(abi.encodeCall(this.increment, ()));
        assembly {
            if iszero(ok) { revert(add(result, 32), mload(result)) }
        }
    }

    function burn() external pure {
        assembly {
            invalid()
        }
    }

    function hush() public pure {
        revert();
    }

    function atOnce() external returns (uint256 n) {
        (bool ok,) = address(this).call(abi.encodeCall(this.hush, ()));
        n = count;
        if (!ok) revert();
    }

    function later() external returns (uint256 n) {
        (bool ok,) = address(this).call(abi.encodeCall(this.hush, ()));
        for (uint256 i; i < 60; ++i) n += i;
        if (!ok) revert();
    }

    function other(address at, bytes calldata data) external returns (bytes memory) {
        (bool ok, bytes memory result) = at.call(data);
        if (!ok) {
            assembly {
                revert(add(result, 32), mload(result))
            }
        }
        return result;
    }

    function pings(address at) external {
        INotes(at).ping();
    }

    function pingsLate(address at) external returns (uint256 n) {
        INotes(at).ping();
        for (uint256 i; i < 60; ++i) n += i;
        revert();
    }

    function small(uint256 a, uint256 b, uint256 c) external pure returns (uint256) {
        if (a < 2) revert Small();
        uint256 d = a * b;
        if (b < 2) revert Small();
        if (c < 2) revert Small();
        return d * c;
    }

    function required(uint256 a, uint256 b) external pure returns (uint256) {
        require(a > 1, "Notes: small");
        uint256 c = a * b;
        require(b > 1, "Notes: small");
        return c;
    }

    function overloaded(uint256 n) external pure {
        require(n == 0, "Notes: one");
    }

    function overloaded(uint256 n, string calldata text) external pure {
        require(n == 0 && bytes(text).length == 0, "Notes: two");
    }

    function pays() external payable returns (uint256) {
        require(msg.value > 5, "Notes: too little");
        return msg.value;
    }

    function numbered(uint256[] calldata list) external pure returns (uint256) {
        return list[2];
    }
}

contract Till {
    address public owner;

    constructor(address first) payable {
        require(first != address(0));
        owner = first;
    }

    receive() external payable {
        require(msg.value != 7, "Till: seven");
    }

    fallback() external payable {
        revert();
    }
}

contract Shut {
    fallback() external {
        require(msg.data.length != 5, "Shut: five");
    }
}

contract Clerk {
    receive() external payable {}
}

contract Open {
    fallback() external payable {
        require(msg.data.length != 5, "Open: five");
    }
}
