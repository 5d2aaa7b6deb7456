import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signalAll, type EngineServer } from './engines.ts'
import type { Gate, Passage } from './gate.ts'

/** What callers of the table do. */
export type Call =
  | 'health'
  | 'ready'
  | 'metrics'
  | 'sign-in'
  | 'search'
  | 'chat'
  | 'chat, tool'
  | 'ingest'
  | 'list'
  | 'upload'
  | 'download'

export type Fault = 'frozen' | 'frozen after a rest' | 'killed' | 'slow' | 'cut' | 'refusing' | 'full'

/** An engine or a service, and what the docs say of its faults. */
export interface Engine {
  readonly name: string
  /** Each brings one about. */
  readonly faults: Readonly<Partial<Record<Fault, () => Promise<unknown>>>>
  heal(fault: Fault): Promise<unknown>
  /** Calls that may fail without it. */
  readonly fails: readonly Call[]
  /** Those that may fail while it is full, beside these. */
  readonly failsFull?: readonly Call[]
  /** How long a call may be held up while it is frozen, in milliseconds. */
  readonly heldMs?: Partial<Record<Call, number>>
  /** The same where it refuses connections. */
  readonly atOnceMs?: Partial<Record<Call, number>>
  /** Message of the chat with a tool. */
  readonly toolMessage?: string
}

/** Folders of engines, each on a small disk of its own where this process may mount one. */
export interface Disks {
  of(name: string, megabytes: number): string
  fill(name: string): void
  free(name: string): void
  remove(): void
}

export function createDisks(): Disks {
  const parent = mkdtempSync(join(tmpdir(), 'inlay-disks-'))
  chmodSync(parent, 0o755)
  const mounted: string[] = []
  const fillerOf = (name: string): string => join(parent, name, 'filler')
  return {
    of: (name, megabytes) => {
      const folder = join(parent, name)
      mkdirSync(folder, { mode: 0o755 })
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder])
      mounted.push(folder)
      return folder
    },
    fill: (name) => {
      for (const size of [2 ** 20, 4096])
        try {
          for (;;) appendFileSync(fillerOf(name), Buffer.alloc(size))
        } catch {
          // It is full.
        }
    },
    free: (name) => rmSync(fillerOf(name), { force: true }),
    remove: () => {
      for (const folder of mounted) execFileSync('umount', ['-l', folder])
      rmSync(parent, { recursive: true, force: true })
    },
  }
}

/** The faults of a server behind a gate. */
export function faultsOf(
  server: EngineServer,
  gate: Gate,
  more: Engine['faults'] = {},
): Pick<Engine, 'faults' | 'heal'> {
  const freeze = async (): Promise<void> => signalAll(server.pids(), 'SIGSTOP')
  return {
    faults: { frozen: freeze, killed: () => server.kill(), slow: () => gate.set('slow'), ...more },
    heal: async (fault) => {
      if (fault.startsWith('frozen')) signalAll(server.pids(), 'SIGCONT')
      if (fault === 'killed') await server.start()
      await gate.set('open')
    },
  }
}

/** The faults of a service over HTTP of this process. */
export function serviceFaults(gate: Gate): Pick<Engine, 'faults' | 'heal'> {
  const set = (passage: Passage) => () => gate.set(passage)
  return {
    faults: {
      frozen: set('silent'),
      slow: set('slow'),
      cut: set('cut'),
      refusing: set('refusing'),
      killed: set('shut'),
    },
    heal: set('open'),
  }
}

export const through = (gate: Gate, url: string): string =>
  Object.assign(new URL(url), { port: String(gate.port) }).href
