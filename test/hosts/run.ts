/**
 * Mounts the packed packages into apps of many frameworks, each as the docs say, builds and runs them, and holds twelve
 * checks against each over HTTP. Needs the build and the registry, so it is a check and not a test.
 *
 *   npm run check:hosts [-- Express Next.js ...]
 *
 * With `--linked` nothing is packed or installed: hosts that the workspace depends on run with its own build.
 */
import { join, resolve } from 'node:path'
import { freePort, inFolder, pack, until, type Packed } from '../package/installation.ts'
import { checks } from './checks.ts'
import type { Host } from './host.ts'
import { hosts } from './hosts/index.ts'
import { startModel, type HostModel } from './model.ts'
import { makeProject, startProject } from './project.ts'
import { key, withinSeconds, type Site } from './site.ts'

/** Marks of a host: undefined where a check holds, else why not. */
type Marks = readonly (string | undefined)[]

async function marksOf(site: Site): Promise<Marks> {
  const marks: (string | undefined)[] = []
  for (const [title, check] of checks) {
    const fault = await withinSeconds(300, 'end', check(site)).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    marks.push(fault)
    if (fault !== undefined) console.log(`  ${title}: ${fault.slice(0, 600)}`)
  }
  return marks
}

interface Checked {
  readonly folder: string
  readonly packed: readonly Packed[] | undefined
  readonly model: HostModel
}

async function checkHost(host: Host, { folder, packed, model }: Checked): Promise<Marks> {
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const env = { ...model.env, INLAY_API_KEY: key, INLAY_DATA: join(folder, 'data'), PORT: String(port) }
  const start = async (): Promise<Site['serving']> => {
    const serving = startProject(folder, host, port, env)
    await until('/health', async () => ((await fetch(`${origin}/assistant/health`)).ok ? true : undefined)).catch(
      async (error: unknown) => {
        await serving.end()
        throw new Error(`${String(error)}\n${serving.output()}`)
      },
    )
    return serving
  }
  makeProject(folder, host, packed, port)
  const site: Site = {
    origin,
    model,
    programHeaders: host.needsOrigin === true ? { origin } : {},
    serving: await start(),
    async restart() {
      site.serving = await start()
    },
  }
  try {
    const marks = await marksOf(site)
    if (marks.some((fault) => fault !== undefined)) console.log(site.serving.output().slice(-3000))
    return marks
  } finally {
    await site.serving.end()
  }
}

function row(name: string, marks: Marks): string {
  return `| ${[name, ...marks.map((fault) => (fault === undefined ? 'yes' : 'NO'))].join(' | ')} |`
}

const words = process.argv.slice(2)
const isLinked = words.includes('--linked')
const wanted = words.filter((word) => word !== '--linked').map((name) => name.toLowerCase())

async function checkHosts(work: string): Promise<void> {
  const chosen = hosts.filter(({ name }) => wanted.length === 0 || wanted.includes(name.toLowerCase()))
  const packed = isLinked ? undefined : pack(work)
  const rows: string[] = []
  for (const host of chosen) {
    console.log(host.name)
    const started = Date.now()
    const failed = (error: unknown): Marks => {
      console.log(`  ${error instanceof Error ? error.message : String(error)}`)
      return checks.map(() => 'it did not start')
    }
    const model = await startModel()
    const folder = join(work, host.name.replaceAll(/\W+/g, '-'))
    const marks = await checkHost(host, { folder, packed, model }).catch(failed)
    await model.close()
    console.log(`  ${Math.round((Date.now() - started) / 1000)} s`)
    rows.push(row(host.name, marks))
    if (marks.some((fault) => fault !== undefined)) process.exitCode = 1
  }
  const titles = checks.map(([title]) => title)
  console.log(['', `| host | ${titles.join(' | ')} |`, `|---|${'---|'.repeat(titles.length)}`, ...rows].join('\n'))
}

await inFolder('hosts', checkHosts, isLinked ? resolve('test/hosts') : undefined)
