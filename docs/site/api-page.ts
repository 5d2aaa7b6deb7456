/** The reference of the HTTP API as a page in Markdown, from the OpenAPI document that every server gives out. */
import { createInlay } from 'inlay'
import { fieldTable, inWords, type Shape } from '../../packages/protocol/scripts/wire-docs.ts'

type Content = Readonly<Record<string, { readonly schema?: Shape; readonly example?: unknown }>>

interface Operation {
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly description?: string
    readonly schema: Shape
  }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

/** The part of `/openapi.json` that the page shows. */
export interface ApiDocument {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Shape>> }
}

/** The document of an assistant with default options. It opens no file. */
export async function readApiDocument(): Promise<ApiDocument> {
  const inlay = createInlay()
  const response = await inlay.fetch(new Request('http://localhost/api/openapi.json'))
  await inlay.close()
  // Checked against the specification by the tests of the server.
  return (await response.json()) as ApiDocument
}

/** Types of a body; a shape that has a name is a link. */
const typesOf = (content: Content | undefined): string =>
  Object.entries(content ?? {})
    .map(([type, { schema }]) => `\`${type}\`: ${inWords(schema ?? {}).replace(/\b[A-Z]\w+/g, toLink)}`)
    .join('; ')

const toLink = (name: string): string => `[${name}](#${name.toLowerCase()})`

function operationSection(name: string, operation: Operation): string[] {
  const { summary, description = '', security, parameters = [], requestBody, responses } = operation
  const scopes = security.flatMap((each) => Object.values(each).flat()).map((scope) => `\`${scope}\``)
  const rows = parameters.map(
    (each) => `| ${each.name} | ${each.in} | ${inWords(each.schema)} | ${each.description ?? ''} |`,
  )
  const example = Object.values(requestBody?.content ?? {}).find((each) => each.example !== undefined)?.example
  const good = Object.entries(responses).filter(([status]) => /^[123]/.test(status))
  const codes = Object.keys(responses).filter((status) => /^[45]/.test(status))
  return [
    `### ${name}`,
    `${summary}. ${description}`,
    ...(scopes.length > 0 ? [`Scopes: ${scopes.join(' or ')}.`] : []),
    ...(rows.length > 0 ? [['| parameter | in | type | meaning |', '|---|---|---|---|', ...rows].join('\n')] : []),
    ...(requestBody ? [`Body: ${typesOf(requestBody.content)}`] : []),
    ...(example === undefined ? [] : [`\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``]),
    ...good.map(([status, { description, content }]) => `${status}: ${description} ${typesOf(content)}`),
    ...(codes.length > 0 ? [`Failures: ${codes.join(', ')}.`] : []),
  ]
}

/** The page: a section for each topic, then the shapes that requests and answers consist of. */
export function toApiPage({ tags, paths, components }: ApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  )
  const topics = tags.flatMap(({ name: topic }) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === topic)
    return own.length === 0
      ? []
      : [`## ${topic}`, ...own.flatMap((each) => operationSection(each.name, each.operation))]
  })
  const shapes = Object.entries(components.schemas).flatMap(([name, shape]) => [
    `### ${name}`,
    shape.description ?? '',
    shape.properties ? fieldTable(shape).join('\n') : inWords(shape),
  ])
  const intro = 'Every address of the HTTP API, from the schemas that check its requests. A server shows the same at'
  return ['# API reference', `${intro} \`/api/docs\` and \`/api/openapi.json\`.`, ...topics, '## Shapes', ...shapes]
    .filter((part) => part !== '')
    .join('\n\n')
    .replace(/\[(\w+)\]\(#\w+\)/g, (link, name: string) => (name in components.schemas ? link : name))
}
