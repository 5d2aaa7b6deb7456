import { extractiveModel } from '@inlay/extractive'

/** A passage as a search gives it to the model. */
export interface Passage {
  readonly title: string
  readonly content: string
  readonly section?: string
  readonly updated_at?: string
  readonly replaced_by?: string
  /** Its citation number, if it is not its position. */
  readonly document?: number
}

/** The whole text for a question when a search found these passages. */
export async function wholeAnswer(question: string, ...passages: readonly Passage[]): Promise<string> {
  const results = passages.map((passage, index) => ({ document: index + 1, ...passage }))
  const output = { type: 'text', value: JSON.stringify({ results }) } as const
  const call = { toolCallId: 'c', toolName: 'internal_search' }
  const { content } = await extractiveModel().doGenerate({
    prompt: [
      { role: 'user', content: [{ type: 'text', text: question }] },
      { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
    ],
  })
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** The same without the line that names the place. */
export const answer = async (question: string, ...passages: readonly Passage[]): Promise<string> =>
  (await wholeAnswer(question, ...passages)).replace(/\n\n— .*$/, '')

export const refusal = 'I could not find an answer to this in the documents.'
