import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, rmdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openHarness, testFolder, type Harness } from '../harness.ts'
import { temporaryFolder } from '../process.ts'

const mount = (...words: string[]): boolean => spawnSync('mount', words).status === 0

/** Only an administrator of a Linux machine may mount; elsewhere these tests are left out. */
const mayMount = (() => {
  if (process.platform !== 'linux' || !existsSync('/proc/mounts')) return false
  const { path } = temporaryFolder()
  const isAllowed = mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path)
  if (isAllowed) spawnSync('umount', [path])
  rmdirSync(path)
  return isAllowed
})()

/** A folder on a separate disk, that can be made larger. */
function smallDisk(megabytes: number): { path: string; enlarge(megabytes: number): void } {
  const folder = temporaryFolder()
  expect(mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder.path)).toBe(true)
  onTestFinished(() => {
    // The harness is closed by now.
    spawnSync('umount', ['-l', folder.path])
    folder.remove()
  })
  return {
    path: folder.path,
    enlarge: (size) => expect(mount('-o', `remount,size=${size}m`, folder.path)).toBe(true),
  }
}

const marker = (at: number): string => `marker${String(at).replaceAll(/\d/g, (digit) => 'bcdfghjklm'[Number(digit)]!)}x`

/** About 100 kB that no compression makes small, with a word of its own. */
function largeText(at: number): string {
  const words = Array.from({ length: 10_000 }, () => Math.random().toString(36).slice(2, 10))
  return `${words.join(' ')}\n\n${marker(at)}`
}

/** Posts until the service refuses, or so many are in; answers the refusal. */
async function fill(
  harness: Harness,
  accepted: number[],
  most: number,
): Promise<Awaited<ReturnType<Harness['post']>> | undefined> {
  for (let at = accepted.length + 1; at <= most; at++) {
    const answer = await harness.post(`document ${at}`, largeText(at))
    if (answer.status !== 200) return answer
    accepted.push(at)
  }
  return undefined
}

async function expectAllFound(harness: Harness, accepted: readonly number[]): Promise<void> {
  for (const at of accepted) {
    await harness.until(`document ${at}`, 'indexed', 60_000)
    expect(await harness.find(marker(at)), marker(at)).toEqual([`document ${at}`])
  }
}

describe.skipIf(!mayMount)('a disk that is full', { timeout: 900_000 }, () => {
  test('refuses documents with the reason, keeps what was accepted, and goes on once there is room', async () => {
    const disk = smallDisk(8)
    const harness = openHarness({ dataFolder: join(disk.path, 'data') })
    const accepted: number[] = []
    const refusal = await fill(harness, accepted, 400)
    expect(refusal).toMatchObject({ status: 503, body: { error_code: 'SERVICE_UNAVAILABLE' } })
    expect(refusal!.body.detail).toMatch(/disk .* full/)
    expect(accepted.length).toBeGreaterThan(5)
    // Still there to be asked.
    expect(await harness.stateOf('document 1')).toBeDefined()
    // More than upkeep may have freed meanwhile.
    const large = Array.from({ length: 20 }, () => largeText(0)).join('\n')
    expect((await harness.post('one more', large)).status).toBe(503)
    disk.enlarge(400)
    await expectAllFound(harness, accepted)
    expect(await harness.stateOf('one more')).toBeUndefined()
    expect((await harness.post('one more', 'there is room again')).body).toMatchObject({ already_existed: false })
    await harness.until('one more', 'indexed')
  })

  test('under the index alone lets documents wait, says why, and takes them in once there is room', async () => {
    const disk = smallDisk(4)
    const index = lancedbIndex({ folder: join(disk.path, 'index'), keepVersionsMs: 0 })
    const harness = openHarness({ dataFolder: testFolder(), index })
    expect((await harness.post('first', `a quick word: ${marker(0)}`)).status).toBe(200)
    await harness.until('first', 'indexed')
    const accepted: number[] = []
    expect(await fill(harness, accepted, 40)).toBeUndefined()
    await expect
      .poll(async () =>
        (await Promise.all(accepted.map((at) => harness.stateOf(`document ${at}`)))).map((item) => item?.reason),
      )
      .toContain('The disk of the index is full: free some space.')
    // Stored documents stay searchable.
    expect(await harness.find(marker(0))).toEqual(['first'])
    disk.enlarge(400)
    await expectAllFound(harness, accepted)
    expect(harness.errors.length).toBeGreaterThan(0)
  })

  test('searches go on in a server, readiness says it, and SIGTERM ends it with code 0 and no stack', async () => {
    const disk = smallDisk(40)
    const apiKey = 'inlay_key-of-the-full-disk-0123456789'
    const env = { ...process.env, INLAY_DATA: join(disk.path, 'data'), INLAY_API_KEY: apiKey }
    const cli = ['--conditions=@inlay/source', 'packages/inlay/src/cli.ts', 'serve', '--port', '0', '--json']
    const server = spawn(process.execPath, cli, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void server.kill('SIGKILL'))
    let errors = ''
    server.stderr.on('data', (part) => (errors += part))
    const base = await new Promise<string>((resolve) => {
      let output = ''
      server.stdout.on('data', (part) => {
        output += part
        const match = /"base_url":\s*"([^"]+)"/.exec(output)
        if (match) resolve(match[1]!)
      })
    })
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const call = async (path: string, body?: object, wait = 0) => {
      const more = body ? { method: 'POST', body: JSON.stringify(body) } : {}
      const response = await fetch(base + path, { headers: { ...headers, prefer: `wait=${wait}` }, ...more })
      return { status: response.status, body: (await response.json()) as { message?: string; results?: unknown[] } }
    }
    const ingest = (id: string, text: string, wait: number) =>
      call(
        '/service-api/ingestion',
        { document: { id, semantic_identifier: id, metadata: {}, sections: [{ text }] } },
        wait,
      )
    expect((await ingest('a', 'The heron stands in the lake.', 60)).status).toBe(200)
    const file = openSync(join(disk.path, 'rest'), 'w')
    for (const size of [1 << 16, 512])
      try {
        for (;;) writeSync(file, Buffer.alloc(size))
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' })
      }
    closeSync(file)
    // Some may fit into the files that are there; they wait for the index.
    const waiting = Array.from({ length: 5 }, (_, at) => ingest(`b${at}`, `word${at} `.repeat(60_000), 60))
    await expect
      .poll(async () => (await call('/health/ready')).body.message, { timeout: 30_000 })
      .toBe('ok; a disk is full')
    for (const query of ['heron', 'lake']) {
      const began = performance.now()
      expect((await call('/search', { query })).body.results).not.toEqual([])
      expect(performance.now() - began).toBeLessThan(2_000)
    }
    const ended = new Promise((resolve) => server.once('exit', (code, signal) => resolve([code, signal])))
    server.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    for (const { status } of await Promise.all(waiting)) expect([200, 503]).toContain(status)
    expect(errors).not.toMatch(/unexpectedly|\n\s+at /)
  })
})
