import { InlayError } from './errors/error-codes.ts'

/** Description of an option's required form, and a check for it. */
export type RequiredOption = readonly [form: string, fits: (value: unknown) => boolean]

/** A non-empty text. */
export const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''

/** An object, including a class or function with members. */
export const isObject = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null && !Array.isArray(value)) || typeof value === 'function'

/**
 * Checks required options at run time, since hosts may be written without types.
 * @param maker name of the function that takes the options
 * @throws INVALID_INPUT with a line for each missing or wrong option
 */
export function checkRequired(
  maker: string,
  options: unknown,
  required: Readonly<Record<string, RequiredOption>>,
): void {
  const faults = isObject(options)
    ? Object.entries(required).flatMap(([name, [form, fits]]) => {
        // Known to be an object.
        const value: unknown = Reflect.get(options as object, name)
        return fits(value) ? [] : [`- ${name}: ${value === undefined ? 'is missing; it ' : ''}must be ${form}`]
      })
    : [`- the options must be an object: { ${Object.keys(required).join(', ')} }`]
  if (faults.length === 0) return
  throw new InlayError('INVALID_INPUT', {
    message: [`${maker}() cannot work with these options:`, ...faults].join('\n'),
  })
}
