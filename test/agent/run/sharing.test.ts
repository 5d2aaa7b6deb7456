import type { SharedRuns } from '@inlay/agent'
import { createCopies } from '@inlay/agent/internal/run/other-process-runs'
import { createRun, createRuns } from '@inlay/agent/internal/run/live-runs'
import { createRunSharing } from '@inlay/agent/internal/run/sharing'
import type { Script } from '@inlay/agent/testing'
import { sqlSharedRuns, type ConversationsOptions } from '@inlay/conversations'
import type { StreamLine } from '@inlay/protocol'
import type { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { ana, codeOf, eventually, newDatabase, newSetting, readAll, type Setting } from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

/** Processes that share records, each with its own agent. */
async function newProcesses(script: Script, options: () => Partial<ConversationsOptions> = () => ({})) {
  const db = await newDatabase()
  const gone = new Set<string>()
  const clock = () => Date.UTC(2026, 0, 12, 9, 30)
  const start = async (name: string, wrap = (shared: SharedRuns) => shared): Promise<Setting> => {
    const processes = { owner: name, isGone: (owner: string) => gone.has(owner) }
    const sharedRuns = wrap(sqlSharedRuns({ db, now: clock, processes }))
    const setting = await newSetting(script, {
      db,
      now: clock,
      sharedRuns,
      limits: { leaseMs: 1_000 },
      ...options(),
    })
    onTestFinished(() => setting.agent.close())
    await setting.agent.start()
    return setting
  }
  return { db, gone, start }
}

const said = (lines: readonly StreamLine[]): string =>
  lines.map((line) => ('obj' in line && line.obj.type === 'message_delta' ? line.obj.content : '')).join('')

/** Resolves once the run has that many lines elsewhere. */
const reaches = (db: Kysely<unknown>, text: string): Promise<unknown> =>
  eventually(async () => {
    const rows = await db
      .withTables<{ inlay_chat_run_lines: { lines: string } }>()
      .selectFrom('inlay_chat_run_lines')
      .selectAll()
      .execute()
    return rows.some(({ lines }) => lines.includes(text))
  })

test('a run is resumed on another process from every cursor, while it runs and afterwards', async () => {
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const { start, db } = await newProcesses([['One ', 'two ', { pause: () => pause }, 'three.']])
  const [first, second] = [await start('a'), await start('b')]
  const run = await first.send()
  await reaches(db, 'two')
  expect((await second.agent.sessions.get(run.sessionId, ana)).currentRunId).toBe(run.messageId)
  const resumed = await second.agent.resume(run.sessionId, ana)
  expect(resumed.finished).toBe(false)
  const tail = readAll(resumed)
  goOn()
  const lines = await readAll(run)
  expect(await tail).toEqual(lines)
  expect(said(lines)).toBe('One two three.')
  await eventually(async () => (await second.agent.resume(run.sessionId, ana)).finished)
  for (const cursor of lines.keys())
    expect(await readAll(await second.agent.resume(run.sessionId, ana), cursor)).toEqual(lines.slice(cursor))
  expect(await second.agent.currentRunId(run.sessionId)).toBeUndefined()
  expect([first.errors, second.errors]).toEqual([[], []])
})

test('much that was said between two writes is written in parts, and all of it is there', async () => {
  const part = 'A word or two. '
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const { start } = await newProcesses([[...Array.from({ length: 3_000 }, () => part), { pause: () => pause }, 'End.']])
  const written: number[] = []
  const first = await start('a', (shared) => ({
    ...shared,
    append: (lines) => {
      written.push(...lines.map(({ entries }) => entries.reduce((sum, { json }) => sum + json.length, 0)))
      return shared.append(lines)
    },
  }))
  const second = await start('b')
  const run = await first.send()
  const resumed = await second.agent.resume(run.sessionId, ana)
  goOn()
  expect(said(await readAll(resumed))).toBe(`${part.repeat(3_000)}End.`)
  expect(Math.max(...written)).toBeLessThan(70_000)
  expect(first.errors).toEqual([])
})

test('the newest run of a session is resumed, whichever process made it', async () => {
  const { start } = await newProcesses(() => ['Well.'])
  const [first, second] = [await start('a'), await start('b')]
  const run = await first.send()
  await run.whole()
  const next = await second.send({ chat_session_id: run.sessionId })
  await next.whole()
  for (const { agent } of [first, second])
    await eventually(async () => (await agent.resume(run.sessionId, ana)).messageId === next.messageId)
})

test('a run is stopped from another process, and what was said is kept', async () => {
  const { start, db } = await newProcesses([['Said. ', { hang: true }]])
  const [first, second] = [await start('a'), await start('b')]
  const run = await first.send()
  await reaches(db, 'Said')
  await second.agent.stop(run.sessionId, ana)
  expect(run.finished).toBe(true)
  const lines = await readAll(await second.agent.resume(run.sessionId, ana))
  expect(lines.at(-1)).toMatchObject({ obj: { type: 'stop', stop_reason: 'user_cancelled' } })
  const { messages } = await second.agent.sessions.get(run.sessionId, ana)
  expect(messages.at(-1)).toMatchObject({ text: 'Said. ', error: null })
})

test('a run whose process has ended is ended by another with what was said', async () => {
  const { start, gone, db } = await newProcesses([['Half an ', 'answer', { hang: true }]])
  const [first, second] = [await start('a'), await start('b')]
  const run = await first.send()
  await reaches(db, 'answer')
  const resumed = await second.agent.resume(run.sessionId, ana)
  gone.add('a')
  const lines = await readAll(resumed)
  expect(said(lines)).toBe('Half an answer')
  expect(lines.slice(-2)).toMatchObject([
    { obj: { type: 'error', error_code: 'SERVICE_UNAVAILABLE' } },
    { error_code: 'SERVICE_UNAVAILABLE', is_retryable: true },
  ])
  const { messages } = await second.agent.sessions.get(run.sessionId, ana)
  expect(messages.at(-1)?.text).toBe('Half an answer')
  expect(messages.at(-1)?.error).not.toBeNull()
})

test('an answer that was stored whole before its process ended is told whole', async () => {
  const { start, gone, db } = await newProcesses([['Half an ', { pause: () => pause }, 'answer.']])
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const dying = { isDead: false }
  const first = await start('a', (shared) => ({
    ...shared,
    // Ended between storing the answer and telling the others.
    append: async (lines) => (dying.isDead ? [] : shared.append(lines)),
  }))
  const second = await start('b')
  const run = await first.send()
  await reaches(db, 'Half')
  dying.isDead = true
  goOn()
  await run.whole()
  const resumed = await second.agent.resume(run.sessionId, ana)
  gone.add('a')
  const lines = await readAll(resumed)
  expect(said(lines)).toBe('Half an answer.')
  expect(lines.at(-1)).toMatchObject({ obj: { type: 'stop', stop_reason: null } })
  expect((await second.agent.sessions.get(run.sessionId, ana)).messages.at(-1)).toMatchObject({ error: null })
})

test('a process alone does not write short runs, and others know a run before its first word', async () => {
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const { start, db } = await newProcesses([['Well.'], [{ pause: () => pause }, 'Well.']])
  const first = await start('a')
  await (await first.send()).whole()
  await first.agent.idle()
  const rows = () => db.withTables<{ inlay_chat_runs: object }>().selectFrom('inlay_chat_runs').selectAll().execute()
  expect(await rows()).toEqual([])
  const second = await start('b')
  const run = await first.send()
  expect((await second.agent.resume(run.sessionId, ana)).messageId).toBe(run.messageId)
  goOn()
  await run.whole()
})

test('a process alone asks for nothing that only others could have written', async () => {
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const { start } = await newProcesses([['One ', { pause: () => pause }, 'two.']])
  const calls = { isAlone: 0, stopRequests: 0 }
  const first = await start('a', (shared) => ({
    ...shared,
    isAlone: async () => {
      calls.isAlone++
      return shared.isAlone!()
    },
    stopRequests: async () => {
      calls.stopRequests++
      return shared.stopRequests()
    },
  }))
  const run = await first.send()
  // At the start of the run and in a round after it.
  await eventually(async () => calls.isAlone >= 2)
  goOn()
  await run.whole()
  await first.agent.close()
  expect(calls.stopRequests).toBe(0)
})

test('a message sent again under its key on another process gets the answer that is being made', async () => {
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const { start } = await newProcesses([['One ', { pause: () => pause }, 'two.']])
  const [first, second] = [await start('a'), await start('b')]
  const once = { caller: ana, idempotencyKey: 'k' }
  const run = await first.send({}, once)
  const repeat = await second.send({}, once)
  expect(repeat.messageId).toBe(run.messageId)
  goOn()
  expect(await readAll(repeat)).toEqual(await readAll(run))
  expect(await readAll(await second.send({}, once))).toEqual(await readAll(run))
})

test('the whole answer of another process tells the arguments and results of its calls', async () => {
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const look = () => scriptedAction({ id: 7, name: 'look', result: { text: 'It is open.' } })
  const script: Script = [[{ call: { name: 'look', input: { door: 'north' } } }], ['Open. ', { pause: () => pause }]]
  const { start } = await newProcesses(script, () => ({ actions: [look()] }))
  const [first, second] = [await start('a'), await start('b')]
  const once = { caller: ana, idempotencyKey: 'k' }
  const run = await first.send({}, once)
  const repeat = await second.send({}, once)
  expect(repeat.finished).toBe(false)
  goOn()
  const whole = await repeat.whole()
  expect(whole.tool_calls).toMatchObject([
    { tool_name: 'look', tool_arguments: { door: 'north' }, tool_result: 'It is open.' },
  ])
  expect(whole).toEqual(await run.whole())
})

test('records that failed once are asked again for the whole answer', async () => {
  let isDown = true
  const readCalls = async () => {
    if (isDown) throw new Error('down')
    return []
  }
  const run = createRun({ sessionId: 's', messageId: 1 }, 100_000, { readCalls })
  run.end()
  await expect(run.whole()).rejects.toThrow('down')
  isDown = false
  expect(await run.whole()).toMatchObject({ message_id: 1, tool_calls: [] })
  expect(run.whole()).toBe(run.whole())
})

test('while the others cannot be told a run goes on, and is told once they can be', async () => {
  let isDown = true
  const failing = (): void => {
    if (isDown) throw new Error('down')
  }
  const { start } = await newProcesses(() => ['Well.'])
  const first = await start('a', (shared) => ({
    ...shared,
    open: async (run) => (failing(), shared.open(run)),
    append: async (lines) => (failing(), shared.append(lines)),
    ofSession: async (id) => (failing(), shared.ofSession(id)),
  }))
  const second = await start('b')
  const run = await first.send()
  expect((await run.whole()).answer).toBe('Well.')
  expect((await first.agent.resume(run.sessionId, ana)).messageId).toBe(run.messageId)
  expect(await codeOf(second.agent.resume(run.sessionId, ana))).toBe('NOT_FOUND')
  isDown = false
  await eventually(async () => (await codeOf(second.agent.resume(run.sessionId, ana))) === 'none')
  expect(await readAll(await second.agent.resume(run.sessionId, ana))).toEqual(await readAll(run))
  expect(first.errors).toHaveLength(1)
})

test('a store that loses a run gets it again, and neither its maker nor its readers notice', async () => {
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const { start, db } = await newProcesses([['One ', 'two ', { pause: () => pause }, 'three.']])
  const tables = db.withTables<{ inlay_chat_runs: { message_id: number }; inlay_chat_run_lines: object }>()
  const forgetful = (shared: SharedRuns): SharedRuns => ({
    ...shared,
    forgotten: async (ids) => {
      const rows = await tables.selectFrom('inlay_chat_runs').select('message_id').execute()
      return ids.filter((id) => !rows.some((row) => row.message_id === id))
    },
  })
  const [first, second] = [await start('a', forgetful), await start('b', forgetful)]
  const run = await first.send()
  await reaches(db, 'two')
  const tail = readAll(await second.agent.resume(run.sessionId, ana))
  for (const table of ['inlay_chat_run_lines', 'inlay_chat_runs'] as const) await tables.deleteFrom(table).execute()
  goOn()
  const lines = await readAll(run)
  expect(said(lines)).toBe('One two three.')
  expect(await tail).toEqual(lines)
  expect(await readAll(await second.agent.resume(run.sessionId, ana))).toEqual(lines)
})

test('the runs of a removed session leave nothing behind', async () => {
  const { start, db } = await newProcesses([['Said. ', { hang: true }]])
  const [first, second] = [await start('a'), await start('b')]
  const run = await first.send()
  await reaches(db, 'Said')
  await second.agent.sessions.remove(run.sessionId, ana, { erase: true })
  expect(run.finished).toBe(true)
  const tables = db.withTables<{ inlay_chat_runs: object; inlay_chat_run_lines: object }>()
  for (const table of ['inlay_chat_runs', 'inlay_chat_run_lines'] as const)
    expect(await tables.selectFrom(table).selectAll().execute()).toEqual([])
})

test('what readers see is written for others within one pace and one write, whatever its process does then', async () => {
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const { start } = await newProcesses([['One ', 'two ', { pause: () => pause }, 'three.']])
  const written: string[] = []
  const wrap = (shared: SharedRuns): SharedRuns => ({
    ...shared,
    append: async (lines) => {
      written.push(...lines.flatMap(({ entries }) => entries.map(({ json }) => json)))
      return shared.append(lines)
    },
  })
  const [first] = [await start('a', wrap), await start('b')]
  const run = await first.send()
  const shown: string[] = []
  const reading = (async () => {
    for await (const entries of run.read()) shown.push(...entries.map(({ json }) => json))
  })()
  await eventually(async () => shown.join().includes('two'))
  const atOnce = [...shown]
  // The model is silent: nothing but the pace brings the rest.
  await eventually(async () => atOnce.every((json) => written.includes(json)))
  goOn()
  await reading
  await eventually(async () => shown.every((json) => written.includes(json)))
})

test('a run that another process has taken over ends here', async () => {
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const { start, db } = await newProcesses([['Said. ', { pause: () => pause }, 'More. ', { hang: true }]])
  const [first] = [await start('a'), await start('b')]
  const run = await first.send()
  await reaches(db, 'Said')
  await db
    .withTables<{ inlay_chat_runs: { owner: string } }>()
    .updateTable('inlay_chat_runs')
    .set({ owner: 'b' })
    .execute()
  goOn()
  await eventually(() => run.finished)
})

test('two who resume a run elsewhere at once get each line once', async () => {
  const { start, db } = await newProcesses([['One ', 'two ', { hang: true }]])
  const [first, second] = [await start('a'), await start('b')]
  const run = await first.send()
  await reaches(db, 'two')
  const copies = await Promise.all([1, 2].map(() => second.agent.resume(run.sessionId, ana)))
  await first.agent.stop(run.sessionId, ana)
  const lines = await readAll(run)
  for (const copy of copies) expect(await readAll(copy)).toEqual(lines)
})

test('a run of this process is stopped without a look at what the others know of it', async () => {
  const { start } = await newProcesses([['Said. ', { hang: true }]])
  let reads = 0
  const first = await start('a', (shared) => ({
    ...shared,
    read: async (...given) => (reads++, shared.read(...given)),
  }))
  await start('b')
  const run = await first.send()
  await first.agent.stop(run.sessionId, ana)
  expect([run.finished, reads]).toEqual([true, 0])
})

test('a process that closes writes its runs to their end before it lets go of the store', async () => {
  const { start, db } = await newProcesses([['Said. ', { hang: true }]])
  const steps: string[] = []
  const first = await start('a', (shared) => ({
    ...shared,
    append: async (parts) => {
      const lost = await shared.append(parts)
      if (parts.some(({ finished }) => finished)) steps.push('end')
      return lost
    },
    close: async () => {
      steps.push('close')
      await shared.close()
    },
  }))
  await start('b')
  await first.send()
  await reaches(db, 'Said')
  await first.agent.close()
  expect(steps).toEqual(['end', 'close'])
})

/** Sharing over a store that does what a test says. */
function newSharing(shared: Partial<SharedRuns>, now = () => 0) {
  const errors: unknown[] = []
  const runs = createRuns({ now, resumableMs: 60_000, maxRunBytes: 300, maxFinishedBytes: 1_000 })
  const unused = async (): Promise<never> => Promise.reject(new Error('not asked for here'))
  const sharing = createRunSharing({
    shared: {
      paceMs: 1,
      takeAbandoned: async () => [],
      removeFinished: async () => {},
      close: async () => {},
      ...shared,
    } as SharedRuns,
    runs,
    conversations: { branch: unused, finish: unused, running: async () => [] },
    readCalls: async () => [],
    maxRunBytes: 300,
    leaseMs: 60_000,
    resumableMs: 60_000,
    now,
    onError: (error) => errors.push(error),
  })
  return { sharing, runs, errors }
}

test('a run whose first lines are gone is not shared anew by a store that lost it', async () => {
  const opened: number[] = []
  const { sharing, runs } = newSharing({
    open: async ({ messageId }) => void opened.push(messageId),
    append: async (parts) => parts.map(({ messageId }) => messageId),
    forgotten: async (ids) => ids,
    stopRequests: async () => [],
  })
  const run = runs.open({ sessionId: 's', messageId: 1, runId: 1 })
  await sharing.share(run)
  for (let at = 0; at < 20; at++) run.write({ chat_session_id: `session-${at}-of-many-characters`, incognito: false })
  run.end()
  await eventually(() => run.finished)
  await sharing.close()
  expect(opened).toEqual([1])
})

test('after the clock was set back, failures are told as before', async () => {
  let time = 10_000_000
  const { sharing, runs, errors } = newSharing({ open: () => Promise.reject(new Error('down')) }, () => time)
  const share = (messageId: number) => sharing.share(runs.open({ sessionId: 's', messageId, runId: messageId }))
  await share(1)
  await share(2)
  expect(errors).toHaveLength(1)
  time -= 3_600_000
  await share(3)
  expect(errors).toHaveLength(2)
})

test('a run that says nothing for a quarter of a lease is still shown to be alive', async () => {
  let time = 0
  const written: number[] = []
  const { sharing, runs } = newSharing(
    {
      open: async () => {},
      append: async (parts) => (written.push(...parts.map(({ entries }) => entries.length)), []),
      stopRequests: async () => [],
    },
    () => time,
  )
  const run = runs.open({ sessionId: 's', messageId: 1 })
  await sharing.share(run)
  run.write({ chat_session_id: 's', incognito: false })
  await eventually(() => written.length === 1)
  time += 15_000
  await eventually(() => written.length === 2)
  expect(written).toEqual([1, 0])
  run.end()
  await sharing.close()
})

test('a run of this process that has ended is not one that runs elsewhere, however late its end is written', async () => {
  const known = [1, 2].map((messageId) => ({
    sessionId: 's',
    messageId,
    runId: messageId,
    openedAt: 0,
    finished: false,
  }))
  const { sharing, runs } = newSharing({ ofSession: async () => known })
  runs.open({ sessionId: 's', messageId: 2 }).end()
  expect(await sharing.currentRunId('s')).toBe(1)
})

/** A copy of a run whose store can lose it. */
async function newCopy() {
  const store = { time: 0, isLost: false, lines: 0 }
  const run = { sessionId: 's', messageId: 1, runId: 1, openedAt: 0, finished: false }
  const copies = createCopies({
    shared: {
      read: async (messageId: number, cursor: number) => ({
        messageId,
        entries: cursor < store.lines ? [{ sequence: cursor + 1, json: '{}' }] : [],
        finished: store.isLost,
      }),
      forgotten: async (ids: readonly number[]) => (store.isLost ? ids : []),
    } as unknown as SharedRuns,
    maxRunBytes: 1_000,
    readCalls: async () => [],
    leaseMs: 1_000,
    now: () => store.time,
  })
  const copy = await copies.of(run)
  /** Whether the copy has ended after a look at that time. */
  const hasEndedAt = async (time: number): Promise<boolean> => {
    store.time = time
    await copies.catchUp(1)
    return copy.finished
  }
  return { store, hasEndedAt }
}

test('a run that its store lost has ended once nobody wrote it again for a lease', async () => {
  const { store, hasEndedAt } = await newCopy()
  store.isLost = true
  expect(await hasEndedAt(100)).toBe(false)
  expect(await hasEndedAt(1_099)).toBe(false)
  expect(await hasEndedAt(1_100)).toBe(true)
})

test('the lease of a lost run begins anew when it was written in the meantime', async () => {
  const { store, hasEndedAt } = await newCopy()
  store.isLost = true
  expect(await hasEndedAt(100)).toBe(false)
  Object.assign(store, { isLost: false, lines: 1 })
  expect(await hasEndedAt(900)).toBe(false)
  store.isLost = true
  expect(await hasEndedAt(1_200)).toBe(false)
  expect(await hasEndedAt(2_200)).toBe(true)
})

test('a copy ends before lines that its store lacks, and asks for them once at each look', async () => {
  const run = { sessionId: 's', messageId: 1, runId: 1, openedAt: 0, finished: false }
  const lines = [1, 2, 5, 6].map((sequence) => ({ sequence, json: JSON.stringify({ sequence }) }))
  let reads = 0
  let isOver = false
  const copies = createCopies({
    shared: {
      read: async (messageId: number, cursor: number) => {
        if (++reads > 20) throw new Error('asked without end')
        return { messageId, entries: lines.filter(({ sequence }) => sequence > cursor), finished: isOver }
      },
    } as unknown as SharedRuns,
    maxRunBytes: 1_000,
    readCalls: async () => [],
    leaseMs: 1_000,
    now: () => 0,
  })
  const copy = await copies.of(run)
  expect([copy.finished, reads]).toEqual([false, 2])
  await copies.catchUp(1)
  expect([copy.finished, reads]).toEqual([false, 3])
  isOver = true
  await copies.catchUp(1)
  expect(await readAll(copy)).toEqual([{ sequence: 1 }, { sequence: 2 }])
})
