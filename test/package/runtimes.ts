/**
 * Installs the packed packages into an empty project and mounts them in Bun and in Deno, as the guide shows it: a
 * document in, a cited answer out, whole and streamed, with a file, over SQLite and LanceDB, ended as a supervisor does.
 * Both runtimes come from npm into a folder of their own. Needs the build and the registry, so it is a check and not a
 * test.
 *
 *   npm run check:runtimes -- [bun@1.4.5,deno@2.9.6]
 */
import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askAbout, inFolder, install, pack, serve, until, type Serving } from './installation.ts'

const wanted = process.argv[2]?.split(',') ?? ['bun@1.4.5', 'deno@2.9.6']
const key = 'inlay_runtime_check_key_0123456789'
const headers = { authorization: `Bearer ${key}` }

/** Where a runtime lies in its folder, and how it runs an app. */
interface Runtime {
  /** The first that is there: an install script moves it, and may not have run. */
  readonly places: readonly string[]
  readonly args: readonly string[]
  readonly app: string
}

const start = `import { createInlay } from 'inlay'
const inlay = createInlay({ dataFolder: process.env.DATA, apiKey: process.env.INLAY_API_KEY })
`
const runtimes: Readonly<Record<string, Runtime>> = {
  bun: {
    places: ['node_modules/bun/bin/bun.exe', 'node_modules/@oven/*/bin/bun'],
    args: [],
    app: `${start}
const server = Bun.serve({ port: 0, idleTimeout: 0, fetch: inlay.fetch })
console.log('port ' + server.port)
process.on('SIGTERM', async () => {
  await server.stop(true)
  await inlay.close()
})
`,
  },
  deno: {
    places: ['node_modules/deno/deno', 'node_modules/@deno/*/deno'],
    // What it needs and no more: the index is a native addon.
    args: [
      'run',
      ...['net', 'read', 'write', 'env', 'sys', 'ffi'].map((permission) => `--allow-${permission}`),
      '--node-modules-dir=manual',
    ],
    app: `import process from 'node:process'
${start}
const server = Deno.serve({ port: 0, onListen: ({ port }) => console.log('port ' + port) }, inlay.fetch)
Deno.addSignalListener('SIGTERM', async () => {
  await inlay.close()
  await server.shutdown()
  Deno.exit(0)
})
`,
  },
}

function binaryOf({ places }: Runtime, folder: string): string {
  const results = places.flatMap((place) => globSync(place, { cwd: folder }))[0]
  if (results === undefined) throw new Error(`npm has no runtime for this platform in ${folder}`)
  return join(folder, results)
}

async function stream(base: string): Promise<void> {
  const response = await fetch(`${base}/chat/send-chat-message`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'How many days of paid leave do staff receive?' }),
  })
  const text = await response.text()
  if (!/data: .*"type":"message_delta"[^]*"type":"stop"/.test(text)) throw new Error(`no whole stream: ${text}`)
}

async function uploadAndFetch(base: string): Promise<void> {
  const form = new FormData()
  form.append('files', new File(['day,hours\nMon,8\n'], 'hours.csv', { type: 'text/csv' }))
  const uploaded = await fetch(`${base}/user/projects/file/upload`, { method: 'POST', headers, body: form })
  // Checked by what is fetched with it.
  const { user_files: files } = (await uploaded.json()) as { user_files: { id: string; file_id: string }[] }
  const [file] = files
  const path = `${base}/chat/file/${file?.file_id}`
  const bytes = await (await fetch(path, { headers })).text()
  if (bytes !== 'day,hours\nMon,8\n') throw new Error(`another file came back: ${bytes}`)
  const sheets = await until('the sheets', async () => {
    const parsed = await fetch(`${path}?parsed=true`, { headers })
    return parsed.ok ? parsed.text() : undefined
  })
  if (!sheets.includes('hours')) throw new Error(`the sheets are others: ${sheets}`)
}

/** A client that leaves in the midst of an answer must not take the server with it. */
async function leave(base: string): Promise<void> {
  const gone = new AbortController()
  const response = await fetch(`${base}/chat/send-chat-message`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Leave?' }),
    signal: gone.signal,
  })
  await response.body?.getReader().read()
  gone.abort()
  if (!(await fetch(`${base}/health`)).ok) throw new Error('the server is gone')
}

async function check(name: string, serving: Serving): Promise<void> {
  const port = await until(`${name} listens`, async () => /port (\d+)/.exec(serving.output())?.[1])
  const base = `http://127.0.0.1:${port}/api`
  console.log(`  ${name}: ${await askAbout(base, key)}`)
  await stream(base)
  await uploadAndFetch(base)
  await leave(base)
  console.log(`  ${name}: streams, takes files, survives clients that leave`)
}

await inFolder('runtimes', async (work) => {
  console.log('runtimes')
  const project = join(work, 'project')
  const packed = pack(work)
  install(
    project,
    packed.map(({ file }) => file),
  )
  for (const version of wanted) {
    const name = version.split('@')[0] ?? ''
    const runtime = runtimes[name]
    if (runtime === undefined) throw new Error(`there is no check for ${name}`)
    const home = join(work, name)
    install(home, [version])
    writeFileSync(join(project, `${name}.js`), runtime.app)
    const env = { INLAY_API_KEY: key, DATA: join(project, `data-${name}`) }
    const serving = serve(binaryOf(runtime, home), [...runtime.args, `${name}.js`], project, env)
    try {
      await check(version, serving)
    } catch (error) {
      console.error(serving.output())
      throw error
    } finally {
      const code = await serving.end()
      console.log(`  ${version}: ended with ${code ?? 'force'}`)
      if (code !== 0) process.exitCode = 1
    }
  }
})
