// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Ledger} from "./Bounds.sol";

interface INumber {
    function number() external view returns (uint256);
}

contract Bottom {
    error Deep(string why, uint256[] numbers);

    function fail(uint256 kind) external pure returns (uint256) {
        if (kind == 0) revert("Bottom: text");
        if (kind == 1) {
            uint256[] memory numbers = new uint256[](2);
            numbers[1] = kind;
            revert Deep("it is", numbers);
        }
        if (kind == 2) {
            uint256 zero = kind - 2;
            return 1 / zero;
        }
        revert();
    }
}

contract Middle {
    Bottom public immutable bottom;

    constructor(Bottom below) {
        bottom = below;
    }

    function pass(uint256 kind) public view returns (uint256) {
        return bottom.fail(kind);
    }
}

contract Top {
    Middle public immutable middle;
    mapping(uint256 => uint256) private entries;

    error Wrapped(bytes reason);

    constructor(Middle below) {
        middle = below;
    }

    function bubble(uint256 kind) external view returns (uint256) {
        return middle.pass(kind);
    }

    function wrap(uint256 kind) external view returns (uint256) {
        try middle.pass(kind) returns (uint256 n) {
            return n;
        } catch (bytes memory reason) {
            revert Wrapped(reason);
        }
    }

    function relay(uint256 kind) external returns (bytes memory) {
        (bool ok, bytes memory result) = address(middle).call(abi.encodeCall(Middle.pass, (kind)));
        require(ok, "Top: the call failed");
        return result;
    }

    function delegated(address to, bytes calldata data) external returns (bytes memory) {
        (bool ok, bytes memory result) = to.delegatecall(data);
        if (!ok) {
            assembly {
                revert(add(result, 32), mload(result))
            }
        }
        return result;
    }

    function stored(uint256 key) external view returns (uint256) {
        return Ledger.read(entries, key);
    }

    function nobody(address at) external view returns (uint256) {
        return INumber(at).number();
    }

    function create(uint256 n) external returns (Picky) {
        return new Picky{salt: bytes32(n)}(n);
    }

    function deploy(uint256 n) external returns (Picky) {
        return new Picky(n);
    }

    function send(address payable to) external {
        to.transfer(1);
    }
}

contract Picky {
    uint256 public n;

    constructor(uint256 value) {
        check(value);
        n = value;
    }

    function check(uint256 value) internal pure {
        require(value != 13, "Picky: unlucky");
    }
}

contract Receiver {
    receive() external payable {
        require(msg.value > 1 ether, "Receiver: too little");
    }
}

contract Fallback {
    fallback() external {
        revert("Fallback: no such thing");
    }
}

contract Proxy {
    // keccak256("eip1967.proxy.implementation") - 1
    bytes32 private constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    constructor(address implementation) {
        assembly {
            sstore(SLOT, implementation)
        }
    }

    fallback() external payable {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), sload(SLOT), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 {
                revert(0, returndatasize())
            }
            default {
                return(0, returndatasize())
            }
        }
    }
}

contract Cloner {
    event Cloned(address clone);

    function clone(address target) external returns (address made) {
        bytes memory code = abi.encodePacked(hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", target, hex"5af43d82803e903d91602b57fd5bf3");
        assembly {
            made := create(0, add(code, 32), mload(code))
        }
        emit Cloned(made);
    }
}
