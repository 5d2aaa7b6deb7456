import type { Line } from './pdf-lines.ts'

/** A field of a form, or a text put on the page, as pdf.js gives it; in malformed files values may be of another type. */
interface Field {
  readonly subtype?: unknown
  readonly rect?: unknown
  readonly hidden?: unknown
  readonly password?: unknown
  readonly fieldValue?: unknown
  readonly checkBox?: unknown
  readonly exportValue?: unknown
  readonly radioButton?: unknown
  readonly buttonValue?: unknown
  readonly annotationFlags?: unknown
  readonly contentsObj?: { readonly str?: unknown }
  /** Lines as they are drawn. */
  readonly textContent?: unknown
}

/** Flags of annotations that are not shown. */
const hiddenOrNoView = 0b100010

/** Puts the values of filled-in fields, and texts typed onto the page, into the lines they stand on: the text of a page lacks them. */
export function withFields(lines: readonly Line[], annotations: readonly Field[]): Line[] {
  const filled = lines.map((line) => ({ ...line, cells: [...line.cells] }))
  for (const field of annotations) {
    const text = valueOf(field)
    if (text === '' || !Array.isArray(field.rect)) continue
    const [left, bottom, right, top] = field.rect.map(Number) as [number, number, number, number]
    const cell = { text, x: left, end: right }
    const line = lineAt(filled, bottom, top)
    if (line) {
      const next = line.cells.findIndex(({ x }) => x > left)
      line.cells.splice(next < 0 ? line.cells.length : next, 0, cell)
    } else {
      // A field of several lines stands below its name.
      const size = Math.min(top - bottom, 10)
      const below = filled.findIndex(({ y }) => y < bottom)
      filled.splice(below < 0 ? filled.length : below, 0, { y: top - size, size, cells: [cell] })
    }
  }
  return filled
}

function valueOf(field: Field): string {
  if (field.subtype === 'FreeText') {
    if (Number(field.annotationFlags) & hiddenOrNoView) return ''
    const own = textOf(field.contentsObj?.str)
    return own === '' ? textOf(field.textContent, ' ') : own
  }
  if (field.subtype !== 'Widget' || field.hidden === true || field.password === true) return ''
  const { fieldValue: value } = field
  if (field.checkBox === true) return value !== 'Off' && value === field.exportValue ? '[x]' : ''
  if (field.radioButton === true) return value !== null && value === field.buttonValue ? '[x]' : ''
  return textOf(value, ', ')
}

function textOf(value: unknown, separator = ''): string {
  const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string')
  return texts.join(separator).replace(/\s+/g, ' ').trim()
}

/** The line whose letters stand in the field or right beside it. */
function lineAt<Each extends Line>(lines: readonly Each[], bottom: number, top: number): Each | undefined {
  return lines.find(({ y, size }) => y + size / 2 >= bottom && y + size / 2 <= top && top - bottom < 4 * size)
}
