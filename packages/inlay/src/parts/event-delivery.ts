import { InlayError, isInlayError } from '@inlay/protocol'
import { claimRow, settleJob, type AnyDatabase, type ClaimedJob, type RecordEvents } from '@inlay/records'

/** An event on its way to one destination. */
export interface Delivery {
  /** The same at each attempt. */
  readonly id: string
  /** JSON of `{ type, timestamp, data }`. */
  readonly body: string
}

export interface Destination {
  /** In the database: its events wait under this name. */
  readonly name: string
  /** As operators know it, without a secret. */
  readonly label: string
  takes(type: string): boolean
  /** @throws to be called again later; the error may hold `data.retryAfterSeconds`, or `data.isGone` to end all */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<void>
}

export interface EventDelivery {
  readonly recordEvents: RecordEvents
  start(): void
  /** A sentence for each destination whose last delivery failed. */
  problems(): readonly string[]
  /** Aborts attempts; their events are delivered after the next start, with the same id. */
  close(): Promise<void>
}

export interface EventDeliveryOptions {
  readonly db: AnyDatabase
  readonly destinations: readonly Destination[]
  readonly now: () => number
  readonly onError: (error: unknown) => void
  /** Whether events only wait: the tenant is suspended. */
  readonly isPaused: () => Promise<boolean>
}

type Claimed = ClaimedJob & { readonly delivery: Delivery }

const table = 'inlay_outbox'
const [second, minute, hour] = [1000, 60_000, 3_600_000]
/** Delays between attempts, as Standard Webhooks recommends: three days in all. */
const delays = [5 * second, 5 * minute, ...[0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * hour)]
const maxWaitMs = 24 * hour
const maxAgeMs = 7 * 24 * hour
/** Longer than an attempt may take. */
const leaseMs = minute
const pollMs = 2 * second
/** After an event is stored; its transaction has mostly ended by then. */
const soonMs = 50
const tidyMs = minute
const maxParallel = 10
const maxWaiting = 10_000
/** Keeps the parameters of one statement below the limits of databases. */
const maxRows = 500

/**
 * Stores events in the database and delivers them to each destination, at least once and with the same id. Processes
 * that share the database share the work by lease; a destination that fails delays no other.
 */
