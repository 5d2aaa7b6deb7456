import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { IngestionStep } from '@inlay/knowledge'
import { expect, test } from 'vitest'
import { ids, type ChildLine, type ChildTask } from './kill-steps-child.ts'
import { indexChanges, type CrashPoint } from './crash-points.ts'
import { temporaryFolder } from '../process.ts'
import { seededRandom } from '../random.ts'
import { versionOf, type State } from '../versions.ts'

/** Data folders; each is killed once at every moment, and at random in between. */
const folders = 8
const randomKills = 7
const steps: readonly IngestionStep[] = ['accept', 'claim', 'chunk', 'embed', 'append', 'settle', 'prune']

/** How a process ends: by itself at a moment, or by us so long after it has opened the folder. */
type End = Pick<ChildTask, 'kill'> & { readonly afterMs?: number }

/** The ends that one folder sees, in order. */
function endsOf(folder: number, random: () => number): End[] {
  const at = (point: IngestionStep | CrashPoint, nth: number, afterLook = true): End => ({
    kill: { at: point, nth, afterLook },
  })
  // Before, during and after, in turns over the folders.
  const timing = (['before', 'during', 'after'] as const)[folder % 3]!
  // A new process cleans up after the previous one.
  const atStart = [at('prune', 1, false), at(`${timing} delete`, 1, false), at(`${timing} optimize`, 1, false)]
  const inWork = [
    ...steps.filter((step) => step !== 'prune').map((step) => at(step, 1 + Math.floor(random() * 4))),
    ...indexChanges.slice(0, 1).map((change) => at(`${timing} ${change}`, 1 + Math.floor(random() * 3))),
    ...Array.from({ length: 2 }, () => at('before commit', 1 + Math.floor(random() * 12))),
    ...Array.from({ length: 4 }, () => at('after commit', 1 + Math.floor(random() * 12))),
    ...Array.from({ length: randomKills }, () => ({ afterMs: random() * 400 })),
  ]
  const shuffled = [...inWork, ...atStart]
    .map((end) => ({ end, order: random() }))
    .toSorted((left, right) => left.order - right.order)
    .map(({ end }) => end)
  // Indexes over words and columns are built once, with the table; the one over vectors when there are some.
  const build = (nth: number): End => at(`${timing} createIndex`, nth, false)
  return [build(1 + (folder % 6)), build(1), at('settle', 4), build(1), ...shuffled]
}

/** Runs a process to its end; returns what it printed. @param compiled folder for compiled code */
async function run(
  task: ChildTask,
  { compiled, afterMs }: { compiled: string; afterMs?: number },
): Promise<{ lines: ChildLine[]; signal: string | null }> {
  const program = new URL('kill-steps-child.ts', import.meta.url).pathname
  const child = spawn(process.execPath, ['--conditions=@inlay/source', program, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LANCEDB_LOG: 'error', NODE_COMPILE_CACHE: compiled },
  })
  const lines: ChildLine[] = []
  let errors = ''
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes))
  const deadline = setTimeout(() => child.kill('SIGKILL'), 180_000)
  let timer: ReturnType<typeof setTimeout> | undefined
  createInterface(child.stdout).on('line', (line) => {
    // The last one may be cut off.
    if (!line.endsWith('}')) return
    lines.push(JSON.parse(line) as ChildLine)
    if (afterMs !== undefined) timer ??= setTimeout(() => child.kill('SIGKILL'), afterMs)
  })
  const signal = await new Promise<string | null>((resolve) => child.on('close', (_, by) => resolve(by)))
  clearTimeout(deadline)
  clearTimeout(timer)
  expect(errors).toBe('')
  return { lines, signal }
}

/** Possible states: one per document, or two while the result of the last change is unknown. */
interface Belief {
  readonly possible: Map<string, ReadonlySet<State>>
  firstVersion: number
}

function learn(belief: Belief, line: ChildLine, where: string): void {
  const { possible } = belief
  if (line.say === 'begins') {
    possible.set(line.id, new Set([...possible.get(line.id)!, line.version]))
    belief.firstVersion = Math.max(belief.firstVersion, (line.version ?? 0) + 1)
  } else if (line.say === 'done') {
    const [before] = possible.get(line.id)!
    expect(line.existed, `whether ${line.id} existed, ${where}`).toBe(before !== null)
    possible.set(line.id, new Set([line.version]))
  } else if (line.say === 'found') checkFound(belief, line, where)
  else if (line.say === 'settled') checkSettled(belief, line, where)
}

