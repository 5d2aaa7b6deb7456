/** A piece of text; `isUnsupported` if it is a number that is in none of the texts the model read. */
export interface TextPart {
  readonly text: string
  readonly isUnsupported: boolean
}

/** Splits a text at unsupported numbers. */
export function splitAtNumbers(text: string, numbers: readonly string[]): readonly TextPart[] {
  if (numbers.length === 0 || !/\d/.test(text)) return [{ text, isUnsupported: false }]
  const longestFirst = numbers.toSorted((a, b) => b.length - a.length)
  const pattern = longestFirst.map((number) => number.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  // A part of a longer number is another number.
  const whole = new RegExp(`(?<![\\p{L}\\p{N}_.,:])(${pattern})(?![\\p{L}\\p{N}_]|[.,:]\\p{N})`, 'u')
  return text
    .split(whole)
    .map((part, index) => ({ text: part, isUnsupported: index % 2 === 1 }))
    .filter((part) => part.text !== '')
}
