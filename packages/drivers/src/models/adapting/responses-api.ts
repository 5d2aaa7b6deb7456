import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Step } from './step.ts'

/** Whether a model is called by OpenAI's responses API, as its server has said to. */
export const isByResponses = (refused: ReadonlySet<string>): boolean =>
  refused.has('chat completions') && !refused.has('responses')

/** Change between chat completions and the responses API. */
export const responsesSteps: readonly Step[] = [
  {
    // Error message of OpenAI for its newer models.
    read: ({ text, body }) =>
      Array.isArray(body['messages']) && /\/?v1\/responses\b/.test(text) ? ['chat completions'] : [],
    mend: (call, refused) => (isByResponses(refused) ? toResponses(call) : call),
  },
  {
    // A gateway may hand on the words of OpenAI, and have no such path itself.
    read: ({ status, refused }) => (isByResponses(refused) && [404, 405, 501].includes(status) ? ['responses'] : []),
  },
]

/** The server stores nothing of the call, and its text is not tapped. */
function toResponses(call: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const tools = call.tools?.map((tool) => (tool.type === 'function' ? { strict: false, ...tool } : tool))
  return {
    ...call,
    abortSignal: AbortSignal.any(call.abortSignal ? [call.abortSignal] : []),
    ...(tools && { tools }),
    // Reasoning summaries are only available to verified organizations.
    providerOptions: { openai: { store: false, reasoningSummary: null }, ...call.providerOptions },
  }
}
