import type { Host } from '../host.ts'
import { runtimes } from './runtimes.ts'
import { servers } from './servers.ts'

/** Every host of the check, in the order of the docs. */
export const hosts: readonly Host[] = [...servers, ...runtimes]
