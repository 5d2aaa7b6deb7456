import type { Host } from '../host.ts'
import { next } from './next.ts'
import { nitroHosts } from './nitro.ts'
import { runtimes } from './runtimes.ts'
import { servers } from './servers.ts'
import { viteHosts } from './vite.ts'

/** Every host of the check. */
export const hosts: readonly Host[] = [...servers, ...runtimes, ...next, ...nitroHosts, ...viteHosts]