export function createEventDelivery(options: EventDeliveryOptions): EventDelivery {
  const { db, now, onError } = options
  const closing = new AbortController()
  const failing = new Map<Destination, string>()
  const gone = new Set<Destination>()
  const running = new Map<Destination, Promise<void>>()
  const jobs = { db, table }
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Timeout | undefined
  let tidiedAt = -Infinity

  const report = (message: string): void =>
    onError(new InlayError('BAD_GATEWAY', { message, data: { isExpected: true } }))
  const open = (): readonly Destination[] => options.destinations.filter((destination) => !gone.has(destination))

  const remove = ({ id, claim }: Claimed): Promise<unknown> =>
    db.deleteFrom(table).where('id', '=', id).where('claim', '=', claim).execute()

  async function claimDue({ name }: Destination): Promise<Claimed[]> {
    const time = now()
    const due = await db
      .selectFrom(table)
      .select(['id', 'event_id', 'body', 'due_at'])
      .where('destination', '=', name)
      // Later than any wait: scheduled before the clock was set back.
      .where((of) => of.or([of('due_at', '<=', time), of('due_at', '>', time + maxWaitMs + leaseMs)]))
      .orderBy('due_at')
      .limit(maxParallel)
      .execute()
    const claimed: Claimed[] = []
    if (due.length > 0 && (await options.isPaused())) return []
    for (const row of due) {
      const job = await claimRow(jobs, row, { column: 'destination', now: time, leaseMs })
      if (job) claimed.push({ ...job, delivery: { id: row['event_id'], body: row['body'] } })
    }
    return claimed
  }

  /** @returns whether it was delivered */
  async function attempt(destination: Destination, job: Claimed): Promise<boolean> {
    const failure = await destination.deliver(job.delivery, closing.signal).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    if (!failure) {
      failing.delete(destination)
      await remove(job)
    } else if (closing.signal.aborted) await settleJob(jobs, job, { due_at: now(), attempts: job.attempts - 1 })
    else await sendLater(destination, job, failure.error)
    return !failure
  }

  async function sendLater(destination: Destination, job: Claimed, error: unknown): Promise<void> {
    const data = isInlayError(error) ? error.data : {}
    const reason = isInlayError(error) ? error.message : String(error)
    const wait = delays[job.attempts - 1]
    if (data['isGone'] === true) {
      gone.add(destination)
      await db.deleteFrom(table).where('destination', '=', destination.name).execute()
      report(`${destination.label} is gone (410): it gets no more events until this process is started again.`)
    } else if (wait === undefined) {
      await remove(job)
      report(
        `${destination.label} did not take the event ${job.delivery.id} in ${job.attempts} attempts; it is given up. ${reason}`,
      )
    } else {
      const retryAfterMs = Number(data['retryAfterSeconds'] ?? 0) * second
      await settleJob(jobs, job, { due_at: now() + Math.min(Math.max(wait, retryAfterMs), maxWaitMs) })
      if (!failing.has(destination))
        report(`${destination.label} does not take events, which are sent again later. ${reason}`)
    }
    failing.set(destination, reason)
  }

  async function deliverTo(destination: Destination): Promise<void> {
    for (;;) {
      const claimed = closing.signal.aborted ? [] : await claimDue(destination)
      const attempts = await Promise.allSettled(claimed.map((job) => attempt(destination, job)))
      for (const ended of attempts) if (ended.status === 'rejected') onError(ended.reason)
      // One that takes nothing gets the next events later.
      if (!attempts.some((ended) => ended.status === 'fulfilled' && ended.value)) return
    }
  }

  /** Gives up the oldest events where too many wait. */
  async function tidy(): Promise<void> {
    tidiedAt = now()
    // Of destinations that no process has any more.
    await db
      .deleteFrom(table)
      .where('created_at', '<', now() - maxAgeMs)
      .execute()
    for (const { name, label } of options.destinations) {
      const { count } = await db
        .selectFrom(table)
        .select((of) => of.fn.countAll().as('count'))
        .where('destination', '=', name)
        .executeTakeFirstOrThrow()
      const excess = Number(count) - maxWaiting
      if (excess <= 0) continue
      const oldest = db
        .selectFrom(table)
        .select('id')
        .where('destination', '=', name)
        .orderBy('created_at')
        .limit(excess)
      await db.deleteFrom(table).where('id', 'in', oldest).execute()
      report(`More than ${maxWaiting} events wait for ${label}: the oldest ${excess} are given up.`)
    }
  }

  const deliverDue = async (): Promise<void> => {
    if (now() - tidiedAt >= tidyMs) await tidy().catch(onError)
    for (const destination of open())
      if (!running.has(destination)) {
        const work = deliverTo(destination).catch(onError)
        running.set(
          destination,
          work.finally(() => running.delete(destination)),
        )
      }
    await Promise.all(running.values())
  }

  return {
    recordEvents: async (transaction, events) => {
      const time = now()
      const timestamp = new Date(time).toISOString()
      const rows = events.flatMap(({ type, data }) => {
        const event_id = `evt_${crypto.randomUUID()}`
        const body = JSON.stringify({ type, timestamp, data })
        const row = { event_id, body, created_at: time, due_at: time, attempts: 0, claim: null }
        const receivers = open().filter((destination) => destination.takes(type))
        return receivers.map(({ name }) => ({ ...row, id: crypto.randomUUID(), destination: name }))
      })
      for (let at = 0; at < rows.length; at += maxRows)
        await transaction
          .insertInto(table)
          .values(rows.slice(at, at + maxRows))
          .execute()
      if (rows.length > 0 && !closing.signal.aborted)
        soon ??= setTimeout(() => {
          soon = undefined
          void deliverDue()
        }, soonMs).unref()
    },
    start: () => {
      timer = setInterval(() => void deliverDue(), pollMs)
      timer.unref()
      void deliverDue()
    },
    problems: () => [...failing].map(([{ label }, reason]) => `${label} did not take the last event. ${reason}`),
    close: async () => {
      clearInterval(timer)
      clearTimeout(soon)
      closing.abort(new InlayError('CLOSED'))
      await Promise.all(running.values())
    },
  }
}
