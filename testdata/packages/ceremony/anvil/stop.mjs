import { Instance } from 'prool'
const anvil = Instance.anvil()
await anvil.start()
await anvil.stop()
console.log(await fetch(`http://${anvil.host}:${anvil.port}`).catch(() => 'stopped'))
