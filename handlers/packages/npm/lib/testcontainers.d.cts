import { AbstractStartedContainer, GenericContainer } from 'testcontainers'
import type { Options, World } from './index.cjs'

/** A container of the image that `make image` writes. */
export class SnowglobeContainer extends GenericContainer {
  /** The default image is snowglobe. A profile must be one of the program's own, or a file in the container. */
  constructor(image?: string, options?: Pick<Options, 'profile' | 'seed' | 'flags'>)
  start(): Promise<StartedSnowglobeContainer>
}

export class StartedSnowglobeContainer extends AbstractStartedContainer {
  /** The container's world. Calling its stop stops the container. */
  readonly world: World
}
