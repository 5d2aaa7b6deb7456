import { suggestionFor } from './suggestion.ts'
import { InlayError } from './errors/error-codes.ts'

export type RequiredOption = readonly [form: string, fits: (value: unknown) => boolean]

/** A non-empty text. */
export const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''

/** An object, including a class or function with members. */
export const isObject = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null && !Array.isArray(value)) || typeof value === 'function'

const isAmount = (value: unknown): boolean => typeof value === 'number' && value >= 1
const isFunction = (value: unknown): boolean => typeof value === 'function'

/** Optional options that mean the same wherever they exist. */
const usual: Readonly<Record<string, RequiredOption>> = {
  apiKey: ['a text', (value) => typeof value === 'string'],
  timeoutMs: ['a number of milliseconds, 1 or more', isAmount],
  queryTimeoutMs: ['a number of milliseconds, 1 or more', isAmount],
  maxBatchSize: ['a number, 1 or more', isAmount],
  maxBatchCharacters: ['a number, 1 or more', isAmount],
  maxConnections: ['a number, 1 or more', isAmount],
  now: ['a function', isFunction],
  sleep: ['a function', isFunction],
  onError: ['a function', isFunction],
}

/**
 * Checks options at run time, since hosts may be written without types.
 * @param maker name of the function that takes the options
 * @param optional names of all other options, with spaces between
 * @throws INVALID_INPUT with a line for each missing, wrong or unknown option
 */
export function checkRequired(
  maker: string,
  options: object,
  optional: string,
  required: Readonly<Record<string, RequiredOption>>,
): void {
  const faults = isObject(options)
    ? [
        ...Object.entries({ ...usual, ...required }).flatMap(([name, [form, fits]]) => {
          const value: unknown = Reflect.get(options, name)
          return fits(value) || (value === undefined && !(name in required))
            ? []
            : [`- ${name}: ${value === undefined ? 'is missing; it ' : ''}must be ${form}`]
        }),
        ...unknownOptions(options, [...Object.keys(required), ...optional.split(' ')]),
      ]
    : [`- the options must be an object: { ${Object.keys(required).join(', ')} }`]
  refuseOptions(maker, faults)
}

/** A line for each option that none of the names is, with the name that was probably meant. */
export function unknownOptions(options: object, names: readonly string[]): string[] {
  const others = Object.entries(options).filter(([name, value]) => value !== undefined && !names.includes(name))
  return others.map(([name]) => {
    const suggestion = suggestionFor(name, names)
    return `- ${name}: unknown option${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`
  })
}

/** @throws INVALID_INPUT with these lines, if there are any */
export function refuseOptions(maker: string, faults: readonly string[]): void {
  if (faults.length === 0) return
  throw new InlayError('INVALID_INPUT', {
    message: [`${maker}() cannot work with these options:`, ...faults].join('\n'),
  })
}
