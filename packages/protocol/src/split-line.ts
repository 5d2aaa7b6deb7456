import type { StreamLine } from './lines.ts'

/** Splits a line that would not fit. */
export function splitLine(line: StreamLine): readonly StreamLine[] {
  return [line]
}
