import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesOf } from '../../bench/ingestion/fixture.ts'

/** Resources of a running assistant. */
export interface Occupied {
  readonly memory: number
  /** Open files and sockets. */
  readonly handles: number
  /** The same by what they are. */
  readonly kinds: Readonly<Record<string, number>>
  readonly disk: number
}

/** `inlay serve` as people run it, in a separate process. */
export interface Assistant {
  readonly base: string
  /** With every scope. */
  readonly key: string
  /** Linux only. */
  occupied(): Occupied
  close(): Promise<void>
}

/** @param modelUrl base URL of an OpenAI-compatible model */
export async function startAssistant(modelUrl: string): Promise<Assistant> {
  const data = mkdtempSync(join(tmpdir(), 'inlay-bench-mixed-'))
  const child = spawn(
    process.execPath,
    ['--conditions=@inlay/source', 'packages/inlay/src/cli.ts', 'serve', '--json', '--data', data],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        PORT: '0',
        INLAY_MODEL: 'scripted',
        INLAY_MODEL_GROUNDING: 'tools',
        INLAY_MODEL_BASE_URL: modelUrl,
        INLAY_MODEL_CONTEXT_TOKENS: '32000',
        INLAY_SEARCH_HELP: 'off',
        LANCEDB_LOG: 'error',
      },
    },
  )
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const greeting = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (part) => (output += part).includes('\n') && resolve(output))
    child.once('exit', (code) => reject(new Error(`inlay serve ended with ${code}`)))
  })
  const { base_url: base, key } = JSON.parse(greeting) as { base_url: string; key: string }
  return {
    base,
    key,
    occupied: () => {
      const kinds = handlesOf(child.pid!, data)
      return {
        memory: Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024,
        handles: Object.values(kinds).reduce((sum, count) => sum + count, 0),
        kinds,
        disk: bytesOf(data),
      }
    },
    close: async () => {
      child.kill('SIGTERM')
      await exited
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/** Sockets, event and timer handles by the system's names, files by their folder in the data folder. */
function handlesOf(pid: number, data: string): Record<string, number> {
  const kinds: Record<string, number> = {}
  for (const handle of readdirSync(`/proc/${pid}/fd`)) {
    const target = targetOf(`/proc/${pid}/fd/${handle}`)
    const kind = target.startsWith(data)
      ? target.slice(data.length + 1).split('/', 1)[0]!
      : target.replace(/:?\[.*|^\/.*/, '') || 'other files'
    kinds[kind] = (kinds[kind] ?? 0) + 1
  }
  return kinds
}

/** Size of the target of a link, which may be gone by now. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return 'closed'
  }
}
