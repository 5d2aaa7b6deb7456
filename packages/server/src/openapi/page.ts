import type { OpenApiDocument } from '@inlay/protocol/openapi'
import { anchorOf, escaped, inlineCode, prose, schemaView, typeWords } from './schema-view.ts'

/** Parts of the document that the page shows; the type of the document itself does not describe operations. */
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
  readonly responses?: Readonly<Record<string, ShownResponse>>
}

interface ShownResponse {
  readonly description?: string
  readonly content?: Content
}

interface ShownParameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: unknown
}

type Content = Readonly<Record<string, { readonly schema?: unknown }>>

/** Style sheet of the page; the page's content security policy contains its hash. */
export const pageStyle = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent) }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 6rem }
h1 { font-size: 1.6rem; margin: 0 } h2 { margin: 2.5rem 0 .5rem; font-size: 1.2rem }
details { border-top: 1px solid var(--line) } summary { cursor: pointer; padding: .6rem 0 }
summary code { font-weight: 600 } summary span { opacity: .75; margin-left: .75rem }
details > div { padding: 0 0 1rem 1rem } h3 { font-size: .95rem; margin: 1rem 0 .25rem }
.method { display: inline-block; min-width: 4.5rem } .gone { opacity: .55 }
.inner { padding-left: 1rem; border-left: 2px solid var(--line) }
table { border-collapse: collapse; width: 100%; font-size: .95rem }
td { border-top: 1px solid var(--line); padding: .3rem .75rem .3rem 0; vertical-align: top }
td:first-child { white-space: nowrap } td:nth-child(2) { opacity: .75 } td:last-child { width: 100% }
pre { overflow: auto; max-height: 28rem; padding: .75rem; margin: .5rem 0; border: 1px solid var(--line);
  border-radius: .4rem; font-size: .85rem } a { color: inherit } p { margin: .25rem 0 }
`

/** Renders the document as a page: plain HTML with one style sheet, no scripts and no external resources. */
export function toPage(openApi: OpenApiDocument): string {
  // A narrower type of the same document, which was built from `RouteSpec`s.
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
    ...schemas.map(schemaDetails),
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
  const body = [
    prose(operation.description),
    operation.security?.length === 0 ? '<p>Needs no key.</p>' : '',
    tableOf('Parameters', (operation.parameters ?? []).map(parameterRow)),
    operation.requestBody === undefined ? '' : `<h3>Body</h3><div>${contentWords(operation.requestBody.content)}</div>`,
    tableOf('Answers', Object.entries(operation.responses ?? {}).map(responseRow)),
  ].join('\n')
  return `<details${operation.deprecated === true ? ' class="gone"' : ''}><summary>${heading}</summary><div>${body}</div></details>`
}

function parameterRow(parameter: ShownParameter): string {
  const place = `${parameter.in}${parameter.required === true ? ', required' : ''}`
  const meaning = parameter.description === undefined ? '' : ` · ${inlineCode(parameter.description)}`
  return `<tr><td><code>${escaped(parameter.name)}</code></td><td>${escaped(place)}</td><td>${typeWords(parameter.schema)}${meaning}</td></tr>`
}

function responseRow([status, response]: [string, ShownResponse]): string {
  const description = inlineCode(response.description ?? '')
  return `<tr><td>${escaped(status)}</td><td></td><td>${description} ${contentWords(response.content)}</td></tr>`
}

function tableOf(title: string, rows: readonly string[]): string {
  return rows.length === 0 ? '' : `<h3>${title}</h3><table>${rows.join('')}</table>`
}

/** Type of a body, with its media type unless it is JSON. */
function contentWords(content: Content | undefined): string {
  return Object.entries(content ?? {})
    .map(([type, { schema }]) => {
      const words = schema === undefined ? '' : typeWords(schema)
      return type === 'application/json' ? words : `<code>${escaped(type)}</code> ${words}`
    })
    .join('; or ')
}

/** The id is inside, so that following a link opens the details. */
function schemaDetails([name, schema]: [string, unknown]): string {
  const body = `<div id="${escaped(anchorOf(name))}">${schemaView(schema)}</div>`
  return `<details><summary><code>${escaped(name)}</code></summary>${body}</details>`
}
