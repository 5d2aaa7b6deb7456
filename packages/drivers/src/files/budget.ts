import { isMissingModule, refusal } from './refusals.ts'

export interface ExtractionLimits {
  /** Most bytes that the parts of a compressed file may unpack to, all together. */
  readonly unpackedBytes: number
  readonly textCharacters: number
}

/** Counts what one file has cost so far and refuses what goes beyond; shared by a file and its attachments. */
export interface Budget {
  /** Call before unpacking. @throws refusal `too_large` */
  takeUnpacked(bytes: number): void
  /** Counts text that is kept. @throws refusal `too_large` */
  takeText(characters: number): void
  /** Refuses early what would not fit, before it piles up; counts nothing. @throws refusal `too_large` */
  expectText(characters: number): void
}

export function createBudget(limits: ExtractionLimits): Budget {
  let unpackedBytesLeft = limits.unpackedBytes
  let charactersLeft = limits.textCharacters
  const expectText = (characters: number): void => {
    if (characters <= charactersLeft) return
    throw exceeded(`The file holds more than ${limits.textCharacters} characters of text: split it into smaller files.`)
  }
  return {
    takeUnpacked(bytes) {
      if (bytes > unpackedBytesLeft)
        throw exceeded(
          `The file unpacks to more than ${toMegabytes(limits.unpackedBytes)} MB: split it into smaller files.`,
        )
      unpackedBytesLeft -= bytes
    },
    takeText(characters) {
      expectText(characters)
      charactersLeft -= characters
    },
    expectText,
  }
}

const exceededBudgets = new WeakSet<Error>()

function exceeded(message: string): Error {
  const error = refusal('too_large', message)
  exceededBudgets.add(error)
  return error
}

/** Whatever is neither a limit nor a missing module: libraries fail in their own ways on damaged parts. */
export function concernsPartOnly(error: unknown): boolean {
  return !exceededBudgets.has(error as Error) && !isMissingModule(error)
}

function toMegabytes(bytes: number): number {
  return Math.max(1, Math.round(bytes / 1_000_000))
}
