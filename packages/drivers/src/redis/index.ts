import { checkRequired, isText } from '@inlay/protocol'
import type { LogEntry, SharedRun, SharedRuns } from '@inlay/agent'
import { installed, toMissing } from '../installed.ts'
import type { RedisClient, RedisModule } from './client.ts'
import { createConnection } from './connection.ts'
import { isRedisFailure, toRedisFailure } from './refusals.ts'
import { appendScript, openScript, stopScript, takeScript } from './scripts.ts'

export type { RedisClient, RedisModule, RedisTransaction } from './client.ts'

export interface RedisRunsOptions {
  /** `redis://user:password@host:port`, `rediss://` for TLS. */
  readonly url: string
  /** Prefix of all keys. Default `inlay`. */
  readonly prefix?: string
  /** The module `redis`, where it cannot be imported by name. */
  readonly lib?: RedisModule
  /** Milliseconds since 1970 UTC. Default: the system clock. */
  readonly now?: () => number
  /** Detects which processes have ended, so that their runs are taken over before the lease expires. */
  readonly processes?: { readonly owner: string; isGone(owner: string): boolean }
}

/** The package `redis`. @throws UNSUPPORTED when it is not installed */
export async function loadRedis(): Promise<RedisModule> {
  // Its clients have the methods declared above.
  return (await installed('redis', () => import('redis').catch(toMissing))) as unknown as RedisModule
}

/** Interval at which running answers are shared, in milliseconds. */
export const redisPaceMs = 25
/** How long the removal of a run is remembered. */
const removedSeconds = 600
const readLines = 2_000

interface Keys {
  readonly run: (id: number | string) => string
  readonly lines: (id: number | string) => string
  readonly session: (id: string) => string
  readonly running: string
  readonly finished: string
  readonly channel: string
}

interface Parts {
  readonly client: () => Promise<RedisClient>
  readonly keys: Keys
  readonly owner: string
  readonly now: () => number
  readonly isGone: (owner: string) => boolean
}

/**
 * Shares runs through Redis 6.2 or Valkey 7.2 or newer, for any number of processes. Connects on first use, and again
 * when the connection breaks; meanwhile each call rejects with SERVICE_UNAVAILABLE, and runs continue in their own
 * process. Persistence is not required: a run lost by the server is written again by its process.
 * @example createInlay({ sharedRuns: redisRuns({ url: 'redis://localhost:6379' }) })
 */
export function redisRuns(options: RedisRunsOptions): SharedRuns {
  checkRequired('redisRuns', options, 'prefix lib now processes', {
    url: ['the address of Redis, such as redis://localhost:6379', isText],
  })
  const { now = Date.now, prefix = 'inlay', processes } = options
  const keys = keysOf(prefix)
  const connection = createConnection(async () => {
    const { createClient } = options.lib ?? (await loadRedis())
    // Commands that cannot be sent now are refused instead of queued.
    return createClient({ url: options.url, disableOfflineQueue: true, socket: { connectTimeout: 2_000 } })
  })
  const parts: Parts = {
    client: connection.client,
    keys,
    owner: processes?.owner ?? crypto.randomUUID(),
    now,
    isGone: (owner) => processes?.isGone(owner) === true,
  }
  return withRefusals({
    paceMs: redisPaceMs,
    ...createWriting(parts),
    ...createReading(parts),
    ...createTaking(parts),
    removeFinished: async (ageMs) => {
      const client = await connection.client()
      await removeRuns(client, keys, await client.zRangeByScore(keys.finished, '-inf', now() - ageMs))
    },
    remove: async (sessionIds) => {
      const client = await connection.client()
      for (const id of sessionIds) await removeRuns(client, keys, await client.zRange(keys.session(id), 0, -1))
    },
    subscribe: async (onChange) => {
      const subscriber = (await connection.client()).duplicate()
      subscriber.on('error', () => {})
      subscriber.on('ready', () => onChange())
      await subscriber.connect()
      await subscriber.subscribe(keys.channel, (id) => onChange([Number(id)]))
      return async () => subscriber.destroy()
    },
    close: connection.close,
  })
}

/** Makes each call that Redis refuses or loses reject with what to change. */
function withRefusals(runs: SharedRuns): SharedRuns {
  const wrapped = Object.entries(runs).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [name, member]
    const call = async (...given: unknown[]): Promise<unknown> => {
      try {
        return (await Reflect.apply(member, runs, given)) as unknown
      } catch (error) {
        throw isRedisFailure(error) ? toRedisFailure(error) : error
      }
    }
    return [name, call]
  })
  // The same members, each of which is asynchronous.
  return Object.fromEntries(wrapped) as SharedRuns
}

function keysOf(prefix: string): Keys {
  const name = (...parts: readonly (string | number)[]): string => [`{${prefix}}`, ...parts].join(':')
  return {
    run: (id) => name('run', id),
    lines: (id) => name('lines', id),
    session: (id) => name('session', id),
    running: name('running'),
    finished: name('finished'),
    channel: name('changes'),
  }
}

type Writing = Pick<SharedRuns, 'open' | 'append' | 'requestStop'> & Required<Pick<SharedRuns, 'forgotten'>>

