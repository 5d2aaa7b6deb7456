/** Bundles of hosts by esbuild, rollup and webpack: which parts work in them, and their errors for the others. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askAbout, freePort, installHost, run, serve, type Packed } from './installation.ts'

const key = 'inlay_bundle_check_key_0123456789'

const small = "import { isInlayError } from 'inlay'\nconsole.log(isInlayError(new Error('x')))\n"
const app = `import { createServer } from 'node:http'
import { createInlay, nodeListener } from 'inlay'
const inlay = createInlay({ apiKey: process.env.INLAY_API_KEY, dataFolder: process.env.INLAY_DATA, basePath: '/api' })
createServer(nodeListener(inlay)).listen(Number(process.env.PORT))
`
const knowledge = `import { createKnowledge, migrateKnowledge } from 'inlay/knowledge'
import { Kysely } from 'inlay/kysely'
import { lancedbIndex, nodeSqlite } from 'inlay/drivers'
async function main() {
  const folder = process.env.INLAY_DATA
  const db = new Kysely({ dialect: nodeSqlite({ file: folder + '.db' }) })
  await migrateKnowledge(db)
  const knowledge = createKnowledge({ db, index: lancedbIndex({ folder }) })
  await knowledge.start()
  await knowledge.accept({ document: { sections: [{ text: 'Staff get 25 days of leave.' }] } }, { waitMs: 60_000 })
  console.log((await knowledge.search({ text: 'days of leave' })).length)
  process.exit(0)
}
main().catch((error) => {
  console.error(error)
  process.exit(1)
})
`
const rollupConfig = `import commonjs from '@rollup/plugin-commonjs'
import json from '@rollup/plugin-json'
import { nodeResolve } from '@rollup/plugin-node-resolve'
const external = process.env.EXTERNAL ? [/^inlay/] : []
const plugins = [nodeResolve({ exportConditions: ['node'], preferBuiltins: true }), commonjs(), json()]
const output = { dir: process.env.OUT, entryFileNames: 'main.mjs' }
export default { input: process.env.ENTRY, external, plugins, output, logLevel: 'silent' }
`
const webpackScript = `import webpack from 'webpack'
const { ENTRY: entry, OUT: path, EXTERNAL } = process.env
const externals = EXTERNAL ? { inlay: 'module inlay' } : {}
const output = { path, filename: 'main.mjs', module: true, library: { type: 'module' } }
const options = { mode: 'production', target: 'node', entry, externals, output, experiments: { outputModule: true } }
webpack({ ...options, optimization: { minimize: false } }, (error, stats) => {
  if (!error && !stats.hasErrors()) return
  console.error(error ?? stats.toString({ all: false, errors: true }))
  process.exitCode = 1
})
`

type Bundle = (entry: string, isExternal: boolean) => string

/** Bundlers by name; each gives the file it made. */
function bundlersIn(project: string): Readonly<Record<string, Bundle>> {
  const byEnvironment =
    (name: string, command: string, words: string[]): Bundle =>
    (entry, isExternal) => {
      const out = join(project, `${name}-${entry}-${isExternal}`)
      const env = { ...process.env, ENTRY: `./${entry}.js`, OUT: out, EXTERNAL: isExternal ? 'yes' : '' }
      run(command, words, { cwd: project, env })
      return join(out, 'main.mjs')
    }
  const esbuild =
    (format: 'esm' | 'cjs'): Bundle =>
    (entry, isExternal) => {
      const file = join(project, `esbuild-${entry}-${isExternal}.${format === 'esm' ? 'mjs' : 'cjs'}`)
      const words = [`${entry}.js`, '--bundle', '--platform=node', `--format=${format}`, `--outfile=${file}`]
      const all = [...words, '--log-level=error', ...(isExternal ? ['--external:inlay'] : [])]
      run(join(project, 'node_modules/.bin/esbuild'), all, { cwd: project })
      return file
    }
  return {
    'esbuild to ES modules': esbuild('esm'),
    'esbuild to CommonJS': esbuild('cjs'),
    rollup: byEnvironment('rollup', join(project, 'node_modules/.bin/rollup'), ['-c', 'rollup.config.js']),
    webpack: byEnvironment('webpack', 'node', ['webpack.mjs']),
  }
}

/**
 * An import of a part works in any bundle. A whole app works with `inlay` left outside; with it inside, the app is told at
 * its start what to do, where the bundler has not refused the optional packages before.
 */
export async function checkBundles(project: string, packed: readonly Packed[], node: string): Promise<void> {
  const dependencies = {
    '@rollup/plugin-commonjs': '29.0.3',
    '@rollup/plugin-json': '6.1.0',
    '@rollup/plugin-node-resolve': '16.0.3',
    esbuild: '0.28.2',
    rollup: '4.68.7',
    webpack: '5.112.2',
  }
  installHost(project, packed, { manager: 'npm', dependencies })
  const files = {
    'small.js': small,
    'app.js': app,
    'knowledge.js': knowledge,
    'rollup.config.js': rollupConfig,
    'webpack.mjs': webpackScript,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text)
  for (const [name, bundle] of Object.entries(bundlersIn(project))) {
    if (run(node, [bundle('small', false)], { cwd: project }).trim() !== 'false') throw new Error(`${name}: no answer`)
    const port = await freePort()
    const env = { INLAY_API_KEY: key, INLAY_DATA: join(project, `data-${port}`), PORT: String(port) }
    const serving = serve(node, [bundle('app', true)], project, env)
    await askAbout(`http://127.0.0.1:${port}/api`, key).finally(() => serving.end())
    const settings = { cwd: project, env: { ...process.env, ...env, INLAY_DATA: join(project, `parts-${port}`) } }
    if (name !== 'webpack') {
      mustBeTold(name, node, bundle('app', false), settings)
      worksOrIsTold(name, node, bundle('knowledge', false), settings)
    }
    console.log(`  ${name}: a host answers from its bundle`)
  }
}

function worksOrIsTold(
  name: string,
  node: string,
  file: string,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): void {
  const { status, stdout } = spawnSync(node, [file], { ...options, encoding: 'utf8', timeout: 120_000 })
  if (status !== 0 || stdout.trim() !== '1') mustBeTold(name, node, file, options)
}

function mustBeTold(name: string, node: string, file: string, options: { cwd: string; env: NodeJS.ProcessEnv }): void {
  const { status, stderr } = spawnSync(node, [file], { ...options, encoding: 'utf8', timeout: 60_000 })
  if (status === 1 && /Keep the package "inlay" external/.test(stderr)) return
  throw new Error(`${name}: a bundle that holds inlay is not told so:\n${stderr.slice(-2000)}`)
}
