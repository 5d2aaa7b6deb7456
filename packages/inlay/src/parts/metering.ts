import type { AdmitTurn, TurnHooks } from '@inlay/agent'
import type { Conversations } from '@inlay/conversations'
import { isInlayError, operator, type Principal } from '@inlay/protocol'
import type { UsageLimits } from '@inlay/server'
import type { Telemetry } from '@inlay/telemetry'
import type { DatabaseConnection, Dialect, Driver } from 'kysely'
import { runEntry } from '../log.ts'
import type { InlayOptions } from '../options/inlay-options.ts'

/** The hooks of the host, called after telemetry and log. */
export function hooksWith(telemetry: Telemetry | undefined, { hooks, log }: InlayOptions): TurnHooks {
  const watchesCalls = telemetry !== undefined || hooks?.afterToolCall !== undefined
  return {
    ...(hooks?.before && { before: (turn) => hooks.before?.(turn) }),
    beforeToolCall: hooks?.beforeToolCall?.bind(hooks),
    ...(watchesCalls && {
      afterToolCall: (call) => {
        telemetry?.onToolCallEnded(call)
        return hooks?.afterToolCall?.(call)
      },
    }),
    after: async (turn) => {
      telemetry?.onTurnEnded(turn)
      log?.(runEntry(turn))
      await hooks?.after?.(turn)
    },
  }
}

/** Parameters stand for all values of a statement, and a list of them may be long. */
const shownSql = 1000

/** A dialect whose statements are measured, and connections that could not be made. */
export function measuredDialect(dialect: Dialect, telemetry: Telemetry): Dialect {
  const isPostgres = dialect.createAdapter().supportsTransactionalDdl
  const call = telemetry.engine('records', isPostgres ? 'postgresql' : 'sqlite')
  const measured = new WeakSet<DatabaseConnection>()
  const createDriver = (): Driver => {
    const driver = dialect.createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    driver.acquireConnection = async (...options) => {
      const connection = await acquire(...options).catch((error) => call('connect', () => Promise.reject(error)))
      if (measured.has(connection)) return connection
      measured.add(connection)
      const execute = connection.executeQuery.bind(connection)
      connection.executeQuery = <Row>(...given: Parameters<typeof execute>) => {
        const [query] = given
        const [operation = 'other'] = /\w+/.exec(query.sql) ?? []
        const toAttributes = () => ({ 'db.query.text': query.sql.slice(0, shownSql) })
        return call(operation.toLowerCase(), () => execute<Row>(...given), toAttributes)
      }
      return connection
    }
    return driver
  }
  return {
    createDriver,
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
}

export function measuredLimits(limits: UsageLimits, telemetry: Telemetry | undefined): UsageLimits {
  if (telemetry === undefined) return limits
  const counting =
    (caller: Principal) =>
    (error: unknown): never => {
      if (isInlayError(error) && error.code === 'RATE_LIMITED')
        telemetry.onLimited(String(error.data['limit']), String(error.data['of']), caller.keyId)
      throw error
    }
  return {
    ...limits,
    take: (caller, ...given) => limits.take(caller, ...given).catch(counting(caller)),
    reserveTokens: (caller, amount) => limits.reserveTokens(caller, amount).catch(counting(caller)),
  }
}

/** Sender of messages without a caller; compared by reference. Its usage is counted but never refused. */
const host: Principal = { ...operator }

export function admitWithin(limits: UsageLimits): AdmitTurn {
  return async ({ caller, sessionId, expectedTokens }) => {
    if (caller === host) return (usedTokens) => limits.add(caller, 'tokensPerDay', usedTokens)
    const settle = await limits.reserveTokens(caller, expectedTokens)
    try {
      if (sessionId === null) await limits.take(caller, 'sessionsPerDay')
    } catch (error) {
      await settle(0)
      throw error
    }
    return settle
  }
}

/** Applies the limits of each caller on new sessions and uploaded files per day. */
export function withinLimits(agent: Conversations, limits: UsageLimits): Conversations {
  return {
    ...agent,
    send: (request, sending) => agent.send(request, { ...sending, caller: sending?.caller ?? host }),
    sessions: {
      ...agent.sessions,
      create: async (request, caller) => {
        await limits.take(caller, 'sessionsPerDay')
        return agent.sessions.create(request, caller)
      },
    },
    files: {
      ...agent.files,
      upload: (files, options) =>
        agent.files.upload(
          eachAfter(files, () => limits.take(options.caller, 'uploadsPerDay')),
          options,
        ),
    },
  }
}

async function* eachAfter<Item>(items: AsyncIterable<Item>, before: () => Promise<void>): AsyncGenerator<Item> {
  for await (const item of items) {
    await before()
    yield item
  }
}
