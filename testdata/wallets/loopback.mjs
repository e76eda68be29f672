// Alto listens on all interfaces and has no option for it: loaded before it, this keeps it on loopback.
import { Server } from 'node:net'

const { listen } = Server.prototype
Server.prototype.listen = function (options, ...rest) { return listen.call(this, { ...options, host: '127.0.0.1' }, ...rest) }