/** Before recovery a document may show an older version or none, but one at most, whole, and never a deleted one. */
function checkFound({ possible }: Belief, { shown }: ChildLine & { say: 'found' | 'settled' }, where: string): void {
  expect(ids, where).toEqual(expect.arrayContaining(Object.keys(shown)))
  for (const id of ids) {
    const version = versionOf(shown[id])
    expect(version, `${id} as found ${where}: ${shown[id]}`).toBeDefined()
    if (!possible.has(id)) continue
    if ([...possible.get(id)!].every((state) => state === null)) expect(version, `${id}, deleted, ${where}`).toBeNull()
  }
}

/** After recovery each document is in the state of its last change, and nothing else is there. */
function checkSettled({ possible }: Belief, line: ChildLine & { say: 'found' | 'settled' }, where: string): void {
  const { shown, listed } = line
  expect(ids, where).toEqual(expect.arrayContaining([...Object.keys(shown), ...Object.keys(listed)]))
  for (const id of ids) {
    const version = versionOf(shown[id])
    expect(version, `${id} ${where}: ${shown[id]}`).toBeDefined()
    expect([...(possible.get(id) ?? [null])], `${id} ${where}`).toContain(version)
    expect(listed[id], `the listed state of ${id} ${where}`).toBe(version === null ? undefined : 'indexed')
    possible.set(id, new Set([version!]))
  }
}

test('killed at every step and at random, over and over, the last acknowledged state of every document is searchable', async () => {
  const seed = Number(process.env['INLAY_TEST_SEED'] ?? 1)
  const kills = new Map<string, number>()
  let looks = 0
  // A process that comes to its end leaves compiled code behind, which spares those after it half of their time.
  const compiled = temporaryFolder()
  await run({ folder: join(compiled.path, 'empty'), seed, firstVersion: 1, isLast: true }, { compiled: compiled.path })
  const live = async (number: number): Promise<void> => {
    const random = seededRandom(seed + number)
    const folder = temporaryFolder()
    const belief: Belief = { possible: new Map(), firstVersion: 1 }
    const processOf = async (task: Partial<ChildTask>, afterMs?: number): Promise<ChildLine[]> => {
      const where = `(seed ${seed}, folder ${number}, ${JSON.stringify(task.kill ?? afterMs ?? 'the last')})`
      const whole = { folder: folder.path, seed: random() * 2 ** 31, firstVersion: belief.firstVersion, ...task }
      const { lines, signal } = await run(whole, { compiled: compiled.path, afterMs })
      for (const line of lines) learn(belief, line, where)
      looks += lines.filter(({ say }) => say === 'settled').length
      expect(signal, where).toBe(task.isLast ? null : 'SIGKILL')
      return lines
    }
    for (const { kill, afterMs } of endsOf(number, random)) {
      const lines = await processOf({ kill }, afterMs)
      const last = lines.at(-1)
      const label = last?.say === 'dies' ? last.at : 'random'
      kills.set(label, (kills.get(label) ?? 0) + 1)
    }
    const cleaned = (await processOf({ isLast: true })).at(-1)!
    if (cleaned.say !== 'cleaned') throw new Error(`the last process of folder ${number} did not come to its end`)
    expect(cleaned.rows, `rows left in folder ${number}, seed ${seed}`).toBe(cleaned.visibleRows)
    folder.remove()
  }
  const waiting = Array.from({ length: folders }, (_, number) => number)
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await live(next)
  }
  await Promise.all([lane(), lane()])
  compiled.remove()
  const total = [...kills.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    `${total} kills, ${looks} looks after recovery (seed ${seed}): ${JSON.stringify(Object.fromEntries(kills))}`,
  )
  expect(total).toBeGreaterThanOrEqual(200)
  const killsAt = (name: string): number =>
    [...kills].filter(([label]) => label.endsWith(name)).reduce((sum, [, count]) => sum + count, 0)
  for (const name of [...steps, ...indexChanges, 'commit'])
    expect(killsAt(name), `kills at ${name}`).toBeGreaterThanOrEqual(folders / 2)
}, 1_800_000)