function createWriting({ client, keys, owner, now }: Parts): Writing {
  return {
    forgotten: async (messageIds) => {
      const redis = await client()
      const counts = await Promise.all(messageIds.map((id) => redis.exists(keys.run(id))))
      return messageIds.filter((_, at) => counts[at] === 0)
    },
    open: async ({ sessionId, messageId, runId, openedAt }) => {
      await (
        await client()
      ).eval(openScript, {
        keys: [keys.run(messageId), keys.session(sessionId), keys.running],
        arguments: [messageId, sessionId, runId, openedAt, owner, now()].map(String),
      })
    },
    append: async (lines) => {
      const redis = await client()
      const results = await Promise.all(
        lines.map(({ messageId, entries, finished }) =>
          redis.eval(appendScript, {
            keys: [keys.run(messageId), keys.lines(messageId), keys.running, keys.finished],
            arguments: [
              ...[messageId, owner, now(), entries[0]?.sequence ?? 1, finished ? 1 : 0].map(String),
              keys.channel,
              ...entries.map(({ json }) => json),
            ],
          }),
        ),
      )
      return lines.flatMap(({ messageId }, at) => (results[at] === 1 ? [] : [messageId]))
    },
    requestStop: async (sessionIds) => {
      const redis = await client()
      const stopped = await Promise.all(
        sessionIds.map((id) =>
          redis.eval(stopScript, { keys: [keys.session(id)], arguments: [keys.run(''), keys.channel] }),
        ),
      )
      // The script answers with a list of ids.
      return (stopped as string[][]).flat().map(Number)
    },
  }
}

function createReading({ client, keys }: Parts): Pick<SharedRuns, 'ofSession' | 'read'> {
  return {
    ofSession: async (sessionId) => {
      const redis = await client()
      const ids = await redis.zRange(keys.session(sessionId), 0, -1)
      return (await runsOf(redis, keys, ids)).map(({ run }) => run)
    },
    read: async (messageId, cursor) => {
      const redis = await client()
      // In order on one connection, so that all lines of a finished run are present.
      const [isFinished, hasRun, texts] = await Promise.all([
        redis.hExists(keys.run(messageId), 'finished'),
        redis.exists(keys.run(messageId)),
        cursor > 2 ** 31 ? [] : redis.lRange(keys.lines(messageId), cursor, cursor + readLines - 1),
      ])
      const entries: LogEntry[] = texts.map((json, index) => ({ sequence: cursor + index + 1, json }))
      const isOver = Number(isFinished) === 1 || hasRun === 0
      return { messageId, entries, finished: isOver && entries.length < readLines }
    },
  }
}

function createTaking({ client, keys, owner, now, isGone }: Parts): Pick<SharedRuns, 'stopRequests' | 'takeAbandoned'> {
  const running = async (): Promise<readonly StoredRun[]> => {
    const redis = await client()
    return runsOf(redis, keys, await redis.sMembers(keys.running))
  }
  return {
    stopRequests: async () => {
      const own = (await running()).filter((run) => run.owner === owner && run.isStopped)
      return own.map(({ run: { messageId } }) => messageId)
    },
    takeAbandoned: async (leaseMs) => {
      const redis = await client()
      const taken: SharedRun[] = []
      for (const { run, owner: maker, seen } of await running()) {
        const time = now()
        const isAbandoned = Number(seen) <= time - leaseMs || isGone(maker)
        if (maker === owner || (!isAbandoned && Number(seen) <= time + leaseMs)) continue
        const isTaken = await redis.eval(takeScript, {
          keys: [keys.run(run.messageId)],
          arguments: [maker, seen, isAbandoned ? owner : maker, String(time)],
        })
        if (isAbandoned && isTaken === 1) taken.push(run)
      }
      return taken
    },
  }
}

interface StoredRun {
  readonly run: SharedRun
  readonly owner: string
  readonly seen: string
  readonly isStopped: boolean
}

async function runsOf(client: RedisClient, keys: Keys, ids: readonly string[]): Promise<StoredRun[]> {
  const hashes = await Promise.all(ids.map((id) => client.hGetAll(keys.run(id))))
  return hashes.flatMap(({ session, run, opened, owner, seen, finished, stopped }, at) => {
    if (session === undefined || owner === undefined || seen === undefined) return []
    const [messageId, runId, openedAt] = [Number(ids[at]), Number(run), Number(opened)]
    const shared = { sessionId: session, messageId, runId, openedAt, finished: finished === '1' }
    return [{ run: shared, owner, seen, isStopped: stopped === '1' }]
  })
}

async function removeRuns(client: RedisClient, keys: Keys, ids: readonly string[]): Promise<void> {
  for (const { run } of await runsOf(client, keys, ids)) {
    const id = String(run.messageId)
    const removing = client
      .multi()
      .del([keys.run(id), keys.lines(id)])
      .zRem(keys.session(run.sessionId), id)
      .zRem(keys.finished, id)
      .sRem(keys.running, id)
    // Its process may still write, and must learn that the run was removed, not lost.
    if (!run.finished) removing.hSet(keys.run(id), { owner: '', finished: '1' }).expire(keys.run(id), removedSeconds)
    await removing.exec()
  }
}
