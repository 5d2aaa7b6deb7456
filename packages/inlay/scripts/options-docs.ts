/** Writes the reference of options into `docs/7.options.md`, between its markers: `npm run docs:options`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { optionsOf, optionsTypeOf, type Option } from './option-types.ts'

/** The page that lists options, from the root of the repository. */
export const optionsPage = 'docs/7.options.md'

/** Functions with options by the entry point that they are imported from, and the sources they stand in. */
const functions: Readonly<Record<string, readonly (readonly [folder: string, names: readonly string[]])[]>> = {
  inlay: [['inlay', ['createInlay', 'createTenants', 'closeServer']]],
  'inlay/page': [['inlay', ['createPage']]],
  'inlay/client': [['client', ['createClient']]],
  '@inlay/client/ai-sdk': [['client', ['inlayTransport']]],
  'inlay/knowledge': [['knowledge', ['createKnowledge']]],
  'inlay/agent': [['agent', ['createAgent', 'createInternalSearch']]],
  '@inlay/conversations': [['conversations', ['createConversations', 'sqlSharedRuns']]],
  '@inlay/mastra': [['mastra', ['mastraAgent']]],
  'inlay/server': [['server', ['createServer', 'createKeys', 'createUsageLimits']]],
  'inlay/testing': [['agent', ['scriptedModel']]],
  'inlay/drivers': [
    ['drivers/src/sql', ['nodeSqlite', 'postgres']],
    [
      'drivers/src',
      [
        'lancedbIndex',
        'pgvectorIndex',
        'opensearchIndex',
        'vectorStoreIndex',
        'redisRuns',
        's3Blobs',
        'blobFolder',
        'modelProviders',
      ],
    ],
    ['drivers/src/embedders', ['openaiEmbedder', 'aiSdkEmbedder']],
    ['drivers/src/local-models', ['localEmbedder', 'localReranker']],
    [
      'drivers/src',
      [
        'httpReranker',
        'openaiImages',
        'aiSdkImages',
        'fileExtractor',
        'tesseractReader',
        'pageReader',
        'egress',
        'mcpClient',
      ],
    ],
    ['drivers/src/web-search', ['braveSearch', 'exaSearch', 'searxngSearch', 'serperSearch', 'tavilySearch']],
    ['python', ['pyodide']],
  ],
}

/** A function and what it takes. */
export interface FunctionOptions {
  readonly entry: string
  readonly name: string
  readonly type: string
  readonly options: readonly Option[]
  /** Types of values that are options again, each once. */
  readonly nested: readonly { readonly type: string; readonly options: readonly Option[] }[]
}

const isNested = /(?:Options|Limits|Help|Hooks|Access|Choice|Config|Servers?|Service|EmbeddingModel|ImageModel)$/

function nestedOf(options: readonly Option[], known: Set<string>): FunctionOptions['nested'] {
  const types = options.flatMap((option) => option.types).filter((type) => isNested.test(type) && !known.has(type))
  return [...new Set(types)].flatMap((type) => {
    known.add(type)
    const inner = optionsOf(type, 'packages/')
    return inner.length === 0 ? [] : [{ type, options: inner }, ...nestedOf(inner, known)]
  })
}

/** Reads all of them from the sources. */
export function readOptions(): FunctionOptions[] {
  const known = new Set(['InlayOptions'])
  return Object.entries(functions).flatMap(([entry, places]) =>
    places.flatMap(([place, names]) =>
      names.map((name) => {
        const folder = `packages/${place}/`
        const type = optionsTypeOf(name, folder)
        if (type === undefined) throw new Error(`${name} takes no options.`)
        const options = optionsOf(type, folder)
        return { entry, name, type, options, nested: nestedOf(options, known) }
      }),
    ),
  )
}

const cell = (text: string): string => text.replaceAll('|', '\\|')

const typeCell = ({ type, types }: Option, listed: ReadonlySet<string>): string => {
  const links = types.filter((name) => listed.has(name)).map((name) => `[${name}](#${name.toLowerCase()})`)
  return [`\`${cell(type)}\``, ...links].join(' ')
}

function table(options: readonly Option[], listed: ReadonlySet<string>): string {
  const requiredFirst = options.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired))
  const rows = requiredFirst.map((option) => {
    const fallback = option.fallback || (option.isRequired ? 'required' : '')
    return `| \`${option.name}\` | ${typeCell(option, listed)} | ${cell(option.meaning)} | ${cell(fallback)} |`
  })
  return ['| option | type | what it does | default |', '|---|---|---|---|', ...rows].join('\n')
}

/** The text of the page with its tables made anew. */
export function fillOptions(text: string): string {
  const all = readOptions()
  const listed = new Set(all.flatMap(({ nested }) => nested.map(({ type }) => type)))
  const sections = all.flatMap(({ entry, name, type, options, nested }) => [
    `## ${name}`,
    `From \`${entry}\`.${listed.has(type) ? ` Takes [${type}](#${type.toLowerCase()}).` : ''}`,
    ...(listed.has(type) ? [] : [table(options, listed)]),
    ...nested.flatMap((inner) => [`### ${inner.type}`, table(inner.options, listed)]),
  ])
  return text.replace(
    /(<!-- options -->\n)[^]*?(<!-- \/options -->)/,
    (_, start: string, end: string) => `${start}\n${sections.join('\n\n')}\n\n${end}`,
  )
}

if (import.meta.main) writeFileSync(optionsPage, fillOptions(readFileSync(optionsPage, 'utf8')))
