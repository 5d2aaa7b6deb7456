import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Manifest {
  name: string
  version: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  private?: boolean
  exports?: Record<string, { '@inlay/source': string; types: string; default: string }>
}

const folders = [
  'scheduling',
  'protocol',
  'client',
  'records',
  'text',
  'knowledge',
  'agent',
  'conversations',
  'drivers',
  'mastra',
  'extractive',
  'python',
  'telemetry',
  'server',
  'widget',
  'page',
  'conformance',
  'evaluation',
  'inlay',
]
const manifests = new Map(
  folders.map((folder) => [folder, JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8')) as Manifest]),
)

/** The picture of the design: who may import whom. `types` edges carry no code. */
const picture: Record<string, { values: string[]; types: string[] }> = {
  scheduling: { values: [], types: [] },
  protocol: { values: ['scheduling'], types: [] },
  client: { values: ['protocol'], types: [] },
  records: { values: ['protocol', 'scheduling'], types: [] },
  text: { values: [], types: [] },
  knowledge: { values: ['protocol', 'scheduling', 'records', 'text'], types: [] },
  agent: { values: ['protocol', 'scheduling', 'text'], types: [] },
  conversations: { values: ['protocol', 'scheduling', 'records', 'agent'], types: [] },
  drivers: { values: ['protocol', 'scheduling', 'records', 'text'], types: ['agent', 'knowledge'] },
  mastra: { values: ['protocol'], types: ['agent'] },
  extractive: { values: ['protocol', 'scheduling', 'text'], types: ['agent'] },
  python: { values: ['protocol', 'scheduling'], types: ['agent'] },
  telemetry: { values: ['protocol', 'scheduling'], types: ['agent', 'knowledge'] },
  server: { values: ['protocol', 'scheduling', 'records'], types: ['agent', 'conversations', 'knowledge'] },
  widget: { values: ['client', 'protocol', 'text'], types: [] },
  page: { values: ['client', 'protocol', 'text'], types: [] },
  evaluation: { values: ['client', 'protocol', 'scheduling', 'text'], types: [] },
  conformance: {
    values: ['protocol', 'scheduling', 'records', 'agent', 'knowledge'],
    types: ['conversations', 'drivers', 'server'],
  },
  inlay: {
    values: folders.filter((folder) => !['scheduling', 'mastra', 'conformance', 'page', 'inlay'].includes(folder)),
    types: [],
  },
}

interface Import {
  file: string
  specifier: string
  typeOnly: boolean
  lazy: boolean
}

function importsOf(folder: string): Import[] {
  return globSync(`packages/${folder}/src/**/*.{ts,tsx}`).flatMap((file) => {
    const source = readFileSync(file, 'utf8').replace(/^\s*(\*|\/\/|\/\*).*$/gm, '')
    const statements = [...source.matchAll(/^(?:import|export)(\s+type)?\b[^'"`;]*?from\s*['"]([^'"]+)['"]/gm)]
    const lazy = [...source.matchAll(/(typeof\s+)?\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)]
    const files = [...source.matchAll(/\bpackages\.resolve\(\s*['"]([^'"]+)['"]\s*\)/g)]
    return [
      ...statements.map((m) => ({ file, specifier: m[2]!, typeOnly: m[1] !== undefined, lazy: false })),
      ...lazy.map((m) => ({ file, specifier: m[2]!, typeOnly: m[1] !== undefined, lazy: true })),
      ...files.map((m) => ({ file, specifier: m[1]!, typeOnly: false, lazy: true })),
    ]
  })
}

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

test.each(folders)('%s imports only what the picture allows', (folder) => {
  const { values, types } = picture[folder]!
  for (const { file, specifier, typeOnly } of importsOf(folder)) {
    const target = packageOf(specifier)
    const internal = folders.find((other) => manifests.get(other)!.name === target)
    if (internal === undefined || internal === folder) continue
    const allowed = typeOnly ? [...values, ...types] : values
    expect(allowed, `${file} imports ${specifier}`).toContain(internal)
  }
})

/** As `onlyBundle` of `tsdown.config.ts` says. */
const isBundled = (name: string): boolean => ['h3', 'srvx', 'uuid'].includes(name)

test.each(folders)('%s declares every package it imports, and imports every package it declares', (folder) => {
  const manifest = manifests.get(folder)!
  const declared = new Set([
    ...Object.keys(manifest.dependencies ?? {}),
    ...Object.keys(manifest.peerDependencies ?? {}),
  ])
  const used = new Set<string>()
  // The build bundles everything of a script, and a few packages; of others that are not declared, sources may only use types.
  const bundled = Object.keys(manifest.devDependencies ?? {})
  const isScript = manifest.private === true || manifest.exports?.['./inlay-chat.js'] !== undefined
  for (const { file, specifier, typeOnly } of importsOf(folder)) {
    if (/^(\.|#|node:)/.test(specifier)) continue
    used.add(packageOf(specifier))
    const allowed = [
      ...declared,
      ...Object.keys(manifest.optionalDependencies ?? {}),
      manifest.name,
      ...(typeOnly || isScript || isBundled(packageOf(specifier)) ? bundled : []),
    ]
    expect(allowed, `${file} imports ${specifier}`).toContain(packageOf(specifier))
  }
  // Types are named by the declarations of dependencies that do not bring them.
  expect([...declared].filter((name) => !used.has(name) && !name.startsWith('@types/'))).toEqual([])
})

test('heavy engines are imported at first use only', () => {
  const heavy = [
    '@mastra/core',
    '@lancedb/lancedb',
    'apache-arrow',
    '@ai-sdk/openai',
    '@ai-sdk/anthropic',
    '@ai-sdk/openai-compatible',
  ]
  const eager = folders
    .flatMap(importsOf)
    .filter(({ specifier, typeOnly, lazy }) => heavy.includes(packageOf(specifier)) && !typeOnly && !lazy)
  expect(eager).toEqual([])
})

test('all packages share one version and pin what they depend on', () => {
  const versions = new Set([...manifests.values()].map((manifest) => manifest.version))
  expect(versions.size).toBe(1)
  for (const { name, dependencies } of manifests.values())
    for (const [dependency, range] of Object.entries(dependencies ?? {}))
      expect(range, `${name} → ${dependency}`).toMatch(/^\d+\.\d+\.\d+/)
})

test('every exported entry has its source', () => {
  for (const [folder, manifest] of manifests)
    for (const [entry, target] of Object.entries(manifest.exports ?? {})) {
      // Resolves in this workspace alone, for tests of internals.
      if (entry === './internal/*') continue
      // A script for pages, which has everything in it: the package is nothing else.
      const script = manifest.exports?.['./inlay-chat.js']
      if (target === script) continue
      expect(globSync(`packages/${folder}/${target['@inlay/source']}`)).toHaveLength(1)
      const stem = target['@inlay/source'].replace('./src/', './dist/').replace(/\.ts$/, '')
      expect([target.types, target.default]).toEqual([`${stem}.d.ts`, script?.default ?? `${stem}.js`])
    }
})

test('no source file but a package index is a barrel, and none is named for nothing', () => {
  for (const file of globSync('packages/*/src/**/*.ts')) {
    expect(file).not.toMatch(/\/(utils?|helpers?|common|types|misc)(\.ts|\/)/)
    // The wire format and the suites are exported whole; `public-exports` lists what that is.
    const isListed = /^packages\/(?:protocol|conformance)\//.test(file)
    if (file.endsWith('/index.ts') && !isListed) expect(readFileSync(file, 'utf8')).not.toMatch(/export \*/)
  }
})
