import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import type { VectorIndex } from '@inlay/knowledge'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'inlay-lancedb-kill-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

/** Runs the writer; kills it, without warning, once it has said so many steps. Answers what it said. */
async function write(at: string, name: string, options: { killAfter?: number; documents?: number }): Promise<string[]> {
  const script = new URL('writer.ts', import.meta.url).pathname
  const writer = spawn(
    process.execPath,
    ['--conditions=@inlay/source', script, at, name, String(options.documents ?? Infinity)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const said: string[] = []
  const ended = once(writer, 'exit')
  for await (const line of createInterface(writer.stdout)) {
    said.push(line)
    if (said.length === options.killAfter) writer.kill('SIGKILL')
  }
  const [code, signal] = (await ended) as [number | null, string | null]
  expect([code, signal]).toEqual(options.killAfter === undefined ? [0, null] : [null, 'SIGKILL'])
  return said
}

/** Ids that must exist according to the log; operations running at the kill may have either outcome. */
function expectedOf(said: readonly string[]): { present: Set<string>; absent: Set<string> } {
  const present = new Set<string>()
  const absent = new Set<string>()
  for (const line of said) {
    const id = line.slice(1)
    if (line[0] === '+') present.add(id)
    else if (present.delete(id)) absent.add(id)
  }
  return { present, absent }
}

/** @param kills how many writers were killed: each may have carried out one removal without saying so */
async function check(index: VectorIndex, said: readonly string[], kills = 0): Promise<void> {
  const { present, absent } = expectedOf(said)
  const hits = await index.search({ text: 'heron', limit: 5000 })
  const rows = hits.map((hit) => `${hit.documentId} ${hit.position}`)
  expect(new Set(rows).size).toBe(rows.length)
  const ids = new Set(hits.map((hit) => hit.documentId))
  const missing = [...present].filter((id) => !ids.has(id))
  expect(missing.length).toBeLessThanOrEqual(kills)
  expect([...absent].filter((id) => ids.has(id))).toEqual([])
  for (const id of present) {
    if (missing.includes(id)) continue
    const positions = rows.filter((name) => name.startsWith(`${id} `)).length
    expect(positions).toBe((Number(id.split('-').at(-1)) % 3) + 1)
  }
}

describe('an index whose process is killed', () => {
  it('keeps what was said to be in, once, and goes on', async () => {
    const at = join(folder, 'killed')
    const said: string[] = []
    for (const [round, killAfter] of [1, 7, 2, 19, 33, 11].entries()) {
      said.push(...(await write(at, `round${round}`, { killAfter })))
      const index = lancedbIndex({ folder: at })
      await index.open()
      await check(index, said, round + 1)
      await index.close()
    }
    const index = lancedbIndex({ folder: at, keepVersionsMs: 0 })
    await index.open()
    expect((await index.maintain({ idle: true })).unindexedRows).toBe(0)
    await check(index, said, 6)
    await index.close()
  })
})

describe('an index shared by processes', () => {
  it('loses and doubles nothing while two write and maintain and a third searches', async () => {
    const at = join(folder, 'shared')
    const index = lancedbIndex({ folder: at })
    await index.open()
    const writers = Promise.all(['left', 'right'].map((name) => write(at, name, { documents: 40 })))
    let isWriting = true
    void writers.finally(() => {
      isWriting = false
    })
    while (isWriting) {
      const rows = (await index.search({ text: 'heron', limit: 1000 })).map(
        (hit) => `${hit.documentId} ${hit.position}`,
      )
      expect(new Set(rows).size).toBe(rows.length)
    }
    await check(index, (await writers).flat())
    await index.close()
  })
})
