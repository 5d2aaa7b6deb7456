import type { OpenApiDocument } from '@inlay/protocol/openapi'

/** The parts of the document that the page shows; its own type leaves operations open. */
interface ShownDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, ShownOperation>>>>
}

interface ShownOperation {
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security?: readonly unknown[]
  readonly deprecated?: boolean
  readonly parameters?: readonly ShownParameter[]
  readonly requestBody?: { readonly content?: Content }
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>
}

interface ShownParameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: unknown
}

type Content = Readonly<Record<string, { readonly schema?: unknown }>>

/** Style sheet of the page; its hash stands in the page's content security policy. */
export const pageStyle = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent) }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 6rem }
h1 { font-size: 1.6rem; margin: 0 } h2 { margin: 2.5rem 0 .5rem; font-size: 1.2rem }
details { border-top: 1px solid var(--line) } summary { cursor: pointer; padding: .6rem 0 }
summary code { font-weight: 600 } summary span { opacity: .75; margin-left: .75rem }
details > div { padding: 0 0 1rem 1rem } h3 { font-size: .95rem; margin: 1rem 0 .25rem }
.method { display: inline-block; min-width: 4.5rem } .gone { opacity: .55 }
table { border-collapse: collapse; width: 100%; font-size: .95rem }
td { border-top: 1px solid var(--line); padding: .3rem .75rem .3rem 0; vertical-align: top }
pre { overflow: auto; max-height: 28rem; padding: .75rem; margin: .25rem 0; border: 1px solid var(--line);
  border-radius: .4rem; font-size: .85rem } a { color: inherit } p { margin: .25rem 0 }
`

/** The document as a page to read: plain HTML and one style sheet, no script and nothing from elsewhere. */
export function toPage(openApi: OpenApiDocument): string {
  // The same document, looked at more closely: it was made from `RouteSpec`s.
  const document = openApi as unknown as ShownDocument
  const schemas = Object.entries(openApi.components.schemas)
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(document.info.title)}</title><style>${pageStyle}</style></head><body>`,
    `<h1>${escaped(document.info.title)}</h1>`,
    `<p>Version ${escaped(document.info.version)} · <a href="openapi.json">openapi.json</a></p>`,
    prose(document.info.description),
    ...topicsOf(document).map((topic) => toSection(topic, document)),
    schemas.length === 0 ? '' : '<h2 id="schemas">Schemas</h2>',
    ...schemas.map(([name, schema]) => toDetails(name, toSchema(schema), `schema-${name}`)),
    '</body></html>',
  ].join('\n')
}

function topicsOf(document: ShownDocument): string[] {
  const names = Object.values(document.paths).flatMap((path) => Object.values(path).flatMap(({ tags = [] }) => tags))
  return [...new Set([...document.tags.map(({ name }) => name), ...names])]
}

function toSection(topic: string, document: ShownDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags?.includes(topic) === true)
      .map(([method, operation]) => toOperation(method, path, operation)),
  )
  return operations.length === 0 ? '' : `<h2>${escaped(topic)}</h2>\n${operations.join('\n')}`
}

function toOperation(method: string, path: string, operation: ShownOperation): string {
  const heading =
    `<code><span class="method">${escaped(method.toUpperCase())}</span>${escaped(path)}</code>` +
    `<span>${escaped(operation.summary ?? '')}</span>`
  const parameters = (operation.parameters ?? []).map(
    (parameter) =>
      `<tr><td><code>${escaped(parameter.name)}</code></td><td>${escaped(parameter.in)}` +
      `${parameter.required === true ? ', required' : ''}</td><td>${inlineCode(parameter.description ?? '')} ` +
      `<code>${escaped(JSON.stringify(parameter.schema ?? {}))}</code></td></tr>`,
  )
  const responses = Object.entries(operation.responses ?? {}).map(
    ([status, response]) => `<h3>${escaped(status)}</h3>${prose(response.description)}${toContent(response.content)}`,
  )
  const body = [
    prose(operation.description),
    operation.security?.length === 0 ? '<p>Needs no key.</p>' : '',
    parameters.length === 0 ? '' : `<h3>Parameters</h3><table>${parameters.join('')}</table>`,
    operation.requestBody === undefined ? '' : `<h3>Body</h3>${toContent(operation.requestBody.content)}`,
    ...responses,
  ].join('\n')
  return `<details${operation.deprecated === true ? ' class="gone"' : ''}><summary>${heading}</summary><div>${body}</div></details>`
}

function toContent(content: Content | undefined): string {
  return Object.entries(content ?? {})
    .map(([type, { schema }]) => `<p><code>${escaped(type)}</code></p>${schema === undefined ? '' : toSchema(schema)}`)
    .join('')
}

function toDetails(name: string, body: string, id: string): string {
  return `<details id="${escaped(id)}"><summary><code>${escaped(name)}</code></summary><div>${body}</div></details>`
}

/** A schema as JSON whose references lead to the schema they name. */
function toSchema(schema: unknown): string {
  const json = escaped(JSON.stringify(schema, undefined, 2))
  const linked = json.replace(
    /&#34;#\/components\/schemas\/([\w.-]+)&#34;/g,
    (_, name: string) => `<a href="#schema-${name}">${name}</a>`,
  )
  return `<pre>${linked}</pre>`
}

function prose(text: string | undefined): string {
  return text === undefined || text === '' ? '' : `<p>${inlineCode(text)}</p>`
}

function inlineCode(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
