import { texts } from '../texts/texts.ts'

const slowSeconds = 8

export function waitingLabel(label: string, seconds: number): string {
  return seconds < slowSeconds ? label : texts.steps.waiting(seconds)
}
