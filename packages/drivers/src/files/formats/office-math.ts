import { childOf, childrenOf, textOf, type Element } from './markup.ts'
import { attributeOf } from './office.ts'

/** An equation of an office file in one line, as people type it: `x_i^2`, `(a+b)/2`, `√(x+1)`. */
export function mathText(element: Element): string {
  const part = (name: string): string => {
    const child = childOf(element, name)
    return child ? mathText(child) : ''
  }
  const parts = (name: string): string[] => childrenOf(element, name).map(mathText)
  const property = (name: string): string | undefined => {
    const properties = childOf(element, `${element.name}Pr`)
    const child = properties && childOf(properties, name)
    return child && (attributeOf(child) ?? '')
  }
  switch (element.name) {
    case 't':
      return textOf(element)
    case 'del':
    case 'moveFrom':
    case 'instrText':
      return ''
    case 'br':
      return ' '
    case 'f':
      return property('type') === 'noBar'
        ? `(${part('num')} ${part('den')})`
        : `${grouped(part('num'))}/${grouped(part('den'))}`
    case 'sSup':
    case 'sSub':
    case 'sSubSup':
      return grouped(part('e')) + scripts(part('sub'), part('sup'))
    case 'sPre':
      return `${scripts(part('sub'), part('sup'))} ${part('e')}`
    case 'rad':
      return `√${part('deg').replace(/.+/s, '[$&]')}${grouped(part('e'))}`
    case 'nary':
      return `${property('chr') ?? '∫'}${scripts(part('sub'), part('sup'))} ${part('e')}`
    case 'limLow':
      return part('e') + scripts(part('lim'), '')
    case 'limUpp':
      return part('e') + scripts('', part('lim'))
    case 'func':
      return `${part('fName')} ${part('e')}`
    case 'd':
      return (property('begChr') ?? '(') + parts('e').join(property('sepChr') ?? '|') + (property('endChr') ?? ')')
    case 'm':
      return parts('mr').join('; ')
    case 'mr':
      return parts('e').join(' ')
    case 'eqArr':
      return parts('e').join('; ')
    case 'acc':
      return part('e') + (property('chr') ?? '\u0302')
    default:
      return element.children.map((child) => (typeof child === 'string' ? '' : mathText(child))).join('')
  }
}

function scripts(sub: string, sup: string): string {
  return (sub === '' ? '' : `_${grouped(sub)}`) + (sup === '' ? '' : `^${grouped(sup)}`)
}

/** In parentheses where it would read otherwise without. */
function grouped(text: string): string {
  return /^[\p{L}\p{N}\p{M}.,∞′]*$|^\([^()]*\)$/u.test(text) ? text : `(${text})`
}
