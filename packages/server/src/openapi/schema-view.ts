/** Parts of a JSON schema that the page shows. */
interface ShownSchema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ShownSchema[]
  readonly oneOf?: readonly ShownSchema[]
  readonly items?: ShownSchema
  readonly properties?: Readonly<Record<string, ShownSchema>>
  readonly additionalProperties?: ShownSchema | boolean
  readonly required?: readonly string[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly description?: string
  readonly examples?: readonly unknown[]
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Renders a sentence with `…` as code. */
export function prose(text: string | undefined): string {
  return text === undefined || text === '' ? '' : `<p>${inlineCode(text)}</p>`
}

/** Like {@link prose}, within a line. */
export function inlineCode(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

export function anchorOf(name: string): string {
  return `schema-${name}`
}

/** A schema as one line: `string`, `list of SearchDoc or null`; named schemas are links. */
export function typeWords(schema: unknown): string {
  return typeMarkup(shown(schema))
}

/** A schema in full: its description, a table of its fields, an example. */
export function schemaView(schema: unknown): string {
  const { description, examples = [], ...rest } = shown(schema)
  const example = examples[0] === undefined ? '' : `<pre>${escaped(JSON.stringify(examples[0], undefined, 2))}</pre>`
  return (
    prose(description) + (rest.properties === undefined ? `<div>${typeMarkup(rest)}</div>` : fieldTable(rest)) + example
  )
}

/** Safe because every schema on the page comes from the schema converter. */
function shown(schema: unknown): ShownSchema {
  return (schema ?? {}) as ShownSchema
}

function fieldTable({ properties = {}, required = [] }: ShownSchema): string {
  const rows = Object.entries(properties).map(
    ([name, field]) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${required.includes(name) ? 'always' : ''}</td>` +
      `<td>${typeMarkup(field)}${byDefault(field)}${field.description === undefined ? '' : ` · ${inlineCode(field.description)}`}</td></tr>`,
  )
  return rows.length === 0 ? '<p>An object without fields.</p>' : `<table>${rows.join('')}</table>`
}

function byDefault({ default: value }: ShownSchema): string {
  return value === undefined || value === null ? '' : `, by default <code>${escaped(JSON.stringify(value))}</code>`
}

function typeMarkup(schema: ShownSchema): string {
  if (schema.$ref !== undefined) return linkTo(schema.$ref.replace('#/components/schemas/', ''))
  const options = schema.anyOf ?? schema.oneOf
  if (options !== undefined) return options.map(typeMarkup).join(' or ')
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`
  if (schema.enum !== undefined) return schema.enum.map((value) => `<code>${escaped(String(value))}</code>`).join(' | ')
  if (schema.items !== undefined) return `list of ${typeMarkup(schema.items)}`
  if (schema.properties !== undefined) return `<div class="inner">${fieldTable(schema)}</div>`
  if (typeof schema.additionalProperties === 'object') return `object of ${typeMarkup(schema.additionalProperties)}`
  return escaped([schema.type ?? 'anything', schema.format, boundsOf(schema)].filter(Boolean).join(', '))
}

function boundsOf({ minimum, maximum, minLength, maxLength }: ShownSchema): string {
  const [least, most] = [minimum ?? minLength, maximum ?? maxLength]
  if (least === undefined) return most === undefined ? '' : `at most ${most}`
  return most === undefined ? `at least ${least}` : `${least} to ${most}`
}

function linkTo(name: string): string {
  return `<a href="#${escaped(anchorOf(name))}">${escaped(name)}</a>`
}
