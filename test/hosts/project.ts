import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Packed } from '../package/installation.ts'
import { installHost, run, serve, type Serving } from '../package/installation.ts'
import type { Host } from './host.ts'
import { recipesOf } from './recipes.ts'

/** The host's own sign-in, which the docs leave to the reader. */
const signIn = `async function readSession(cookie: string | null): Promise<{ id: string } | undefined> {
  const id = /session=(\\w+)/.exec(cookie ?? '')?.[1]
  return id === undefined ? undefined : { id }
}
`

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Code of the docs as it runs here: on this port, with routes of the host's own. */
function adapted(code: string, port: number, ownRoutes = ''): string {
  return code
    .replaceAll('3000', String(port))
    .replaceAll('https://app.example.com', `http://localhost:${port}`)
    .replace('// your own routes', () => ownRoutes)
}

/**
 * Writes an app of the framework, mounts Inlay as the docs say, installs from tarballs, and builds it.
 * @param packed undefined: nothing is installed, what the workspace has is used
 */
export function makeProject(folder: string, host: Host, packed: readonly Packed[] | undefined, port: number): void {
  const shared = recipesOf('The assistant').map(({ code }) => [
    host.inlayFile ?? 'inlay.ts',
    (host.signIn ?? signIn) + code,
  ])
  const recipe = recipesOf(host.section)
    .filter(({ file }) => host.takes?.includes(file) ?? true)
    .map(({ file, code }) => [file, adapted(host.edit?.(code) ?? code, port, host.ownRoutes)])
  if (packed === undefined) write(folder, { 'package.json': '{ "type": "module" }' })
  else installHost(folder, packed, { manager: 'npm', dependencies: host.dependencies, args })
  write(folder, { ...host.files, ...Object.fromEntries(shared), ...Object.fromEntries(recipe) })
  for (const [command = '', ...rest] of host.builds ?? [])
    run(command, rest, { cwd: folder, env: buildEnvironment(folder) })
}

const args = ['--no-audit', '--no-fund', '--prefer-offline']

function buildEnvironment(folder: string): NodeJS.ProcessEnv {
  const silent = ['NEXT_TELEMETRY_DISABLED', 'NUXT_TELEMETRY_DISABLED', 'ASTRO_TELEMETRY_DISABLED', 'CI']
  const path = `${join(folder, 'node_modules/.bin')}:${process.env['PATH']}`
  return { ...process.env, ...Object.fromEntries(silent.map((name) => [name, '1'])), PATH: path }
}

/** Starts the app as its recipe says. */
export function startProject(folder: string, host: Host, port: number, env: Readonly<Record<string, string>>): Serving {
  const [command = '', ...args] = host.start(port)
  // An install script moves the programs of runtimes, and may not have run.
  const program = globSync(command, { cwd: folder }).map((path) => join(folder, path))[0] ?? command
  return serve(program, args, folder, {
    NODE_ENV: 'production',
    ...host.env?.(port),
    ...env,
  })
}
