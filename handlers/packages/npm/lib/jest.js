import jest from './jest.cjs'

export const { useWorld } = jest
