import { InlayError } from './errors/error-codes.ts'

/** What an option must be, and whether a value is that. */
export type RequiredOption = readonly [form: string, fits: (value: unknown) => boolean]

/** A text that is not empty. */
export const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''

/** Something with members, also a class or a function with some. */
export const isObject = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null && !Array.isArray(value)) || typeof value === 'function'

/**
 * Checks the options that a part cannot do without: hosts may be written without types.
 * @param maker the function that makes the part
 * @throws INVALID_INPUT with a line for each option that is missing or wrong
 */
export function checkRequired(
  maker: string,
  options: unknown,
  required: Readonly<Record<string, RequiredOption>>,
): void {
  const faults = isObject(options)
    ? Object.entries(required).flatMap(([name, [form, fits]]) => {
        // It was seen to have members.
        const value: unknown = Reflect.get(options as object, name)
        return fits(value) ? [] : [`- ${name}: ${value === undefined ? 'is missing; it ' : ''}must be ${form}`]
      })
    : [`- the options must be an object: { ${Object.keys(required).join(', ')} }`]
  if (faults.length === 0) return
  throw new InlayError('INVALID_INPUT', {
    message: [`${maker}() cannot work with these options:`, ...faults].join('\n'),
  })
}
