import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ChildLine, ChildTask } from './history-child.ts'
import { isLinearizable, type Change } from './linearization.ts'
import { eventually, temporaryFolder } from '../process.ts'
import { seededRandom } from '../random.ts'
import { versionOf, type State } from '../versions.ts'

/** A process and what it said so far. */
interface Member {
  readonly child: ChildProcess
  readonly task: ChildTask
  readonly lines: ChildLine[]
  readonly exit: Promise<unknown>
}

function startMember(task: ChildTask): Member {
  const program = new URL('history-child.ts', import.meta.url).pathname
  const child = spawn(process.execPath, ['--conditions=@inlay/source', program, JSON.stringify(task)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, LANCEDB_LOG: 'error' },
  })
  const lines: ChildLine[] = []
  createInterface(child.stdout).on('line', (line) => {
    // The last one may be cut off.
    if (line.endsWith('}')) lines.push(JSON.parse(line) as ChildLine)
  })
  const exit = new Promise((resolve) => child.once('close', resolve))
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, task, lines, exit }
}

const said = (member: Member, what: ChildLine['say']): Promise<true> =>
  eventually(`a process says "${what}"`, async () => member.lines.some(({ say }) => say === what) || undefined)

async function write(members: readonly Member[], what: 'stopped' | 'end'): Promise<void> {
  for (const { child } of members) child.stdin!.write('go on\n')
  await Promise.all(members.map((member) => said(member, what)))
}

const shared = ['alpha', 'beta', 'gamma']

/** Two processes at work for a while; with a kill, one of them dies in the middle and a third takes its place. */
async function live(seed: number, { forMs, kills }: { forMs: number; kills: boolean }): Promise<readonly Member[]> {
  const random = seededRandom(seed)
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const make = (number: number): Member =>
    startMember({
      folder: folder.path,
      seed: seed * 10 + number,
      shared,
      own: `own${number}`,
      firstVersion: 1 + number * 1e6,
      aheadMs: number === 1 ? 500 : 0,
    })
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  const members = [make(0), make(1)]
  await Promise.all(members.map((member) => said(member, 'looked')))
  if (kills) {
    await pause(forMs * random())
    const dead = members[random() < 0.5 ? 0 : 1]!
    dead.child.kill('SIGKILL')
    await dead.exit
    members.push(make(2))
    await said(members[2]!, 'looked')
  }
  await pause(forMs)
  const living = members.filter(({ child }) => child.exitCode === null && child.signalCode === null)
  expect(living).toHaveLength(2)
  await write(living, 'stopped')
  await write(living, 'end')
  await Promise.all(living.map(({ exit }) => exit))
  return members
}

interface Look {
  readonly began: number
  readonly ended: number
  readonly versions: ReadonlyMap<string, State>
}

/** A change with the process that made it left aside; `posted` says which version. */
type Changes = ReadonlyMap<string, readonly Change[]>

function readChanges(members: readonly Member[]): Changes {
  const calls = new Map<string, Change & { id: string }>()
  for (const line of members.flatMap(({ lines }) => lines)) {
    if (line.say === 'began')
      calls.set(line.call, { id: line.id, state: line.state, began: line.at, ended: Infinity, existed: undefined })
    else if (line.say === 'ended')
      calls.set(line.call, { ...calls.get(line.call)!, ended: line.at, existed: line.existed })
  }
  return Map.groupBy(calls.values(), ({ id }) => id)
}

function readLooks(members: readonly Member[], ids: readonly string[]): Look[] {
  return members
    .flatMap(({ lines }) => lines)
    .filter((line) => line.say === 'looked')
    .map(({ began, ended, shown }) => ({
      began,
      ended,
      versions: new Map(
        ids.map((id) => {
          const version = versionOf(shown[id])
          expect(version, `${id}, a whole version at most: ${shown[id]}`).toBeDefined()
          return [id, version!]
        }),
      ),
    }))
    .toSorted((left, right) => left.began - right.began)
}

/** No look shows what was surely deleted or replaced before it began. */
function checkLooks(id: string, changes: readonly Change[], looks: readonly Look[]): void {
  const postOf = new Map(changes.map((change) => [change.state, change]))
  const deletes = changes.filter(({ state, existed }) => state === null && existed === true)
  for (const look of looks) {
    const version = look.versions.get(id)!
    if (version === null) continue
    const posted = postOf.get(version)!
    expect(posted.began).toBeLessThan(look.ended)
    const killer = deletes.find(({ began, ended }) => began > posted.ended && ended < look.began)
    expect(killer, `${id}: version ${version} was deleted before a look that shows it`).toBeUndefined()
    const newer = looks.find((other) => {
      const shown = other.versions.get(id)
      return typeof shown === 'number' && other.ended < look.began && postOf.get(shown)!.began > posted.ended
    })
    expect(newer?.versions.get(id), `${id}: version ${version} is shown after a newer one`).toBeUndefined()
  }
}

/** A document that is only ever updated is found by every look after the first that found it. */
function checkNeverGone(id: string, looks: readonly Look[]): void {
  const first = looks.find(({ versions }) => versions.get(id) !== null)
  const gone = looks.filter(({ began, versions }) => first && began > first.ended && versions.get(id) === null)
  expect(gone.length, `looks that miss ${id}, of ${looks.length}`).toBe(0)
}

function check(members: readonly Member[]): void {
  const errors = members.flatMap(({ lines }) => lines.filter(({ say }) => say === 'error'))
  expect(errors).toEqual([])
  const owned = members.map(({ task }) => task.own)
  const changes = readChanges(members)
  const looks = readLooks(members, [...shared, ...owned])
  const ends = members.flatMap(({ lines }) => lines.filter((line) => line.say === 'end'))
  expect(ends).toHaveLength(2)
  for (const id of [...shared, ...owned]) {
    const ofId = changes.get(id) ?? []
    expect(ofId.length).toBeGreaterThan(0)
    for (const { shown, listed } of ends) {
      const end = versionOf(shown[id])
      expect(end, `${id} in the end: ${shown[id]}`).toBeDefined()
      expect(isLinearizable(ofId, end!), `${ofId.length} changes of ${id} that end in ${end}`).toBe(true)
      expect(listed[id]).toBe(end === null ? undefined : 'indexed')
    }
    checkLooks(id, ofId, looks)
  }
  for (const id of owned) checkNeverGone(id, looks)
}

describe('posts and deletes of the same documents by eight clients in two processes over one folder', () => {
  test.each([1, 2, 3])('have one order that explains every answer and what is found (seed %i)', async (seed) => {
    check(await live(seed, { forMs: 4000, kills: false }))
  })

  test.each([4, 5])('have one also when a process is killed in the middle (seed %i)', async (seed) => {
    check(await live(seed, { forMs: 3000, kills: true }))
  })
})
