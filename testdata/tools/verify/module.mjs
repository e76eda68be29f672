import { buildModule } from '@nomicfoundation/hardhat-ignition/modules'

export default buildModule('Deployed', (m) => ({ third: m.contract('Third', [5n, 'ignition']), fourth: m.contract('Fourth', [6n, 'ignition']) }))
