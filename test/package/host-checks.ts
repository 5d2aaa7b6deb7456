/** Uses the installed packages as other kinds of hosts do: strict types, CommonJS, Jest, no LanceDB. */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { installHost, run, type Packed } from './installation.ts'
import { checkSize } from './install-size.ts'

/** Sources of strict hosts, compiled against the declarations as they are packed. */
export const strictHosts: readonly string[] = globSync('test/package/strict-host/*.ts')
export const strictest = '--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --declaration'
/** Packages that declarations of a host may name: its dependencies. */
export const ownName: RegExp = /^(?:inlay|@inlay\/conformance)(?:\/|$)/
export const target = '--skipLibCheck false --target es2024 --types node'
export const resolutions: readonly string[] = [
  '--module nodenext',
  '--module node16',
  '--module esnext --moduleResolution bundler',
]

/** Compiles a host under the strictest settings. It is linked by pnpm, so declarations may name what it depends on alone. */
export function checkTypes(project: string, packed: readonly Packed[], example: string): void {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  // Conformance tests are installed on their own, beside `inlay`.
  const conformance = packed.find(({ name }) => name === '@inlay/conformance')
  const schemas = ['@valibot/to-json-schema', 'arktype', 'valibot', 'zod'].map((name) => [name, devDependencies[name]])
  const dependencies = {
    typescript: '5.9.3',
    '@types/node': '24.10.1',
    ...Object.fromEntries(schemas),
    '@inlay/conformance': `file:${conformance?.file}`,
  }
  installHost(project, packed, { manager: 'pnpm', dependencies })
  writeFileSync(join(project, 'example.ts'), example)
  for (const file of strictHosts) cpSync(file, join(project, basename(file)))
  const files = ['example.ts', ...strictHosts.map((file) => basename(file))]
  for (const resolution of resolutions)
    run('node_modules/.bin/tsc', [...`${strictest} ${target} --outDir out ${resolution}`.split(' '), ...files], {
      cwd: project,
    })
  const declarations = readFileSync(join(project, 'out/host.d.ts'), 'utf8')
  const foreign = [...declarations.matchAll(/(?:from |import\()['"]([^'"]+)/g)].map(([, name]) => name!)
  const unnamed = foreign.filter((name) => !ownName.test(name))
  if (unnamed.length > 0) throw new Error(`declarations of a host name ${unnamed.join(', ')}`)
  console.log('  types: clean for strict hosts of bundlers, nodenext and node16')
}

/** A host whose package manager left out optional dependencies: small, with errors that name the missing package. */
export function checkWithoutLancedb(project: string, packed: readonly Packed[]): void {
  installHost(project, packed, { manager: 'npm', args: ['--omit=optional'] })
  checkSize('npm install inlay --omit=optional', project)
  const start = `import { createInlay } from 'inlay'; await createInlay().start()`
  const { stderr } = spawnSync('node', ['--input-type=module', '-e', start], { cwd: project, encoding: 'utf8' })
  const message = /LanceDB cannot be loaded.*npm install @lancedb\/lancedb-\S+@[\d.]+.*/.exec(stderr)?.[0]
  if (message === undefined) throw new Error(`what is missing is not told:\n${stderr}`)
  console.log(`  without LanceDB: ${message}`)
}

const answered = `
const inlay = createInlay({ dataFolder: './jest-data' })
await inlay.knowledge.accept(
  { document: { id: 'leave', semantic_identifier: 'Leave', metadata: {}, sections: [{ text: 'Staff get 25 days.' }] } },
  { waitMs: 60_000 },
)
const found = await inlay.knowledge.search({ text: 'How many days?', limit: 1 })
await inlay.close()
`

/** CommonJS apps can `require` it, and Jest runs it when configured for ES modules. */
export function checkCommonJs(project: string, node: string): void {
  const app = "const { createInlay } = require('inlay'); console.log(typeof createInlay)"
  writeFileSync(join(project, 'app.cjs'), app)
  if (run(node, ['app.cjs'], { cwd: project }).trim() !== 'function') throw new Error('require gives no createInlay')
  console.log('  CommonJS: require works')
}

/** Runs a test of a host in Jest. */
export function checkJest(project: string, packed: readonly Packed[]): void {
  installHost(project, packed, { manager: 'npm', dependencies: { jest: '30.5.2' } })
  mkdirSync(join(project, 'test'))
  const body = `${answered}\nexpect(found[0].document.document_id).toBe('leave')`
  writeFileSync(
    join(project, 'test/host.test.js'),
    `import { createInlay } from 'inlay'\ntest('finds', async () => {${body}})\n`,
  )
  const env = { ...process.env, NODE_OPTIONS: '--experimental-vm-modules' }
  // Jest gives a test five seconds, which a busy machine takes to index.
  run('npx', ['jest', '--transform', '{}', '--testTimeout=120000'], { cwd: project, env })
  console.log('  Jest: runs a host with --experimental-vm-modules')
}
