import { InlayError } from '@inlay/protocol'

/** Look of the page: CSS values of the variables that `<inlay-chat>` has, too. */
export interface PageBrand {
  /** Colour of buttons and links, such as `#7a1fa2`; for two themes `light-dark(#7a1fa2, #d5a6ea)`. */
  readonly accent?: string
  readonly background?: string
  readonly text?: string
  /** Radius of corners, such as `6px`. */
  readonly radius?: string
  /** Font families, such as `Georgia, serif`; they have to be installed, since the page loads no fonts. */
  readonly font?: string
}

const names = ['accent', 'background', 'text', 'radius', 'font'] as const

/** Whether a text can be the value of a variable, and nothing more: no other rule, no comment, no URL. */
const isValue = (text: string): boolean =>
  /^(?:[\p{L}\p{N}\s#%(),.+*/_-]|"[\p{L}\p{N} #%(),.'+*/_-]*"|'[\p{L}\p{N} #%(),."+*/_-]*')*(?<=[\p{L}\p{N})%'"])$/u.test(
    text,
  ) &&
  !/\/\*|\b(?:url|image|image-set|src)\s*\(/i.test(text) &&
  depthOf(text) === 0

/** Number of parentheses that are not closed; negative as soon as one is closed that was not opened. */
function depthOf(text: string): number {
  let depth = 0
  for (const letter of text) {
    if (letter === '(') depth += 1
    if (letter === ')') depth -= 1
    if (depth < 0) break
  }
  return depth
}

/** Undefined without a brand. @throws INVALID_INPUT for a value that is not of CSS */
export function brandRule(brand: PageBrand = {}): string | undefined {
  const declarations = names.flatMap((name) => {
    const value = brand[name]?.trim()
    if (value === undefined) return []
    if (isValue(value)) return [`--inlay-${name}:${value}`]
    const example = name === 'font' ? 'Georgia, serif' : name === 'radius' ? '6px' : '#7a1fa2'
    throw new InlayError('INVALID_INPUT', { message: `brand.${name} must be a CSS value such as ${example}.` })
  })
  return declarations.length === 0 ? undefined : `:root{${declarations.join(';')}}`
}

/** Reads a brand from declarations as in a style sheet; undefined if there is anything else. */
export function readBrand(text: string): PageBrand | undefined {
  const brand: { -readonly [Name in keyof PageBrand]: PageBrand[Name] } = {}
  for (const declaration of text.split(';')) {
    if (declaration.trim() === '') continue
    const [, given, value = ''] = /^\s*--inlay-(\w+)\s*:(.*)$/s.exec(declaration) ?? []
    const name = names.find((each) => each === given)
    if (name === undefined || !isValue(value.trim())) return undefined
    brand[name] = value.trim()
  }
  return brand
}
