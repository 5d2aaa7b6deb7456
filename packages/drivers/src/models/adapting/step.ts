import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'

export interface Refusal {
  readonly status: number
  /** The whole answer. */
  readonly text: string
  /** Its message, as the operator may read it. */
  readonly said: string
  /** The call with everything in it. */
  readonly call: LanguageModelV4CallOptions
  /** The fields of the request as they were sent; {} where they are unknown. */
  readonly body: Readonly<Record<string, unknown>>
  /** What was left out already. */
  readonly refused: ReadonlySet<string>
}

/** One way to go on after a refusal. What is refused has names that operators read in the log. */
export interface Step {
  /** The parts of the request that were refused; [] when the refusal is about something else. */
  read(refusal: Refusal): readonly string[]
  /** The call without refused parts; the same object if nothing changes. Default: others leave it out. */
  mend?(
    call: LanguageModelV4CallOptions,
    refused: ReadonlySet<string>,
  ): LanguageModelV4CallOptions | Promise<LanguageModelV4CallOptions>
}

/** A step for one part, which is remembered by its name. */
export const stepFor = (
  part: string,
  applies: (refusal: Refusal) => boolean,
  mend: (call: LanguageModelV4CallOptions) => LanguageModelV4CallOptions,
): Step => ({
  read: (refusal) => (applies(refusal) ? [part] : []),
  mend: (call, refused) => (refused.has(part) ? mend(call) : call),
})
