import { texts } from '../texts/texts.ts'

/** Seconds after which a model is slow enough to say so. */
const slowSeconds = 8

export function waitingLabel(label: string, seconds: number): string {
  return seconds < slowSeconds ? label : texts.steps.waiting(seconds)
}
