import { appendFileSync } from 'node:fs'

/** A figure of a benchmark, as `npm run check:benches` reads it. */
export interface Figure {
  readonly name: string
  readonly value: number
}

/**
 * Notes a figure that was printed, for `npm run check:benches`, which names a file by INLAY_BENCH_FIGURES. Does nothing
 * in any other run.
 * @param name the same in every run
 */
export function note(name: string, value: number): void {
  const file = process.env['INLAY_BENCH_FIGURES']
  const figure: Figure = { name, value }
  // NaN and Infinity become null, which is no figure.
  if (file) appendFileSync(file, `${JSON.stringify(figure)}\n`)
}

/** Says what a quick run leaves out. */
export function leaveOut(what: string): void {
  console.log(`left out by --quick: ${what}`)
}
