/**
 * Packs every package, checks each tarball, installs all of them into an empty project and runs the README's mounting
 * example there on each supported Node. Needs the build and the registry, so it is a check and not a test.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { askAbout, inFolder, install, pack, run, serve, until } from './installation.ts'

const nodes = process.argv[2]?.split(',') ?? ['22.18.0', '24.21.0']
const key = 'inlay_tarball_check_key_0123456789'

function folderBytes(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size
  return bytes
}

/** Packs and checks; gives the tarballs. */
function checkedTarballs(work: string): string[] {
  return pack(work).map(({ name, file, entries, bytes }) => {
    run('publint', ['run', file, '--strict'])
    run('attw', [file, '--profile', 'esm-only', '--format', 'ascii'])
    console.log(`  ${name}: ${entries} files, ${Math.round(bytes / 1000)} kB packed`)
    return file
  })
}

/** The README's first TypeScript block is the mounting example: what a newcomer pastes is what runs here. */
function mountingExample(): string {
  const block = /```ts\n(?<code>[\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))?.groups?.['code']
  if (!block) throw new Error('README.md has no ```ts block to mount')
  return block
}

async function mount(version: string, node: string, project: string): Promise<void> {
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  const example = mountingExample().replace('listen(3000)', `listen(${port})`)
  if (!example.includes(String(port))) throw new Error('the example does not listen on 3000')
  writeFileSync(join(project, `app-${version}.js`), example)
  const serving = serve(node, [`app-${version}.js`], project, { INLAY_API_KEY: key })
  try {
    const answer = await askAbout(`http://127.0.0.1:${port}/api`, key)
    console.log(`  Node ${version}: the README's example answers: ${answer}`)
  } catch (error) {
    console.error(serving.output())
    throw error
  } finally {
    await serving.end()
  }
}

/** The installed command serves the page that ships with it. */
async function servePage(version: string, node: string, project: string): Promise<void> {
  const command = join(project, 'node_modules/inlay/dist/cli.js')
  const words = [command, 'serve', '--port', '0', '--json', '--data', join(project, `served-${version}`)]
  const serving = serve(node, words, project, {})
  try {
    const { address } = await until('inlay serve', async () => {
      const line = serving
        .output()
        .split('\n')
        .find((item) => item.startsWith('{'))
      return line === undefined ? undefined : (JSON.parse(line) as { address: string })
    })
    const page = await (await fetch(address)).text()
    const script = /src="([^"]+\.js)"/.exec(page)?.[1]
    if (script === undefined || !(await fetch(new URL(script, address))).ok)
      throw new Error(`no page at ${address}: ${page}`)
    console.log(`  Node ${version}: inlay serve shows its page`)
  } finally {
    await serving.end()
  }
}

/** A host of its own kind: every type of ours is looked at, by the strictest settings, and declarations are made. */
const strictHost = `import { createInlay } from 'inlay'
import * as agent from '@inlay/agent'
import * as client from '@inlay/client'
import * as knowledge from '@inlay/knowledge'
import * as protocol from '@inlay/protocol'
import * as server from '@inlay/server'

export const inlay = createInlay()
export const answering = inlay.agent
export const documents = inlay.knowledge
export const all = [agent, client, knowledge, protocol, server]
`
const strictest = [
  '--strict',
  '--skipLibCheck',
  'false',
  '--exactOptionalPropertyTypes',
  '--declaration',
  '--target',
  'es2024',
]
const resolutions = [
  ['--module', 'nodenext'],
  ['--module', 'esnext', '--moduleResolution', 'bundler'],
]

/** Hosts check types as they like: ours must hold under all of it. */
function checkTypes(project: string, tarballs: readonly string[]): void {
  install(project, [...tarballs, 'typescript@5.9.3', '@types/node@24.10.1'])
  writeFileSync(join(project, 'example.ts'), mountingExample())
  writeFileSync(join(project, 'host.ts'), strictHost)
  for (const resolution of resolutions) {
    const options = [...strictest, ...resolution, '--outDir', 'out', 'example.ts', 'host.ts']
    run(join(project, 'node_modules/.bin/tsc'), options, { cwd: project })
  }
  console.log('  types: clean for a strict host')
}

/**
 * A host of strict types compiles: the README's example under `exactOptionalPropertyTypes`, and exports of all parts,
 * whose declarations name nothing but what the host depends on.
 */
function compileHost(project: string): void {
  const exported = ['agent', 'knowledge', 'keys', 'routes'].map((name) => `export const ${name} = inlay.${name}`)
  const host = [mountingExample(), ...exported, 'export const parts = () => ({ ...inlay })', ''].join('\n')
  writeFileSync(join(project, 'host.ts'), host)
  const flags = ['--strict', '--exactOptionalPropertyTypes', '--declaration', '--skipLibCheck', '--types', 'node']
  const target = ['--module', 'nodenext', '--target', 'es2023', '--typeRoots', resolve('node_modules/@types')]
  run('tsc', [...flags, ...target, '--outDir', 'types', 'host.ts'], { cwd: project })
  const foreign = [...readFileSync(join(project, 'types/host.d.ts'), 'utf8').matchAll(/import\("([^"]+)"\)/g)]
    .map(([, name]) => name)
    .filter((name) => name !== 'inlay')
  if (foreign.length > 0)
    throw new Error(`declarations of a host name ${foreign.join(', ')}, which it does not depend on`)
  console.log('  a host of strict types compiles')
}

await inFolder('tarballs', async (work) => {
  console.log('tarballs')
  const project = resolve(join(work, 'project'))
  const tarballs = checkedTarballs(work)
  install(project, tarballs)
  console.log(`  installed: ${Math.round(folderBytes(join(project, 'node_modules')) / 1e6)} MB`)
  checkTypes(resolve(join(work, 'types')), tarballs)
  compileHost(project)
  for (const version of nodes) {
    install(join(work, `node-${version}`), [`node@${version}`])
    const node = join(work, `node-${version}`, 'node_modules/node/bin/node')
    await mount(version, node, project)
    await servePage(version, node, project)
  }
})
