import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'

const program = join(import.meta.dirname, '../../packages/inlay/src/cli.ts')
const folder = mkdtempSync(join(tmpdir(), 'inlay-lean-'))
let child: ChildProcess | undefined

afterEach(() => {
  child?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** Starts `inlay serve` and waits until it answers. */
async function serve(
  env: Record<string, string>,
  flags: readonly string[] = [],
): Promise<{ arguments: string; environment: string }> {
  const { MALLOC_ARENA_MAX: _, ...own } = process.env
  child = spawn(
    process.execPath,
    [...flags, '--conditions=@inlay/source', program, 'serve', '--port', '0', '--data', folder],
    {
      env: { ...own, INLAY_MODEL: 'extractive', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await once(child.stdout!, 'data')
  const read = (name: string): string => readFileSync(`/proc/${child!.pid}/${name}`, 'utf8').replaceAll('\0', '\n')
  return { arguments: read('cmdline'), environment: read('environ') }
}

test.runIf(process.platform === 'linux')(
  'the server starts itself with an allocator that gives memory back',
  async () => {
    const { arguments: words, environment } = await serve({})
    expect(environment).toMatch(/^MALLOC_ARENA_MAX=2$/m)
    expect(words).toMatch(/^--max-semi-space-size=16$/m)
    // The started process itself is the server, not a child of it, so signals reach the server.
    const ended = once(child!, 'exit')
    child!.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  },
  60_000,
)

test.runIf(process.platform === 'linux')(
  'what an operator set stays',
  async () => {
    const { arguments: words, environment } = await serve({ MALLOC_ARENA_MAX: '8' })
    expect(environment).toMatch(/^MALLOC_ARENA_MAX=8$/m)
    expect(words).not.toMatch(/semi-space/)
  },
  60_000,
)

test.runIf(process.platform === 'linux')(
  'a process that may not start programs serves as it is',
  async () => {
    const allowed = ['--allow-fs-read=*', '--allow-fs-write=*', '--allow-addons', '--allow-worker']
    const { environment } = await serve({}, ['--permission', ...allowed])
    expect(environment).not.toMatch(/MALLOC_ARENA_MAX/)
  },
  60_000,
)
