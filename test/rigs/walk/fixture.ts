import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { IngestionFigures } from '@inlay/protocol'
import { bytesOf } from '../../bench/ingestion/fixture.ts'
import { leanEnvironment, leanFlags } from 'inlay/internal/lean-start'
import type { Held, ServerReport } from './server.ts'

/** An assistant in a separate process, on an empty folder, reached over HTTP alone. */
export interface Fixture {
  /** Sends JSON, or text and bytes as they are; returns the text of the answer. Throws when it is not a 200. */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<string>
  /** Address of the API. */
  readonly base: string
  /** Makes a key of another caller. */
  newKey(scopes: readonly string[]): Promise<string>
  figures(): Promise<IngestionFigures>
  /** Resolves once nothing waits any more. */
  whenIdle(headers?: Record<string, string>): Promise<void>
  /** Resolves once the index has put itself in order as well. */
  tidied(): Promise<void>
  residentBytes(): Promise<number>
  /** What leaks when it grows. */
  held(): Promise<Held>
  /** With tenants: the key of the operator of one. */
  keyOf(tenant: string): string
  /** Longest delay of the event loop since the last call. */
  longestBlockMs(): Promise<number>
  /** Size of the index, and of everything. */
  diskBytes(): { readonly index: number; readonly all: number }
  close(): Promise<void>
}

export interface CallOptions {
  readonly headers?: Record<string, string> | undefined
  readonly signal?: AbortSignal
}

/** Tenants in one process; calls go to the first. */
export interface TenantsFixture {
  readonly first: string
  readonly maxOpen: number
}

/** Starts one. */
export async function startFixture(tenants?: TenantsFixture): Promise<Fixture> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-bench-walk-'))
  const secret = crypto.randomUUID()
  const keyOf = (tenant: string): string => `${secret}.${tenant}`
  const key = tenants ? keyOf(tenants.first) : secret
  const child = fork(
    join(import.meta.dirname, 'server.ts'),
    [dataFolder, secret, ...(tenants ? [String(tenants.maxOpen)] : [])],
    {
      // The flags of `inlay serve`.
      execArgv: [...leanFlags, '--expose-gc', '--conditions=@inlay/source'],
      env: { ...process.env, ...leanEnvironment },
    },
  )
  const { port } = await heard(child, 'port')
  const base = `http://127.0.0.1:${port}/api`
  const call: Fixture['call'] = async (method, path, body, { headers, signal } = {}) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: body === undefined || typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body),
      signal,
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return text
  }
  // The server has just started.
  const figures = async (headers?: Record<string, string>): Promise<IngestionFigures> =>
    JSON.parse(await call('GET', '/service-api/ingestion-figures', undefined, { headers })) as IngestionFigures
  const untilSo = async (isSo: (now: IngestionFigures) => boolean, headers?: Record<string, string>): Promise<void> => {
    while (!isSo(await figures(headers))) await delay(50)
  }
  const newKey: Fixture['newKey'] = async (scopes) => {
    const answer = await call('POST', '/admin/api-key', { scopes, owner: 'another' })
    return (JSON.parse(answer) as { api_key: string }).api_key
  }
  return {
    call,
    base,
    newKey,
    keyOf,
    figures: () => figures(),
    whenIdle: (headers) => untilSo((now) => now.queue_depth === 0, headers),
    tidied: async () => {
      await untilSo((now) => now.queue_depth === 0 && now.index.unindexed_rows === 0)
      // Superseded versions stay for ten seconds, for readers of other processes, and are cleared away in two rounds.
      await delay(35_000)
    },
    residentBytes: async () => {
      child.send('memory')
      return (await heard(child, 'residentBytes')).residentBytes
    },
    held: async () => {
      child.send('memory')
      return (await heard(child, 'residentBytes')).held
    },
    longestBlockMs: async () => {
      child.send('blocks')
      return (await heard(child, 'longestBlockMs')).longestBlockMs
    },
    diskBytes: () => ({ index: bytesOf(join(dataFolder, 'index')), all: bytesOf(dataFolder) }),
    close: async () => {
      child.disconnect()
      await once(child, 'exit')
      rmSync(dataFolder, { recursive: true, force: true })
    },
  }
}

type Reported<Name extends string> = Extract<ServerReport, Record<Name, unknown>>

async function heard<Name extends 'port' | 'residentBytes' | 'longestBlockMs'>(
  child: ChildProcess,
  name: Name,
): Promise<Reported<Name>> {
  for (;;) {
    const [message]: ServerReport[] = await once(child, 'message')
    // Told apart by the one field each kind of message has.
    if (message && name in message) return message as Reported<Name>
  }
}
