'use strict'
const { AbstractStartedContainer, GenericContainer, Wait } = require('testcontainers')
const { connect } = require('./index.cjs')

const port = 9650

class SnowglobeContainer extends GenericContainer {
  constructor(image = 'snowglobe', { profile = 'tiny', seed, flags = [] } = {}) {
    super(image)
    // From inside the container, clients are on other machines and may use any host name.
    const command = ['serve', '--quiet', '--db', ':memory:', '--profile', profile, '--addr', `0.0.0.0:${port}`, '--fuji-addr', 'off', '--allow-control', '--http-allowed-hosts', '*']
    if (seed !== undefined) command.push('--seed', String(seed))
    this.withCommand([...command, ...flags]).withExposedPorts(port).withWaitStrategy(Wait.forHttp('/sim/health', port))
  }

  async start() {
    const started = await super.start()
    try {
      const world = await connect(`http://${started.getHost()}:${started.getMappedPort(port)}`, () => started.stop())
      return new StartedSnowglobeContainer(started, world)
    } catch (problem) {
      await started.stop()
      throw problem
    }
  }
}

class StartedSnowglobeContainer extends AbstractStartedContainer {
  constructor(started, world) {
    super(started)
    this.world = world
  }
}

module.exports = { SnowglobeContainer, StartedSnowglobeContainer }
