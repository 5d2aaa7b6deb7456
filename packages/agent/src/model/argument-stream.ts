export interface ArgumentStream {
  /** Takes JSON piece by piece. @returns the text it adds to the followed arguments, by name; undefined for none */
  push(json: string): Readonly<Record<string, string>> | undefined
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Invalid JSON is followed as far as possible. @param names text arguments at the top level of an object */
export function createArgumentStream(names: readonly string[]): ArgumentStream {
  let depth = 0
  let isText = false
  /** Whether the current text is a key of the top-level object. */
  let isKey = false
  let key = ''
  /** Incomplete escape: `\` and up to five characters after it. */
  let escape = ''
  /** First half of a surrogate pair; passed on only together with the second. */
  let half = ''

  const take = (character: string, deltas: Record<string, string>): void => {
    if (isKey) key += character
    else if (depth === 1 && names.includes(key)) {
      const whole = half + character
      half = /[\uD800-\uDBFF]$/.test(whole) ? whole : ''
      if (half === '') deltas[key] = (deltas[key] ?? '') + whole
    }
  }
  const inText = (character: string, deltas: Record<string, string>): void => {
    if (escape !== '') {
      escape += character
      if (escape[1] !== 'u') take(escapes[character] ?? character, deltas)
      else if (escape.length < 6) return
      else take(String.fromCharCode(Number.parseInt(escape.slice(2), 16) || 0), deltas)
      escape = ''
    } else if (character === '\\') escape = character
    else if (character === '"') isText = false
    else take(character, deltas)
  }
  const between = (character: string): void => {
    if (character === '"') {
      isText = true
      if (isKey) key = ''
    } else if (character === '{' || character === '[') {
      depth++
      isKey = depth === 1
    } else if (character === '}' || character === ']') depth--
    else if (character === ':' && depth === 1) isKey = false
    else if (character === ',' && depth === 1) isKey = true
  }
  return {
    push: (json) => {
      const deltas: Record<string, string> = {}
      for (const character of json.split('')) {
        if (isText) inText(character, deltas)
        else between(character)
      }
      return Object.keys(deltas).length > 0 ? deltas : undefined
    },
  }
}
