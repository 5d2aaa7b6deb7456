/** Result of pydantic's lax conversion: the value, or pydantic's name of the issue with our message. */
export type LaxReading<Value> = { readonly value: Value } | { readonly fault: string; readonly words: string }

const refuse = (fault: string, words: string): { fault: string; words: string } => ({ fault, words })
const notBoolean = (fault: string) => refuse(`bool_${fault}`, 'must be true or false')
const notInteger = (fault: string) => refuse(`int_${fault}`, 'must be a whole number')
const notNumber = (fault: string) => refuse(`float_${fault}`, 'must be a number')
const tooLarge = refuse('int_parsing_size', 'must lie between -(2^53 - 1) and 2^53 - 1')
const notFinite = refuse('finite_number', 'must be finite')

const yes = new Set(['1', 'on', 't', 'true', 'y', 'yes'])
const no = new Set(['0', 'off', 'f', 'false', 'n', 'no'])

/** Reads a boolean; also accepts 0, 1 and words such as "true", "off" or "y" in any case. */
export function readBoolean(input: unknown): LaxReading<boolean> {
  if (typeof input === 'boolean') return { value: input }
  if (typeof input === 'number') {
    if (input === 0 || input === 1) return { value: input === 1 }
    return notBoolean(Number.isInteger(input) ? 'parsing' : 'type')
  }
  if (typeof input !== 'string') return notBoolean('type')
  const word = input.toLowerCase()
  if (yes.has(word)) return { value: true }
  return no.has(word) ? { value: false } : notBoolean('parsing')
}

// Like Python, allows single underscores between digits.
const wholeNumber = /^[+-]?\d+(?:_\d+)*(?:\.0*)?$/
const anyNumber = /^[+-]?(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/** Python refuses longer whole numbers too. */
const maxDigits = 4_300

const toNumber = (text: string): number => Number(text.replaceAll('_', ''))

/** Reads an integer within double precision; also accepts text, zeros after the decimal point, and booleans. */
export function readInteger(input: unknown): LaxReading<number> {
  if (typeof input === 'boolean') return { value: Number(input) }
  if (typeof input === 'string') {
    if (input.length > maxDigits) return tooLarge
    const text = input.trim()
    return wholeNumber.test(text) ? exact(toNumber(text)) : notInteger('parsing')
  }
  if (typeof input !== 'number') return notInteger('type')
  if (!Number.isFinite(input)) return notFinite
  return Number.isInteger(input) ? exact(input) : notInteger('from_float')
}

// Adding zero turns -0 into 0.
const exact = (value: number): LaxReading<number> => (Number.isSafeInteger(value) ? { value: value + 0 } : tooLarge)

/** Reads a finite number; also accepts text and booleans. */
export function readNumber(input: unknown): LaxReading<number> {
  if (typeof input === 'boolean') return { value: Number(input) }
  if (typeof input !== 'number' && typeof input !== 'string') return notNumber('type')
  if (typeof input === 'string') {
    if (input.length > maxDigits) return notNumber('parsing')
    const text = input.trim()
    if (/^[+-]?(?:inf|infinity|nan)$/i.test(text)) return notFinite
    if (!anyNumber.test(text)) return notNumber('parsing')
    return readNumber(toNumber(text))
  }
  return Number.isFinite(input) ? { value: input } : notFinite
}

/** Larger counts are milliseconds. */
const maxSeconds = 2e10

/** Reads a Unix time, as a number or text: seconds since 1970 UTC, or milliseconds above 2e10. */
export function readUnixTime(input: unknown): number | undefined {
  const reading = typeof input === 'boolean' ? undefined : readNumber(input)
  if (reading === undefined || !('value' in reading)) return undefined
  const count = reading.value
  return Math.abs(count) > maxSeconds ? count : count * 1000
}
